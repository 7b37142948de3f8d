"""What every task of a step is to Airflow, whatever runs it: its settings, its assets, its links, and how it fails."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.exceptions import AirflowException, AirflowFailException
from airflow.sdk import Asset

from kafka_hindsight.catalog.steps import Step
from kafka_hindsight.settings.alerts import owners
from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.settings.models import LOOK_AHEAD_HOURS, MEANINGS, param_name
from kafka_hindsight.shared.exits import BAD_INPUT, NEVER_RETRIED, REFUSED, parse_exit_summary
from kafka_hindsight.start import launch

_MEANING = {
    BAD_INPUT: "A retry would find the same.",
    REFUSED: "The publication was refused: gold stays as it was; a retry would be refused too.",
}
_MOST_TOLD = 1000
"""Characters of a step's own sentences in the failure of its task, and so in an alert; the log has all of them."""

_OTHERS = "The lines above say why; another try leaves the same tables as an undisturbed one."


POOL = os.environ.get("HINDSIGHT_POOL") or "default_pool"
"""Where steps stand in line. A pool that is named must exist, or nothing is ever scheduled: so none is by default."""

WINDOW = ("window_from", "window_to")
"""What a run of one window, or of the past, is asked."""

JUDGED = (*WINDOW, "maintenance")
"""What the form of a run that judges has in front."""


class Refused(AirflowFailException):
    """The publication was refused: the lake holds why."""


def failed(step: str, code: int, said: Sequence[str]) -> AirflowException:
    """The failure of a task whose step ended with this code, in the step's own sentences.

    The provider would say it with its whole command line, which would go out with an alert.
    """
    kind = Refused if code == REFUSED else AirflowFailException if code in NEVER_RETRIED else AirflowException
    told = " ".join(parse_exit_summary(step, code, said))[:_MOST_TOLD]
    why = f"{told} {_MEANING.get(code, _OTHERS)}".strip()
    return kind(f"{step} {f'ended with exit code {code}' if code > 0 else f'was killed by signal {-code}'}. {why}")


def of_step(step: Step, cluster: Cluster) -> dict[str, Any]:
    """What Airflow knows of a task that runs the step: its name, its assets, its links and its place in the queue.

    Edge case: by Airflow's own rule of weights all runs of a backfill ingest before one rebuilds, and each then finds
    rows of another in staging. Where steps stand in line, a run that has begun goes first.
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
    """A table of a lake, as far as one cluster writes it: other clusters may write rows of their own there.

    Edge case: without a cluster's name a table keeps its own as its address. Airflow lets one asset of a name be
    active, and `airflow dags test` takes none away, so an audit would fail on each lake but the first.
    """
    group, extra = table.partition(".")[0], {"cluster": cluster.name, "lake": cluster.lake, "table": table}
    if not cluster.name:
        return Asset(name=table, group=group, extra=extra)
    lake = cluster.lake if is_uri(cluster.lake) else Path(cluster.lake).absolute().as_uri()
    uri = f"{lake.rstrip('/')}/{table.replace('.', '/')}?cluster={cluster.name}"
    return Asset(name=f"{cluster.name}.{table}", uri=uri, group=group, extra=extra)


def settings_of(context: Any, window: dict[str, str] | None = None) -> dict[str, Any]:
    """The settings of a run, as `Settings.of` reads them.

    The window: the one given, of a run that takes many; else params `from` and `to`; else, with `whole_input`,
    everything; else the data interval moved back by the look-ahead, so that what began before midnight has had time
    to end.
    """
    params, run = {**context["params"], **(window or {})}, context["dag_run"]
    given = {field: value for field in MEANINGS if (value := params.get(param_name(field))) not in (None, "")}
    interval = context.get("data_interval_start"), context.get("data_interval_end")
    if not params.get("whole_input") and not {"window_from", "window_to"} & given.keys() and all(interval):
        back = timedelta(hours=int(given.get("look_ahead_hours", LOOK_AHEAD_HOURS)))
        given["window_from"], given["window_to"] = ((at - back).isoformat() for at in interval)
    name = (run.conf or {}).get("run_id") or launch.safe_run_id(run.run_id)
    return {
        "lake": str(LAKE),
        "read_to_end": bool(params.get("read_to_end")),
        **given,
        "run_id": launch.safe_run_id(f"{name}-{window['from']}") if window else name,
        "run_at": run.start_date.isoformat(),
        "owners": owners(),
    }
