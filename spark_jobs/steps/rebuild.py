"""The step rebuild: timelines out of events and snapshots, causes, incidents and findings, into staging."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.catalog import BY_NAME, Table
from spark_jobs.catalog.bronze_metadata import METADATA_FILES, METADATA_RECORDS
from spark_jobs.catalog.model import EVIDENCE_TYPE
from spark_jobs.catalog.quality import GENERATION_GAPS, LEADERSHIP_GAPS, RULE_FIRINGS
from spark_jobs.catalog.rows import BrokerOutage, Event, TopicChange
from spark_jobs.catalog.silver import EVENTS
from spark_jobs.edges import progress
from spark_jobs.edges.session import for_few_rows
from spark_jobs.edges.store import Store, at_once
from spark_jobs.knowledge.version import knowledge_version
from spark_jobs.shared.config import Settings
from spark_jobs.transforms import spark_pipeline
from spark_jobs.transforms.brokers.broker_settings import SETTING_KINDS, settings_of
from spark_jobs.transforms.brokers.setting_events import newest_settings, settings_in_readings
from spark_jobs.transforms.by_key import part
from spark_jobs.transforms.cluster import CONTEXT_KINDS, context_of
from spark_jobs.transforms.groups.coordinators import OFFSETS_TOPIC
from spark_jobs.transforms.intake import group_records
from spark_jobs.transforms.rebalances import GroupContext
from spark_jobs.transforms.windows import Window

FEW_LINES = 200_000
"""A night of as few lines that tell something takes longer to plan than to rebuild."""

KNOWLEDGE_VERSION = knowledge_version()


def run_step(spark: SparkSession, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Rebuilds the window that ingest named, and stages every gold table.

    Takes: the summary of ingest: cluster, window_from, window_to. Gives: the same, and the rows staged by table.
    """
    said = earlier["ingest"]
    window = Window(datetime.fromisoformat(said["window_from"]), datetime.fromisoformat(said["window_to"]))
    seen = Window(
        window.start - timedelta(hours=settings.look_back_hours),
        window.end + timedelta(hours=settings.look_ahead_hours),
    )
    store = Store(spark, settings.lake)
    with for_few_rows(spark) if said["lines"]["events"] <= FEW_LINES else nullcontext():
        _rebuild(store, said["cluster"], window, seen)
    return {name: said[name] for name in ("cluster", "window_from", "window_to")}


def _rebuild(store: Store, cluster: str, window: Window, seen: Window) -> None:
    staged, kept = rebuild(store, cluster, window, seen)
    store.create(*kept)
    at_once(
        *(lambda n=name, f=frame: _stage(store, n, f, window) for name, frame in staged.items()),
        *(lambda t=table, f=frame: store.replace_window(t, f, cluster, window) for table, frame in kept.items()),
    )


def rebuild(
    store: Store, cluster: str, window: Window, seen: Window
) -> tuple[dict[str, DataFrame], dict[Table, DataFrame]]:
    """Every gold table as a frame, by full name, and those of quality that are written whatever the gate says.

    Takes: what the lake holds of the cluster; `seen` is the window with its look-back and look-ahead.
    """

    def read(name: str, over: Window = seen) -> DataFrame:
        table = BY_NAME[name]
        return _between(store.read(table).where(F.col("cluster") == cluster), str(table.time_column), over)

    events = events_of(store, cluster, seen).persist()
    members, partitions = read("bronze.member_snapshots"), read("bronze.partition_snapshots")
    records = group_records.around(store.read(BY_NAME["bronze.group_records"]), cluster, seen).persist()
    brokers = spark_pipeline.brokers_of_night(events, read("bronze.broker_snapshots"), seen).persist()
    outages = [BrokerOutage.of(r) for r in spark_pipeline.rows_of(part(brokers, "outages"))]
    is_setting = F.col("kind").isin(*SETTING_KINDS)
    settings = events.where(is_setting).unionByName(settings_in_readings(read("bronze.config_snapshots"))).persist()
    about_cluster = events.where(F.col("kind").isin(*CONTEXT_KINDS)).unionByName(settings.where("topic IS NULL"))
    of_cluster = [Event.of(r) for r in spark_pipeline.rows_of(about_cluster)]
    around = context_of(of_cluster, outages)
    observed = spark_pipeline.span_of(events) or (window.start, window.end)
    read_at = sorted(r["snapshot_at"] for r in spark_pipeline.rows_of(partitions.select("snapshot_at").distinct()))
    last_at = max((at for at in read_at if window.holds(at)), default=None)
    progress.say(f"{len(outages)} absences of brokers; now leaders, groups and readings")
    led = spark_pipeline.partitions_of_night(
        events.where(~is_setting).unionByName(settings),
        partitions,
        read("bronze.offset_snapshots"),
        around,
        settings_of(of_cluster),
        observed[1].replace(tzinfo=UTC),
        seen,
        window,
    ).persist()
    offsets_partitions = _offsets(partitions)
    grouped = spark_pipeline.groups_of_night(
        events,
        members,
        _group_context(cluster, observed, brokers, outages),
        around,
        offsets_partitions,
        read("bronze.group_snapshots"),
        records,
        seen,
        window,
    ).persist()
    read_of_groups = spark_pipeline.readings_of_groups(
        members, read("bronze.group_snapshots"), read("bronze.offset_snapshots", window), records, window
    ).persist()
    imbalance = spark_pipeline.imbalance_of_night(
        *(read(f"bronze.{name}_snapshots", window) for name in ("partition", "broker", "group"))
    ).persist()
    judged = spark_pipeline.verdicts_of_night(
        {
            "clusters": store.spark.range(1).select(
                F.lit(cluster).alias("cluster"), F.lit(offsets_partitions).cast("int").alias("offsets_partitions")
            ),
            "outages": part(brokers, "outages"),
            "failovers": _slim(part(led, "failovers"), "kind IN ('offline', 'unclean_election')"),
            "isr_spans": part(led, "isr_spans"),
            "in_sync": part(imbalance, "in_sync"),
            "moves": _slim(part(grouped, "moves"), "false"),
            "partitions": _led_before(partitions, read_at, outages),
            "rebalances": part(grouped, "rebalances"),
            "gaps": part(grouped, "gaps"),
            "leadership_gaps": part(led, "leadership_gaps").where("explained_by IS NULL"),
            "unheard": part(brokers, "unheard"),
            "roster": part(grouped, "roster"),
            "imbalance": _slim(part(imbalance, "rows"), "over_threshold"),
            "truncations": part(led, "truncations").where("verdict <> 'nothing_committed_lost'"),
            "lag": part(read_of_groups, "lag").where("status <> 'ok'"),
            "settings": part(grouped, "settings"),
            "coverage": read("quality.coverage", window).where("unparsed + quarantined > 0"),
            "unanswered": read("bronze.group_snapshots", window).where("error IS NOT NULL"),
            "partial": read("bronze.snapshot_readings", window).where("missing IS NOT NULL OR error IS NOT NULL"),
            **_last_reading(read, last_at, window),
            "set_up": newest_settings(settings, last_at or window.end - timedelta.resolution),
        },
        window,
    ).persist()
    rebalances = part(grouped, "rebalances").drop("incident_id").join(part(judged, "homes"), "rebalance_id")
    return {
        "gold.controller_changes": part(brokers, "controllers"),
        "gold.rolling_restarts": part(judged, "restarts"),
        "gold.broker_outages": part(judged, "outages"),
        "gold.failovers": part(led, "failovers"),
        "gold.truncations": part(led, "truncations"),
        "gold.isr_changes": part(led, "isr_changes"),
        "gold.out_of_sync_periods": part(judged, "out_of_sync_periods"),
        "gold.partition_risks": part(led, "risks"),
        "gold.coordinator_moves": part(grouped, "moves"),
        "gold.incidents": part(judged, "incidents"),
        "gold.rebalances": rebalances,
        "gold.remedies": part(grouped, "remedies"),
        "gold.ownership": part(read_of_groups, "ownership"),
        "gold.member_settings": part(grouped, "settings"),
        "gold.leader_imbalance": part(imbalance, "rows"),
        "gold.leader_balance": part(imbalance, "balance"),
        "gold.imbalance_periods": part(judged, "imbalance_periods"),
        "gold.lag_verdicts": part(read_of_groups, "lag"),
        "gold.loss_simulations": part(judged, "loss_simulations"),
        "gold.findings": part(judged, "findings"),
    }, {
        GENERATION_GAPS: part(grouped, "gaps"),
        LEADERSHIP_GAPS: _between(part(led, "leadership_gaps"), "seen_at", window).coalesce(1),
        RULE_FIRINGS: _versioned(part(judged, "firings")).coalesce(1),
    }


def events_of(store: Store, cluster: str, seen: Window) -> DataFrame:
    """What lines tell of a time, and where the lake holds the metadata log, what that tells."""
    events = store.read_window(EVENTS, cluster, seen)
    if not store.has(METADATA_RECORDS):
        return events
    records, files = (store.read(t).where(F.col("cluster") == cluster) for t in (METADATA_RECORDS, METADATA_FILES))
    told = spark_pipeline.committed_events(records.where(F.col("written_at") < F.lit(seen.end)), files, seen)
    return events.unionByName(told)


def _stage(store: Store, name: str, frame: DataFrame, window: Window) -> None:
    table = BY_NAME[name]
    rows = _between(frame, str(table.time_column), window)
    store.overwrite_staging(table, _versioned(rows).coalesce(1))


def _versioned(rows: DataFrame) -> DataFrame:
    return rows.withColumn("knowledge_version", F.lit(KNOWLEDGE_VERSION))


def _between(frame: DataFrame, time: str, window: Window) -> DataFrame:
    return frame.where((F.col(time) >= F.lit(window.start)) & (F.col(time) < F.lit(window.end)))


def _group_context(
    cluster: str,
    observed: tuple[datetime, datetime],
    brokers: DataFrame,
    outages: Sequence[BrokerOutage],
) -> GroupContext:
    return GroupContext(
        cluster=cluster,
        observed_from=observed[0].replace(tzinfo=UTC),
        observed_to=observed[1].replace(tzinfo=UTC),
        topic_changes=tuple(
            TopicChange.of(c) for c in spark_pipeline.rows_of(part(brokers, "topics").orderBy("at", "kind", "topic"))
        ),
        outages=outages,
    )


def _offsets(partitions: DataFrame) -> int | None:
    """How many partitions __consumer_offsets has, where a reading tells."""
    row: Any = partitions.where(F.col("topic") == OFFSETS_TOPIC).agg(F.max("partition")).first()
    return None if row is None or row[0] is None else int(row[0]) + 1


def _slim(rows: DataFrame, quoted: str) -> DataFrame:
    """The rows with evidence only where a finding quotes it."""
    nothing = F.array().cast(EVIDENCE_TYPE)
    return rows.withColumn("evidence", F.when(F.expr(quoted), F.col("evidence")).otherwise(nothing))


def _led_before(partitions: DataFrame, read_at: Sequence[datetime], outages: Sequence[Mapping[str, Any]]) -> DataFrame:
    """The last reading before each absence: it tells what the broker led."""
    last = {max((at for at in read_at if at <= o["down_at"]), default=None) for o in outages} - {None}
    return partitions.where(F.col("snapshot_at").isin(*last))


def _last_reading(
    read: Callable[[str, Window], DataFrame], last_at: datetime | None, window: Window
) -> dict[str, DataFrame]:
    """The last reading of the window that shows partitions: these, its brokers and its groups."""
    return {
        f"last_{name}": read(f"bronze.{name[:-1]}_snapshots", window).where(
            F.col("snapshot_at") == F.lit(last_at).cast("timestamp")
        )
        for name in ("partitions", "brokers", "groups")
    }
