"""The DAGs, as functions of clusters: the files in dags/ call them, and so may a DAG file of a user's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Param, chain, task
from hindsight_airflow import CronDataIntervalTimetable
from hindsight_alerts import Failure, Look, done_in_time, tell
from hindsight_operator import judged_anew, late_windows, params, patient, published_windows, step_operator
from hindsight_snapshot import SnapshotOperator
from hindsight_step import JUDGED

from kafka_hindsight.catalog.steps import COLLECT, MAINTAIN, PUBLISH, RECLASSIFY, STEPS
from kafka_hindsight.settings.alerts import owners as owners_of
from kafka_hindsight.settings.clusters import Cluster, clusters_of
from kafka_hindsight.settings.clusters import clusters as configured
from kafka_hindsight.settings.models import KEEP, LOOK_AHEAD_HOURS
from kafka_hindsight.settings.owners import fits

NIGHT = f"""
What happened to groups and leaders in one night, why, what it cost, and an account of every log line that was read.

{chr(10).join(f"{n}. **{s.name}**: {s.sentence}." for n, s in enumerate(STEPS, start=1))}

A scheduled run owns midnight to midnight UTC: its data interval, moved back by {LOOK_AHEAD_HOURS} hours of look-ahead.
The params `from` and `to` win. Exit codes 42 (publication refused) and 2 (bad input) are never retried. Windows of the
last week for which records came late are judged again when the night is published.
"""
COLLECTING = f"""
{COLLECT.sentence}.

Each run reads what the lake does not hold yet: files that are new or still grow, and the readings that landed. The
last record of a file that grows waits for the next run.
"""
MAINTENANCE = f"""
{MAINTAIN.sentence}.

`keep` says how many days stay, by layer, table or `landing`; what it does not name stays. One run for each lake.
"""
RECLASSIFYING = f"""
{RECLASSIFY.sentence}.

Give `from` and `to`: each window that was published between them is parsed out of bronze, rebuilt and published again,
one at a time. What changed is in `quality.verdict_changes`.
"""
SNAPSHOTS = """
A reading of each cluster.

One task for each cluster of `hindsight.toml` that names a `connection`. Without that file: the connection
`kafka_default`, else `BOOTSTRAP` and `KAFKA_CONFIG` of the worker.

A reading lands in `<LAKE>/landing/snapshots/`, named by cluster and by the end of the data interval: a retry overwrites
it. What `__consumer_offsets` holds since then lands beside it.
"""
ALERTS = """
After each night the last step of the audit looks at once. This DAG sends what a receiver missed while it was down, and
what a killed run did not send. Who gets them: [alerts] in `hindsight.toml`; URLs are in Airflow connections
`hindsight_alerts_<receiver>`, or variables `HINDSIGHT_ALERTS_<RECEIVER>`.
"""

ASKED = {
    "whole_input": Param(
        False, type="boolean", title="Whole input", description="everything in the input, whatever the interval"
    ),
    "read_to_end": Param(
        False,
        type="boolean",
        title="Read to the end",
        description="last records of files that still grow, as they stand",
    ),
}


def hindsight_dags(
    clusters: Sequence[Mapping[str, Any]] | None = None,
    *,
    lake: str | None = None,
    steps: Mapping[str, Any] | None = None,
) -> None:
    """Every DAG of these clusters, in the DAG file that calls it.

    Takes: for each cluster what a table [[clusters]] of hindsight.toml may hold, else the clusters of that file, or the
    one of the environment; `lake`, of those that name none; `steps`, what each task of Spark is given besides, such as
    pool, pool_slots, queue or executor_config. A relative path starts at the worker's folder.
    Raises: BadInput with every problem at once; Airflow shows it on its page of import errors.
    """
    if clusters is None:
        found = configured()
    else:
        given = {"clusters": [*clusters], **({"lake": lake} if lake else {})}
        found = clusters_of(given, Path("hindsight_dags").absolute())
    steps = steps or {}
    night_audits(found, **steps)
    collecting(found, **steps)
    maintenance(found, **steps)
    reclassifying(found, **steps)
    snapshots(found)
    alerts(dict.fromkeys(cluster.lake for cluster in found))


def night_audits(clusters: Iterable[Cluster], **given: Any) -> None:
    """The nightly audit of each cluster: three Spark steps, in the order of kafka_hindsight.catalog.steps."""
    step_of, owned = step_operator(), owners_of()
    for cluster in clusters:
        about = {"lake": cluster.lake, "cluster": cluster.name or cluster.inputs.get("cluster", "")}
        deadline = done_in_time(**about)
        with _dag(
            "kafka_night_audit",
            f"0 {LOOK_AHEAD_HOURS} * * *",
            NIGHT,
            cluster,
            owned,
            params={**params(cluster.inputs, *JUDGED), **ASKED},
            default_args={**patient(), "on_failure_callback": Failure(**about)},
            **({"deadline": deadline} if deadline else {}),
        ):
            steps = [step_of(step=step, cluster=cluster, **given) for step in STEPS]
            steps[STEPS.index(PUBLISH)].on_success_callback = [Look(**about)]
            chain(*steps, late := late_windows())
            judged_anew(late, cluster, **given)


def collecting(clusters: Iterable[Cluster], **given: Any) -> None:
    """Logs and landed readings of each cluster into bronze, every hour, while they grow."""
    owned = owners_of()
    for cluster in clusters:
        asked = {"params": params(cluster.inputs), "default_args": patient()}
        with _dag("kafka_collect", "10 * * * *", COLLECTING, cluster, owned, **asked):
            step_operator()(step=COLLECT, cluster=cluster, **given)


def maintenance(clusters: Sequence[Cluster], **given: Any) -> None:
    """Each lake put in order, every Sunday."""
    owned = owners_of()
    for cluster in {c.lake: c for c in reversed(clusters)}.values():
        asked = {"params": params(cluster.inputs, KEEP), "default_args": patient()}
        with _dag("kafka_maintenance", "30 12 * * 0", MAINTENANCE, cluster, owned, **asked):
            step_operator()(step=MAINTAIN, cluster=cluster, **given)


def reclassifying(clusters: Iterable[Cluster], **given: Any) -> None:
    """The past of each cluster with today's knowledge: a mapped task for each window between two instants."""
    owned = owners_of()
    for cluster in clusters:
        asked = {"params": params(cluster.inputs, *JUDGED), "default_args": patient()}
        with _dag("kafka_reclassify", None, RECLASSIFYING, cluster, owned, **asked):
            judged_anew(published_windows(), cluster, **given)


def snapshots(clusters: Iterable[Cluster]) -> None:
    """A reading of each cluster with a connection every five minutes, landed as one file without a JVM."""
    given = {"retries": 2, "retry_delay": timedelta(seconds=20), "execution_timeout": timedelta(minutes=4)}
    with _dag("kafka_snapshot", "*/5 * * * *", SNAPSHOTS, default_args=given):
        for cluster in clusters:
            if cluster.connection:
                SnapshotOperator(cluster=cluster)


def alerts(lakes: Iterable[str]) -> None:
    """A look at each lake every ten minutes: what could not be sent before goes out, once."""
    with _dag("kafka_alerts", "*/10 * * * *", ALERTS, default_args={"execution_timeout": timedelta(minutes=9)}):
        task(task_id="look")(tell).expand(lake=[*lakes])


def _dag(
    name: str,
    cron: str | None,
    about: str,
    cluster: Cluster | None = None,
    owned: Sequence[Mapping[str, Any]] = (),
    **given: Any,
) -> DAG:
    """A DAG with its schedule; that of a cluster has the cluster's name, labels and owners (out of `owned`)."""
    title = name.replace("kafka_", "Kafka ", 1).replace("_", " ")
    named = cluster.name if cluster else None
    owners = [o["name"] for o in owned if named and fits(o["clusters"], [named])]
    return DAG(
        dag_id=cluster.dag_id(name) if cluster else name,
        dag_display_name=f"{title}: {named}" if named else title,
        description=about.strip().partition("\n")[0],
        schedule=CronDataIntervalTimetable(cron, timezone="UTC") if cron else None,
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        doc_md=about,
        tags=["hindsight", *((named, *cluster.labels) if cluster and named else ())],
        default_args={**({"owner": ", ".join(owners)} if owners else {}), **given.pop("default_args")},
        **given,
    )
