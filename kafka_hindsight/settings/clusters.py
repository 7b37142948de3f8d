"""The clusters of hindsight.toml; without that file, one cluster from environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from kafka_hindsight.settings.alerts import AlertSettings
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.settings.models import MEANINGS, PLACES, Inputs, Place, Table, Text, checked, from_environment
from kafka_hindsight.settings.settings_file import file_path, read_toml
from kafka_hindsight.shared.exits import BadInput

DEFAULT_CONNECTION = "kafka_default"

CLUSTER = "{cluster}"
"""Placeholder for the cluster's name in a place or in the name of a connection."""


class Defaults(Inputs):
    """Defaults for each cluster; the table of a cluster overrides them."""

    connection: Text | None = Field(
        default=None, description="the Airflow connection through which snapshots are taken; default: no snapshots"
    )
    labels: list[Text] = Field(default=[], description="tags of its DAGs")


class ClusterTable(Defaults):
    """The table of one cluster, which has DAGs of its own."""

    name: str = Field(
        pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description="the cluster's name in its lake and in its DAGs' names: letters, digits, dot, dash, underscore",
    )


class ClustersFile(Table):
    """The contents of hindsight.toml."""

    lake: Place | None = Field(default=None, description="folder or URI where the tables of clusters go that name none")
    defaults: Defaults = Field(
        default=Defaults(), description="defaults for each cluster; the table of a cluster overrides them"
    )
    clusters: list[ClusterTable] = Field(default=[], description="the clusters; each has DAGs of its own")
    alerts: AlertSettings = Field(default=AlertSettings(), description="who gets which alerts")


@dataclass(frozen=True)
class Cluster:
    """One cluster that a schedule works on.

    Attributes:
        name: Its name in the lake; None if variables describe it: its logs then name its id.
        connection: The Airflow connection through which snapshots are taken.
        inputs: Values by their fields in Settings.
        labels: Tags of its DAGs.
    """

    name: str | None
    connection: str | None
    inputs: Mapping[str, Any]
    labels: tuple[str, ...] = ()

    @property
    def lake(self) -> str:
        """The lake that holds its tables."""
        return self.inputs.get("lake") or str(LAKE)

    def dag_id(self, name: str) -> str:
        """The id of a DAG for this cluster: with the cluster's name if the cluster has one."""
        return f"{name}_{self.name}" if self.name else name


def clusters() -> tuple[Cluster, ...]:
    """The clusters of the file in force, else the one of the environment.

    Raises:
        BadInput: Every problem of the file, at once.
    """
    path = file_path()
    return clusters_of(read_toml(path) if path else {}, path or Path())


def lakes() -> list[str]:
    """The lakes of all clusters, each once."""
    return list(dict.fromkeys(c.lake for c in clusters()))


def clusters_of(values: Mapping[str, Any], path: Path) -> tuple[Cluster, ...]:
    """The clusters in the values of a file; else the one of the environment. Raises: BadInput as `clusters` does."""
    # A problem of [alerts] must not stop an audit: `hindsight alert` reports it.
    file = checked(ClustersFile, {key: value for key, value in values.items() if key != "alerts"}, path)
    if not file.clusters:
        return (Cluster(None, DEFAULT_CONNECTION, from_environment(os.environ, "HINDSIGHT_", tuple(MEANINGS))),)
    names = [table.name for table in file.clusters]
    problems = [
        f"{path}: two clusters are named {name!r}. Needed: one table for each cluster. Rename one."
        for name in sorted({n for n in names if names.count(n) > 1})
    ]
    of_all = {
        "lake": file.lake or os.environ.get("HINDSIGHT_LAKE") or str(LAKE),
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
    name = table["name"]
    inputs = {key: value for key, value in table.items() if key in MEANINGS}
    places = {key: inputs[key].replace(CLUSTER, name) for key in PLACES if key in inputs}
    connection = table.get("connection", "").replace(CLUSTER, name) or None
    return Cluster(name, connection, {**inputs, **places, "cluster": name}, tuple(table.get("labels", ())))
