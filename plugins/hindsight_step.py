"""The task of a step in Airflow, with any operator: its settings, its assets, its links, and its failures."""

from __future__ import annotations

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
from hindsight_lineage import lineage
from hindsight_links import ReportLink, SparkLink, ValidationLink

from kafka_hindsight.catalog.steps import Step
from kafka_hindsight.lake.results import Result, forget_result, read_result
from kafka_hindsight.settings.alerts import owners
from kafka_hindsight.settings.clusters import Cluster
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

WINDOW = ("window_from", "window_to")
"""The params of a run of one window, or of the past."""

JUDGED = (*WINDOW, "maintenance")
"""The first params in the form of a run that judges."""


class Refused(AirflowFailException):
    """The publication was refused: the lake holds the reason."""


class StepTask(BaseOperator):
    """The base of all operators of a step. Exit codes 2 and 42 fail the task for good."""

    operator_extra_links = (ReportLink(), ValidationLink(), SparkLink())
    operator_arguments: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, *, step: Step, cluster: Cluster, window: dict[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(**{**task_arguments(step, cluster), **self.operator_arguments, **kwargs})
        self.step = step
        self.cluster = cluster
        self.window = window
        self.step_settings: dict[str, Any] = {}
        self.application: str | None = None

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Wrap the run of the step, and fail by the result that the step left in its run's folder of the lake.

        The provider's own failure is replaced: it names the whole command line, which an alert would send out.

        Raises:
            AirflowFailException: No retry helps.
            AirflowException: Any other failure.
        """
        place = self.step_settings["lake"], self.step_settings["run_id"], self.step.name
        forget_result(*place)
        failure = None
        try:
            yield
        except AirflowException as problem:
            failure = problem
        result = read_result(*place)
        self.application = result.application if result else None
        if failure:
            raise _failed(self.step.name, result, isinstance(failure, AirflowSkipException)) from failure

    def get_openlineage_facets_on_start(self) -> Any:
        """The tables that the step reads and writes, for OpenLineage's provider."""
        return lineage(self.step, self.cluster)


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
    return kind(" ".join(filter(None, (f"{step} ended with exit code {code}.", why, _MEANING.get(code, _RETRY_NOTE)))))


def task_arguments(step: Step, cluster: Cluster) -> dict[str, Any]:
    """The operator's arguments for a task that runs the step: its name, its assets, its pool and its weight.

    By Airflow's default weight rule all runs of a backfill would ingest before one rebuilds, and each would then find
    rows of another in staging. With `upstream` a run that has begun goes first.
    """
    return {
        "task_id": step.name,
        "doc_md": step.sentence,
        "inlets": [_asset(t, cluster) for t in step.reads],
        "outlets": [_asset(t, cluster) for t in step.writes],
        "pool": POOL,
        "weight_rule": "upstream",
    }


def _asset(table: str, cluster: Cluster) -> Asset:
    """The rows of one cluster in a table of a lake: other clusters may write rows of their own there.

    Without a cluster's name the URI of the asset is the name of the table. Airflow allows one active asset of a name,
    and `airflow dags test` removes none: with the lake in the URI, an audit would fail on each lake but the first.
    """
    group, extra = table.partition(".")[0], {"cluster": cluster.name, "lake": cluster.lake, "table": table}
    if not cluster.name:
        return Asset(name=table, group=group, extra=extra)
    lake = cluster.lake if is_uri(cluster.lake) else Path(cluster.lake).absolute().as_uri()
    uri = f"{lake.rstrip('/')}/{table.replace('.', '/')}?cluster={cluster.name}"
    return Asset(name=f"{cluster.name}.{table}", uri=uri, group=group, extra=extra)


def settings_of(context: Any, window: dict[str, str] | None = None) -> dict[str, Any]:
    """The settings of a run, as `Settings.of` reads them.

    The window is the argument, in a run of many windows; else params `from` and `to`; else, with `whole_input`, the
    whole input; else the data interval moved back by the look-ahead, so that events that began before midnight have
    had time to end.
    """
    params, run = {**context["params"], **(window or {})}, context["dag_run"]
    settings = {field: value for field in MEANINGS if (value := params.get(param_name(field))) not in (None, "")}
    interval = context.get("data_interval_start"), context.get("data_interval_end")
    if not params.get("whole_input") and not {"window_from", "window_to"} & settings.keys() and all(interval):
        back = timedelta(hours=int(settings.get("look_ahead_hours", LOOK_AHEAD_HOURS)))
        settings["window_from"], settings["window_to"] = ((at - back).isoformat() for at in interval)
    name = (run.conf or {}).get("run_id") or launch.safe_run_id(run.run_id)
    return {
        "lake": str(LAKE),
        "read_to_end": bool(params.get("read_to_end")),
        "audits_others": True,
        **settings,
        "run_id": launch.safe_run_id(f"{name}-{window['from']}") if window else name,
        "run_at": run.start_date.isoformat(),
        "owners": owners(),
    }
