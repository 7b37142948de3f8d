"""The names of an audit's runs: cluster and night, in the note of each run, and in the id of a scheduled one."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from airflow.configuration import conf
from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin
from airflow.secrets.environment_variables import EnvironmentVariablesBackend
from airflow.secrets.metastore import MetastoreBackend
from airflow.timetables.interval import CronDataIntervalTimetable
from hindsight_hook import inputs_of as inputs_of_connection
from hindsight_step import CONNECTION, inputs_of

from kafka_hindsight.settings.clusters import last_night

log = logging.getLogger(__name__)


class NightTimetable(CronDataIntervalTimetable):
    """The schedule of an audit, whose runs have the cluster and the night in their ids.

    Runs of assets and backfills get their ids from Airflow itself. A run by hand gets its id before its conf is read,
    which may name another window.
    """

    def __init__(self, expression: str, timezone: str, cluster: str, night_starts: str, look_ahead_hours: int) -> None:
        super().__init__(expression, timezone=timezone)
        self.arguments: dict[str, Any] = {
            "expression": expression,
            "timezone": timezone,
            "cluster": cluster,
            "night_starts": night_starts,
            "look_ahead_hours": look_ahead_hours,
        }

    def serialize(self) -> dict[str, Any]:
        """The arguments, as Airflow keeps them."""
        return dict(self.arguments)

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> NightTimetable:
        """The timetable of these arguments."""
        return cls(**data)

    def generate_run_id(self, *, run_type: Any, run_after: Any, data_interval: Any, **extra: Any) -> str:
        """The id, such as `scheduled__orders__2026-11-20__2026-11-21T02:00:00+00:00`; Airflow's own if it refuses that.

        The instant stays in it, so a night that another schedule runs again gets another id.
        """
        plain: str = super().generate_run_id(
            run_type=run_type, run_after=run_after, data_interval=data_interval, **extra
        )
        if run_type != "scheduled" or data_interval is None:
            return plain
        zone, starts, hours = (self.arguments[key] for key in ("timezone", "night_starts", "look_ahead_hours"))
        start, _ = last_night(data_interval.end, zone, starts, hours)
        name = f"{run_type.value}__{self.arguments['cluster']}__{_day(start, zone)}__{run_after.isoformat()}"
        pattern = conf.get("scheduler", "allowed_run_id_pattern").strip()
        return name if ".." not in name and pattern and re.match(pattern, name) else plain


class NotKnown(Exception):
    """The scheduler cannot know what the run will audit."""


class RunNames:
    """The listener that names a run when the scheduler starts it. A user's note stays below the name."""

    @hookimpl
    def on_dag_run_running(self, dag_run: Any, msg: str) -> None:
        """Write the name into the note of a run of an audit. Without a name the run starts all the same."""
        if not _is_audit(dag_run.dag):
            return
        try:
            name = name_of(dag_run)
        except Exception as problem:  # whatever it is, the task reports it, and the scheduler goes on
            log.info("The run %s gets no name: %s", dag_run.run_id, problem)
            return
        note = dag_run.note or ""
        if not note.startswith(name):
            dag_run.note = f"{name}\n\n{note}" if note else name


def name_of(run: Any) -> str:
    """The name of a run: its cluster, and the night or the window that it audits.

    Args:
        run: A run of the scheduler, with its DAG.

    Raises:
        NotKnown: A secrets backend may hold the connection.
        AirflowException: The conf or the connection cannot be used; the task will say so.
    """
    params = {**run.dag.params.dump(), **(run.conf or {})}
    ends = {"data_interval_start": run.data_interval_start, "data_interval_end": run.data_interval_end}
    inputs = inputs_of({"dag_run": run, "params": params, **ends}, params, _of_connection(params.get(CONNECTION)))
    cluster = inputs.get("cluster")
    return f"{cluster}: {_window(inputs, params)}" if cluster else _window(inputs, params)


def _is_audit(dag: Any) -> bool:
    """Whether a DAG audits nights: one of ours, also under another name, with the params that choose a night."""
    return dag is not None and "hindsight" in dag.tags and {"timezone", "night_starts"} <= {*dag.params}


def _window(inputs: dict[str, Any], params: dict[str, Any]) -> str:
    """The window in words: a night by the day on which it begins."""
    start, end = (inputs.get(at) for at in ("window_from", "window_to"))
    if not start or not end:
        return "everything in the input"
    if "may_widen" not in inputs:  # from and to are given
        first, last = (datetime.fromisoformat(at.replace("Z", "+00:00")) for at in (start, end))
        return f"{_utc(first)} to {_utc(last)} UTC"
    night = f"night of {_day(datetime.fromisoformat(start), params['timezone'])}"
    return f"{night}, or everything so far if no record is older" if inputs["may_widen"] else night


def _day(start: datetime, zone: str) -> str:
    return f"{start.astimezone(ZoneInfo(zone)):%Y-%m-%d}"


def _utc(at: datetime) -> str:
    return f"{(at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC):%Y-%m-%d %H:%M}"


def _of_connection(connection_id: str | None) -> dict[str, Any]:
    """The inputs of the connection that describes the run's cluster, as the scheduler may read them.

    Tasks ask Airflow's secrets backends. The scheduler looks into variables and into its own database, and never waits
    for a backend.
    """
    if not connection_id:
        return {}
    if conf.get("secrets", "backend", fallback=""):
        raise NotKnown(f"A secrets backend may hold the connection {connection_id}.")
    connections = (
        backend.get_connection(connection_id) for backend in (EnvironmentVariablesBackend(), MetastoreBackend())
    )
    connection = next(filter(None, connections), None)
    return inputs_of_connection(connection) if connection else {}


class HindsightRuns(AirflowPlugin):
    """The plugin: the listener and the timetable."""

    name = "hindsight_runs"
    timetables = [NightTimetable]  # noqa: RUF012 - as Airflow reads it
    listeners = [RunNames()]  # noqa: RUF012
