"""The step reclassify: a window of the past with today's knowledge and records, what changed, then published again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import reduce
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.catalog import gold
from kafka_hindsight.catalog.model import Table
from kafka_hindsight.catalog.quality import PUBLICATIONS, VERDICT_CHANGES
from kafka_hindsight.catalog.steps import INGEST
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.store import Store as TablesByArrow
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.session import for_few_rows
from kafka_hindsight.spark.tables.store import Store
from spark_jobs import publish, rebuild
from spark_jobs.collect import engine_of
from spark_jobs.ingest import parse_again
from spark_jobs.reporting import write_report


class Judged(NamedTuple):
    """A gold table that holds verdicts: what names a row, its verdict, and what it is about, as SQL."""

    table: Table
    id: str
    verdict: str
    subject: str


JUDGED = (
    Judged(gold.REBALANCES, "rebalance_id", "cause", "group_id"),
    Judged(gold.INCIDENTS, "incident_id", "coalesce(cause, kind)", "kind"),
    Judged(gold.FAILOVERS, "failover_id", "kind", "concat(topic, '-', `partition`)"),
    Judged(gold.BROKER_OUTAGES, "outage_id", "kind", "concat('broker ', broker)"),
)


def run_step(spark: SparkSession, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Parses the window again out of bronze, rebuilds it, keeps what changed, publishes it and writes its page again.

    Gives: cluster, window_from, window_to; `changes`: how many verdicts, by what became of them.
    Keeps: run again by its own name after it had published, it judges nothing: what had changed stands, and its page
        and its night's row, which a kill may have kept from it, are written again.
    Raises: BadInput where no window is given, or where it was never published; PublicationRefused: then gold is as it
        was, and quality.verdict_changes holds what would have changed.
    """
    store, window = Store(spark, settings.lake), _window(settings)
    cluster, runs = _published(store, settings, window)
    told = _told_by_ingest(store, runs)
    said = {"cluster": cluster, "window_from": window.start.isoformat(), "window_to": window.end.isoformat()}
    run = {
        "run_id": settings.run_id,
        "run_at": settings.run_at,
        "started_at": settings.run_at,
        "cluster": cluster,
        "window_from": window.start,
        "window_to": window.end,
        "owners": settings.owners,
        **{name: told.get(name, []) for name in ("files_not_read", "warnings", "inputs")},
    }
    if settings.run_id in runs:
        with for_few_rows(spark):
            write_report(store, run)
        return {**said, "changes": _changes(store, settings, cluster)}
    lines = parse_again(engine_of(spark), TablesByArrow(settings.lake), cluster, window, settings)
    rebuild.run_step(spark, settings, {"ingest": {**told, **said, "lines": lines}})
    changes = _keep_changes(store, settings, cluster, window)
    progress.say(f"{window.start} to {window.end}: verdicts that changed: {changes or 'none'}")
    publish.publish_and_report(spark, settings.lake, run)
    return {**said, "changes": changes}


def changed(before: DataFrame, after: DataFrame, judged: Judged) -> DataFrame:
    """The verdicts of a table that differ.

    Takes: its rows as they were published, and as they are now. Gives: rows of VERDICT_CHANGES, but for the run.
    """
    old, new = (_verdicts(rows, judged, when) for rows, when in ((before, "before"), (after, "after")))
    is_same = F.expr("verdict_before <=> verdict_after AND confidence_before <=> confidence_after")
    change = F.expr("CASE WHEN at_before IS NULL THEN 'appeared' WHEN at_after IS NULL THEN 'gone' ELSE 'changed' END")
    return (
        old.join(new, "row_id", "full")
        .where(~is_same)
        .withColumns(
            {
                "table": F.lit(judged.table.full_name),
                "subject": F.coalesce("subject_after", "subject_before"),
                "happened_at": F.coalesce("at_after", "at_before"),
                "change": change,
            }
        )
    )


def _verdicts(rows: DataFrame, judged: Judged, when: str) -> DataFrame:
    has_confidence = "confidence" in judged.table.column_names
    return rows.select(
        F.col(judged.id).alias("row_id"),
        F.expr(judged.subject).alias(f"subject_{when}"),
        F.col(str(judged.table.time_column)).alias(f"at_{when}"),
        F.expr(judged.verdict).alias(f"verdict_{when}"),
        (F.col("confidence") if has_confidence else F.lit(None).cast("string")).alias(f"confidence_{when}"),
        F.col("knowledge_version").alias(f"knowledge_{when}"),
    )


def _keep_changes(store: Store, settings: Settings, cluster: str, window: Window) -> dict[str, int]:
    found = reduce(
        DataFrame.unionByName,
        (changed(store.read_window(j.table, cluster, window), store.read_staging(j.table), j) for j in JUDGED),
    )
    known = {
        "cluster": F.lit(cluster),
        "window_from": F.lit(window.start),
        "window_to": F.lit(window.end),
        "run_id": F.lit(settings.run_id),
        "run_reclassified_at": F.lit(settings.run_at),
    }
    store.create(VERDICT_CHANGES)
    rows = found.withColumns(known).select(*VERDICT_CHANGES.column_names).coalesce(1)
    store.replace_rows_of_run(VERDICT_CHANGES, rows, cluster, window, settings.run_id)
    return _changes(store, settings, cluster)


def _changes(store: Store, settings: Settings, cluster: str) -> dict[str, int]:
    """How many verdicts this run changed, by what became of them."""
    kept = store.read(VERDICT_CHANGES).where((F.col("run_id") == settings.run_id) & (F.col("cluster") == cluster))
    return {row["change"]: row["count"] for row in kept.groupBy("change").count().orderBy("change").collect()}


def _window(settings: Settings) -> Window:
    if settings.window_from and settings.window_to:
        return Window(settings.window_from, settings.window_to)
    raise BadInput("FROM and TO are not given. Needed: the window of the past to judge again.")


def _published(store: Store, settings: Settings, window: Window) -> tuple[str, list[str]]:
    """The cluster whose window was published, and the runs that did, the last one first."""
    held = store.read(PUBLICATIONS) if store.has(PUBLICATIONS) else None
    columns = ("cluster", "window_from", "window_to", "run_published_at", "run_id")
    rows = held.select(*columns).distinct().collect() if held else []
    named = [r for r in rows if settings.cluster in (None, r["cluster"])]
    found = [r for r in named if (_utc(r["window_from"]), _utc(r["window_to"])) == (window.start, window.end)]
    clusters = sorted({r["cluster"] for r in found})
    if len(clusters) == 1:
        newest_first = sorted(found, key=lambda r: (r["run_published_at"], r["run_id"]), reverse=True)
        return clusters[0], [r["run_id"] for r in newest_first]
    if clusters:
        raise BadInput(f"The lake holds that window of {', '.join(clusters)}. Needed: one of them. Give CLUSTER.")
    told = sorted({f"{_utc(r['window_from']).isoformat()} to {_utc(r['window_to']).isoformat()}" for r in named})
    raise BadInput(
        f"The window {window.start.isoformat()} to {window.end.isoformat()} was never published. Needed: one that was: "
        f"{'; '.join(told[-10:]) or 'there is none yet'}. Choose FROM and TO so."
    )


def _told_by_ingest(store: Store, runs: Iterable[str]) -> Mapping[str, Any]:
    """What the last of these runs that read files said of them and of clocks; nothing is read again here."""
    told = (landing.read_json(f"{store.lake}/runs/{run}/{INGEST.name}.json") for run in runs)
    return next(filter(None, told), {})


def _utc(at: datetime) -> datetime:
    """Spark gives instants without a zone, in the zone of the process, which is UTC."""
    return at.replace(tzinfo=UTC)
