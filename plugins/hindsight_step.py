"""The task of a step in Airflow, with any operator: its settings, its assets, its links, and its failures."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from airflow.exceptions import AirflowException
from airflow.sdk import Asset, BaseOperator
from hindsight_airflow import AirflowFailException, AirflowSkipException
from hindsight_hook import HindsightHook
from hindsight_lineage import lineage
from hindsight_links import ReportLink, SparkLink, ValidationLink

from kafka_hindsight.catalog.steps import Step
from kafka_hindsight.lake.results import Result, read_result
from kafka_hindsight.settings.alerts import owners
from kafka_hindsight.settings.changes import declared_changes
from kafka_hindsight.settings.clusters import Cluster, last_night
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.settings.models import LOOK_AHEAD_HOURS, MEANINGS, param_name
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, NEVER_RETRIED, REFUSED
from kafka_hindsight.start import launch

_MEANING = {
    BAD_INPUT: "A retry would find the same.",
    REFUSED: "The publication was refused: gold stays as it was; a retry would be refused too.",
}
_MAX_REASON = 1000
"""Characters of a step's own sentences that the failure of its task quotes, and so an alert; the log has them all."""

_RETRY_NOTE = "The lines above say why; another try leaves the same tables as an undisturbed one."

POOL = os.environ.get("HINDSIGHT_POOL") or "default_pool"
"""The pool of each step. The default is Airflow's own: tasks of a pool that does not exist are never scheduled."""

CONNECTION = "hindsight_conn_id"
"""The param that names the connection of a cluster without a name."""

WINDOW = ("window_from", "window_to")
"""The params of a run of one window, or of the past."""

JUDGED = (*WINDOW, "maintenance")
"""The first params in the form of a run that judges."""


class Refused(AirflowFailException):
    """The publication was refused: the lake holds the reason."""


class StepTask(BaseOperator):
    """The base of all operators of a step. Exit codes 2 and 42 fail the task for good."""

    template_fields = ("settings", "command")
    operator_extra_links = (ReportLink(), ValidationLink(), SparkLink())
    operator_arguments: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, *, step: Step, cluster: Cluster, window: dict[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(**{**task_arguments(step, cluster), **self.operator_arguments, **kwargs})
        self.step = step
        self.cluster = cluster
        self.window = window
        self.settings: Any = settings_of
        self.command: Any = command_of
        self.application: str | None = None

    @property
    def place(self) -> tuple[str, str, str]:
        """Where the lake keeps the result of the step."""
        return self.settings["lake"], self.settings["run_id"], self.step.name

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Wrap the run of the step, and fail by the result that the step left in its run's folder of the lake.

        The provider's own failure is replaced: it names the whole command line, which an alert would send out.

        Raises:
            AirflowFailException: No retry helps.
            AirflowException: Any other failure.
        """
        failure = None
        try:
            yield
        except AirflowFailException:  # it was not started
            raise
        except AirflowException as problem:
            failure = problem
        result = read_result(*self.place)
        self.application = result.application if result else None
        if failure:
            raise _failed(self.step.name, result, isinstance(failure, AirflowSkipException)) from failure

    def get_openlineage_facets_on_start(self) -> Any:
        """The tables that the step reads and writes, for OpenLineage's provider."""
        return lineage(self.step, self.settings["lake"])


def _failed(step: str, result: Result | None, is_final: bool) -> AirflowException:
    """The failure of a task in its step's own sentences.

    Args:
        step: The name of the step.
        result: The result in the lake. None where the step was killed, or this worker cannot read the lake.
        is_final: Whether the operator knows that the step ended with an exit code that is never retried.
    """
    if result is None or result.exit_code == DONE:
        if is_final:
            return AirflowFailException(f"{step} ended with exit code 2 or 42. {_MEANING[BAD_INPUT]}")
        return AirflowException(f"{step} left no result: it was killed, or could not start. {_RETRY_NOTE}")
    code, why = result.exit_code, " ".join(" ".join(result.sentences).split())[:_MAX_REASON]
    kind = Refused if code == REFUSED else AirflowFailException if code in NEVER_RETRIED else AirflowException
    return kind(" ".join(filter(None, (why, f"{step} ended with exit code {code}.", _MEANING.get(code, _RETRY_NOTE)))))


def task_arguments(step: Step, cluster: Cluster) -> dict[str, Any]:
    """The operator's arguments for a task that runs the step: its name, its assets, its pool and its weight.

    By Airflow's default weight rule all runs of a backfill would ingest before one rebuilds, and each would then find
    rows of another in staging. With `upstream` a run that has begun goes first.
    """
    return {
        "task_id": step.name,
        "doc_md": step.sentence,
        "inlets": [asset(t, cluster) for t in step.reads],
        "outlets": [asset(t, cluster) for t in step.writes],
        "pool": POOL,
        "weight_rule": "upstream",
    }


def asset(table: str, cluster: Cluster) -> Asset:
    """The rows of one cluster in a table of a lake: other clusters may write rows of their own there.

    Without a cluster's name the URI of the asset is the name of the table. Airflow allows one active asset of a name,
    and `airflow dags test` removes none: with the lake in the URI, an audit would fail on each lake but the first.
    """
    group, extra = table.partition(".")[0], {"table": table}
    if not cluster.name:
        return Asset(name=table, group=group, extra=extra)
    extra |= {"cluster": cluster.name, "lake": cluster.lake}
    lake = cluster.lake if is_uri(cluster.lake) else Path(cluster.lake).absolute().as_uri()
    uri = f"{lake.rstrip('/')}/{table.replace('.', '/')}?cluster={cluster.name}"
    return Asset(name=f"{cluster.name}.{table}", uri=uri, group=group, extra=extra)


def settings_of(context: Any, jinja_env: Any = None) -> dict[str, Any]:
    """The settings of a run, as `Settings.of` reads them. Airflow calls it when it renders a task.

    A param stands before the same input of the connection. The window is that of the task, in a run of many windows;
    else params `from` and `to`; else, with `whole_input`, the whole input; else the one that `_interval` says. A person
    who triggers a run before the first night is over gets the whole input as well.

    Raises:
        AirflowFailException: The conf of the run or the connection cannot be used.
    """
    run, window = context["dag_run"], getattr(context.get("task"), "window", None)
    _check_conf(run.conf or {}, context["dag"].params)
    params = {**context["params"], **(window or {})}
    connection = params.get(CONNECTION)
    settings = inputs_of(context, params, HindsightHook(connection).get_conn() if connection else {})
    cluster = settings.get("cluster")  # DAGs of several clusters have runs of one id, and one lake
    name = (run.conf or {}).get("run_id") or launch.safe_run_id(f"{run.run_id}-{cluster}" if cluster else run.run_id)
    return {
        "lake": str(LAKE),
        "read_to_end": bool(params.get("read_to_end")),
        "audits_others": True,
        **settings,
        "run_id": launch.safe_run_id(f"{name}-{window['from']}") if window else name,
        "run_at": run.start_date.isoformat(),
        "owners": owners(),
        "changes": declared_changes(),
    }


def inputs_of(context: Any, params: Mapping[str, Any], of_connection: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs and the window of a run: its params stand before the same input of the connection."""
    of_params = {field: value for field in MEANINGS if (value := params.get(param_name(field))) not in (None, "")}
    inputs = {**of_connection, **of_params}
    if not params.get("whole_input") and not {*WINDOW} & inputs.keys():
        inputs |= _interval(context, int(inputs.get("look_ahead_hours", LOOK_AHEAD_HOURS)))
        inputs["may_widen"] = context["dag_run"].run_type == "manual"
    return inputs


def command_of(context: Any, jinja_env: Any = None) -> list[str]:
    """The command of a step with its settings. Before 3.1 Airflow's context has a task that is not rendered."""
    return ["hindsight", "step", context["task"].step.name, "--settings", json.dumps(settings_of(context))]


def _check_conf(conf: Mapping[str, Any], params: Mapping[str, Any]) -> None:
    if unknown := sorted(conf.keys() - params.keys() - {"run_id"}):
        raise AirflowFailException(
            f"The conf of this run has {', '.join(map(repr, unknown))}. Needed: params of this DAG, which are"
            f" {', '.join(params)}. Trigger it again with these."
        )


def _interval(context: Any, look_ahead_hours: int) -> dict[str, str]:
    """The window of a run that was given none: in the DAG of the audit the last night that is over, else the interval.

    Events that begin before the end of a window have the look-ahead to end. A run that assets triggered has no data
    interval: it takes the night that was over then. A run without any audits the whole input.
    """
    start, end, params = context.get("data_interval_start"), context.get("data_interval_end"), context["params"]
    if context["dag_run"].run_type == "asset_triggered":
        end = context["dag_run"].run_after
    if end and "timezone" in params:
        try:
            start, end = last_night(end, params["timezone"], params["night_starts"], look_ahead_hours)
        except (KeyError, ValueError):
            raise AirflowFailException(
                f"timezone is {params['timezone']!r}. Needed: a zone of the IANA database, such as Europe/Berlin."
            ) from None
    elif start and end:
        start, end = (at - timedelta(hours=look_ahead_hours) for at in (start, end))
    else:
        return {}
    return {"window_from": start.isoformat(), "window_to": end.isoformat()}
