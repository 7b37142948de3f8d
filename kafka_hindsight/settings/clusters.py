"""The clusters of hindsight.toml; without that file, the one that an Airflow connection describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from kafka_hindsight.settings.alerts import AlertSettings
from kafka_hindsight.settings.changes import DeclaredChanges
from kafka_hindsight.settings.home import LAKE, file_path, read_toml
from kafka_hindsight.settings.models import (
    LOOK_AHEAD_HOURS,
    MEANINGS,
    PLACES,
    Inputs,
    PathOrUri,
    Text,
    Zone,
    checked,
)
from kafka_hindsight.shared.exits import BadInput

DEFAULT_CONNECTION = "kafka_default"

TIME_OF_DAY = r"^([01]\d|2[0-3]):[0-5]\d$"

CLUSTER = "{cluster}"
"""Placeholder for the cluster's name in a place or in the name of a connection."""


class OfConnection(Inputs):
    """The contents of an Airflow connection that describes one cluster."""

    cluster: Text | None = None


class Defaults(Inputs):
    """Defaults for each cluster; the table of a cluster overrides them."""

    connection: Text | None = Field(
        default=None, description="the Airflow connection through which snapshots are taken; default: no snapshots"
    )
    labels: list[Text] = Field(default=[], description="tags of its DAGs")
    timezone: Zone = Field(default="UTC", description="zone in which its nights begin and its DAGs run; default UTC")
    night_starts: str = Field(
        default="00:00",
        pattern=TIME_OF_DAY,
        description="when a night begins and the one before it ends, on the clock of that zone; default 00:00",
    )
    schedule: Literal["time", "assets"] = Field(
        default="time",
        description="what starts the audit: time, the end of a night and the look-ahead; assets, a collect that filled"
        " bronze after that",
    )


class ClusterTable(Defaults):
    """The table of one cluster, which has DAGs of its own."""

    name: str = Field(
        pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description="the cluster's name in its lake and in its DAGs' names: letters, digits, dot, dash, underscore",
    )


class ClustersFile(DeclaredChanges):
    """The contents of hindsight.toml."""

    lake: PathOrUri | None = Field(
        default=None, description="folder or URI where the tables of clusters go that name none"
    )
    defaults: Defaults = Field(
        default=Defaults(), description="defaults for each cluster; the table of a cluster overrides them"
    )
    clusters: list[ClusterTable] = Field(default=[], description="the clusters; each has DAGs of its own")
    alerts: AlertSettings = Field(default=AlertSettings(), description="who gets which alerts")


@dataclass(frozen=True)
class Cluster:
    """One cluster that a schedule works on.

    Attributes:
        name: Its name in the lake; None if an Airflow connection describes it.
        connection: The Airflow connection through which snapshots are taken.
        inputs: Values by their fields in Settings.
        labels: Tags of its DAGs.
        timezone: The zone in which its nights begin.
        night_starts: When a night begins, on the clock of that zone.
        schedule: What starts the audit of a night: time or assets.
    """

    name: str | None
    connection: str | None
    inputs: Mapping[str, Any]
    labels: tuple[str, ...] = ()
    timezone: str = "UTC"
    night_starts: str = "00:00"
    schedule: str = "time"

    @property
    def lake(self) -> str:
        """The lake that holds its tables."""
        return self.inputs.get("lake") or str(LAKE)

    def dag_id(self, name: str) -> str:
        """The id of a DAG for this cluster: with the cluster's name if the cluster has one."""
        return f"{name}_{self.name}" if self.name else name

    def title(self, name: str) -> str:
        """The title of a DAG for this cluster."""
        return f"{name}: {self.name}" if self.name else name

    def cron(self) -> str:
        """The schedule of its audit, on the clock of its zone: when a night and its look-ahead are over."""
        starts = time.fromisoformat(self.night_starts)
        hour = starts.hour + self.inputs.get("look_ahead_hours", LOOK_AHEAD_HOURS)
        return f"{starts.minute} {hour % 24} * * *"


def last_night(now: datetime, zone: str, starts: str, look_ahead_hours: int) -> tuple[datetime, datetime]:
    """The newest night that ended at least its look-ahead ago.

    All of it is counted on the clock of the zone, as cron does: where clocks change, a night has 23 or 25 hours.
    """
    there = now.astimezone(ZoneInfo(zone)) - timedelta(hours=look_ahead_hours)
    end = datetime.combine(there.date(), time.fromisoformat(starts), there.tzinfo)
    end -= timedelta(days=end > there)
    return (end - timedelta(days=1)).astimezone(UTC), end.astimezone(UTC)


def clusters() -> tuple[Cluster, ...]:
    """The clusters of the file in force, else one without a name.

    Raises:
        BadInput: Every problem of the file, at once.
    """
    path = file_path()
    return clusters_of(read_toml(path) if path else {}, path or Path())


def lakes() -> list[str]:
    """The lakes of all clusters, each once."""
    return list(dict.fromkeys(c.lake for c in clusters()))


def clusters_of(values: Mapping[str, Any], path: Path) -> tuple[Cluster, ...]:
    """The clusters in the values of a file; else one that has its defaults. Raises: BadInput as `clusters` does."""
    # A problem of [alerts] must not stop an audit: `hindsight alert` reports it.
    file = checked(ClustersFile, {key: value for key, value in values.items() if key != "alerts"}, path)
    if not file.clusters:
        lake = {"lake": file.lake} if file.lake else {}
        return (_cluster({"connection": DEFAULT_CONNECTION, **lake, **file.defaults.model_dump(exclude_unset=True)}),)
    names = [table.name for table in file.clusters]
    problems = [
        f"{path}: two clusters are named {name!r}. Needed: one table for each cluster. Rename one."
        for name in sorted({n for n in names if names.count(n) > 1})
    ]
    of_all = {
        "lake": file.lake or str(LAKE),
        **file.defaults.model_dump(exclude_unset=True),
    }
    tables = [{**of_all, **table.model_dump(exclude_unset=True)} for table in file.clusters]
    problems += [
        f"{path}, cluster {table['name']}: logs is not set. Needed: {MEANINGS['logs']}. Set it there or in [defaults]."
        for table in tables
        if "logs" not in table
    ]
    if problems:
        raise BadInput(*problems)
    return tuple(map(_cluster, tables))


def _cluster(table: Mapping[str, Any]) -> Cluster:
    name = table.get("name")
    inputs = {key: value for key, value in table.items() if key in MEANINGS}
    connection = table.get("connection")
    if name:
        inputs |= {key: inputs[key].replace(CLUSTER, name) for key in PLACES if key in inputs} | {"cluster": name}
        connection = connection and connection.replace(CLUSTER, name)
    when = {key: table[key] for key in ("timezone", "night_starts", "schedule") if key in table}
    return Cluster(name, connection, inputs, tuple(table.get("labels", ())), **when)
