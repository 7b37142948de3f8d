"""The clusters for which the files in dags/ make DAGs, and the factory that runs these files for a user's clusters."""

from __future__ import annotations

import runpy
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any

from airflow.sdk import Asset
from hindsight_airflow import CronDataIntervalTimetable
from hindsight_operator import retries
from hindsight_runs import NightTimetable
from hindsight_step import asset

from kafka_hindsight.settings.alerts import fits, owners
from kafka_hindsight.settings.clusters import Cluster, clusters_of
from kafka_hindsight.settings.clusters import clusters as configured
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.settings.models import LOOK_AHEAD_HOURS

FILES = (
    "kafka_snapshot",
    "kafka_collect",
    "kafka_night_audit",
    "kafka_alerts",
    "kafka_maintenance",
    "kafka_reclassify",
)
"""The files in dags/. Each may be copied and changed."""

_FACTORY: ContextVar[tuple[Sequence[Cluster] | None, Mapping[str, Any]]] = ContextVar(
    "factory", default=(None, MappingProxyType({}))
)
"""The arguments of the factory: the clusters, and the user's default arguments of tasks."""


def hindsight_dags(
    clusters: Sequence[Mapping[str, Any]] | None = None,
    *,
    lake: str | None = None,
    default_args: Mapping[str, Any] | None = None,
) -> None:
    """Make every DAG of some clusters in the DAG file that calls this: run the files in dags/ for them.

    Args:
        clusters: For each cluster the entries of a table [[clusters]] of hindsight.toml. By default the clusters of
            that file, or the one of the connection. A relative path starts at the worker's folder.
        lake: The lake of the clusters that name none.
        default_args: Arguments of every task, such as pool, queue, retries or executor_config, as Airflow has them.

    Raises:
        BadInput: Every problem at once; Airflow shows it on its page of import errors.
    """
    own_clusters = None
    if clusters is not None:
        contents = {"clusters": [*clusters], **({"lake": lake} if lake else {})}
        own_clusters = clusters_of(contents, Path("hindsight_dags").absolute())
    token = _FACTORY.set((own_clusters, default_args or {}))
    try:
        for name in FILES:
            runpy.run_path(str(HOME / "dags" / f"{name}.py"))
    finally:
        _FACTORY.reset(token)


def clusters() -> Sequence[Cluster]:
    """The clusters of the factory's call, else those of hindsight.toml, or one that a connection describes."""
    own_clusters, _ = _FACTORY.get()
    return configured() if own_clusters is None else own_clusters


def tags(cluster: Cluster) -> list[str]:
    """The tags of a cluster's DAGs: its name and its labels."""
    return ["hindsight", *((cluster.name, *cluster.labels) if cluster.name else ())]


def defaults(cluster: Cluster) -> dict[str, Any]:
    """The default arguments of a cluster's tasks: its owner, retries, and what the factory was given.

    The owner is each team that has the cluster, else the cluster itself: Airflow lists and filters DAGs by it.
    """
    teams = [o["name"] for o in owners() if cluster.name and fits(o["clusters"], [cluster.name])]
    return {"owner": ", ".join(teams) or cluster.name or "hindsight", **retries(), **_FACTORY.get()[1]}


def night_schedule(cluster: Cluster) -> CronDataIntervalTimetable | NightTimetable | list[Asset]:
    """The schedule of an audit: after each night, or after each collect.

    Which night a run of a cluster without a name audits, its connection says when the run has begun.
    """
    if cluster.schedule == "assets":
        return [asset("bronze.log_records", cluster)]
    if not cluster.name:
        return CronDataIntervalTimetable(cluster.cron(), timezone=cluster.timezone)
    return NightTimetable(
        cluster.cron(),
        cluster.timezone,
        cluster.name,
        cluster.night_starts,
        cluster.inputs.get("look_ahead_hours", LOOK_AHEAD_HOURS),
    )
