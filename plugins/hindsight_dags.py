"""The parts of which the files in dags/ make DAGs, and the factory that makes these DAGs for a user's clusters."""

from __future__ import annotations

import runpy
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG
from hindsight_airflow import CronDataIntervalTimetable
from hindsight_operator import step_operator
from hindsight_step import task_arguments

from kafka_hindsight.catalog.steps import RECLASSIFY, Step
from kafka_hindsight.settings.clusters import Cluster, clusters_of
from kafka_hindsight.settings.clusters import clusters as configured
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.settings.owners import fits

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
"""The arguments of the factory: the clusters, and the additional arguments of each step's operator."""


def hindsight_dags(
    clusters: Sequence[Mapping[str, Any]] | None = None,
    *,
    lake: str | None = None,
    steps: Mapping[str, Any] | None = None,
) -> None:
    """Make every DAG of some clusters in the DAG file that calls this: run the files in dags/ for them.

    Args:
        clusters: For each cluster the entries of a table [[clusters]] of hindsight.toml. By default the clusters of
            that file, or the one of the environment. A relative path starts at the worker's folder.
        lake: The lake of the clusters that name none.
        steps: More arguments for the operator of each step, such as pool, pool_slots, queue or executor_config.

    Raises:
        BadInput: Every problem at once; Airflow shows it on its page of import errors.
    """
    own_clusters = None
    if clusters is not None:
        contents = {"clusters": [*clusters], **({"lake": lake} if lake else {})}
        own_clusters = clusters_of(contents, Path("hindsight_dags").absolute())
    token = _FACTORY.set((own_clusters, steps or {}))
    try:
        for name in FILES:
            runpy.run_path(str(HOME / "dags" / f"{name}.py"))
    finally:
        _FACTORY.reset(token)


def clusters() -> Sequence[Cluster]:
    """The clusters of the factory's call, else those of hindsight.toml, or the one of the environment."""
    own_clusters, _ = _FACTORY.get()
    return configured() if own_clusters is None else own_clusters


def hindsight_dag(
    name: str,
    cron: str | None,
    about: str,
    cluster: Cluster | None = None,
    owners: Sequence[Mapping[str, Any]] = (),
    **arguments: Any,
) -> DAG:
    """A DAG with its schedule; that of a cluster has the cluster's name, labels and owners."""
    title = name.replace("kafka_", "Kafka ", 1).replace("_", " ")
    cluster_name = cluster.name if cluster else None
    owner_names = [o["name"] for o in owners if cluster_name and fits(o["clusters"], [cluster_name])]
    return DAG(
        dag_id=cluster.dag_id(name) if cluster else name,
        dag_display_name=f"{title}: {cluster_name}" if cluster_name else title,
        description=about.strip().partition("\n")[0],
        schedule=CronDataIntervalTimetable(cron, timezone="UTC") if cron else None,
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        doc_md=about,
        tags=["hindsight", *((cluster_name, *cluster.labels) if cluster and cluster_name else ())],
        default_args={**({"owner": ", ".join(owner_names)} if owner_names else {}), **arguments.pop("default_args")},
        **{key: value for key, value in arguments.items() if value is not None},
    )


def step(declaration: Step, cluster: Cluster, **arguments: Any) -> Any:
    """The task that runs a step for a cluster: by spark-submit, or in a container."""
    return step_operator()(step=declaration, cluster=cluster, **_FACTORY.get()[1], **arguments)


def reclassify_each(windows: Any, cluster: Cluster) -> Any:
    """The step reclassify, once for each window that an earlier task returns; one after another."""
    return (
        step_operator()
        .partial(
            step=RECLASSIFY,
            cluster=cluster,
            max_active_tis_per_dagrun=1,
            map_index_template="{{ task.window['from'] }}",
            **{**task_arguments(RECLASSIFY, cluster), **_FACTORY.get()[1]},
        )
        .expand(window=windows)
    )


def run_each(runs: Any) -> Any:
    """The task that triggers a run of its own DAG for each conf of an earlier task. These runs wait for this one.

    Where a run is cleared and this task runs again, the triggered runs are cleared too.
    """
    return TriggerDagRunOperator.partial(
        task_id="run_others",
        trigger_dag_id=runs.operator.dag_id,
        reset_dag_run=True,
        map_index_template="{{ task.conf['cluster'] }}",
    ).expand_kwargs(runs)
