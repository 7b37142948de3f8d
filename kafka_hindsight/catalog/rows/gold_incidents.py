"""Gold: everything that happened in a window, what could not be used, and what a person should know."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import (
    Cause,
    FindingSeverity,
    Fingerprint,
    Harm,
    IncidentKind,
    Intent,
    Protocol,
    UnavailabilityKind,
)
from kafka_hindsight.catalog.row import Millis, PartitionSeconds, Records, Row, table
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, HowSure, JudgedBy
from kafka_hindsight.catalog.table_model import Check


@table("gold.incidents", key=("incident_id",), time_column="started_at")
class Incident(Row):
    """One thing that happened, with all that followed from it."""

    cluster: ClusterName
    incident_id: Annotated[str, "Hash of what it is"]
    kind: Annotated[IncidentKind, "Kind of incident"]
    intent: Annotated[Intent, "Whether it had been declared; it never changes a rank"]
    declared_until: Annotated[
        datetime | None,
        "End of the maintenance window that declares it; null without one",
    ] = None
    harm: Annotated[Harm | None, "The gravest thing that it did; null in rows of an earlier version"] = None
    harm_rank: Annotated[
        int | None,
        "Its place among the incidents of its window, the most harmful first; null in rows of an earlier version",
    ] = None
    headline: Annotated[
        str | None,
        "What happened, to what and for how long; null in rows of an earlier version",
    ] = None
    started_at: Annotated[datetime, "When it began"]
    ended_at: Annotated[datetime | None, "When the last of it was over; null while open"] = None
    is_over: Annotated[
        bool | None,
        "Whether each partition could be used again, each broker was back and there was a controller when the logs"
        " end, and groups that a failure had stopped consumed; null where the last member of a group closed or died and"
        " no evidence shows which, and in rows of an earlier version",
    ] = None
    group_ids: Annotated[list[str], "Groups that rebalanced, fell behind, or went on elsewhere"]
    rebalance_count: Annotated[int, "Rebalances in it"]
    protocol: Annotated[
        Protocol | None, "Rebalance protocol of its groups; null where they have several, or none of them rebalanced"
    ] = None
    cause: Annotated[Cause | None, "Why its rebalances began; null where it has none"] = None
    confidence: HowSure
    fingerprint: Annotated[Fingerprint | None, "What the rhythm of a storm resembles; null where it is none"] = None
    first_outage_id: Annotated[
        str | None, "The broker outage behind it; of several the first: broker_outages names them"
    ] = None
    brokers: Annotated[list[int] | None, "Brokers that were away, or whose replicas were out of sync"] = None
    topics: Annotated[list[str] | None, "Topics that lost records, had no leader or took no writes"] = None
    failover_count: Annotated[int | None, "Changes of leaders in it"] = None
    partitions_offline: Annotated[
        int | None, "Partitions that had no leader for a second or longer; null where it is only possible that some had"
    ] = None
    partitions_still_offline: Annotated[int | None, "Of these, those that had none when the logs end"] = None
    offline_ms: Annotated[
        Millis | None,
        "Longest that one of them had no leader; where it was not over, at least",
    ] = None
    offline_partition_seconds: Annotated[PartitionSeconds | None, "What these times add up to"] = None
    partitions_refusing: Annotated[
        int | None,
        "Partitions that refused writes with acks=all, or kept them waiting, for a second or longer; null where it is"
        " only possible that some did",
    ] = None
    refusing_ms: Annotated[Millis | None, "Longest that one of them did; where it was not over, at least"] = None
    records_lost_low: Annotated[Records | None, "Records lost at least; null where none can be lost"] = None
    records_lost_high: Annotated[
        Records | None, "Records lost at most; null where none can be lost, or nothing bounds it"
    ] = None
    records_skipped_low: Annotated[
        Records | None, "Records that its groups skipped, at least; null where none went on elsewhere"
    ] = None
    records_skipped_high: Annotated[
        Records | None, "Records that its groups skipped, at most; null too where no evidence bounds them"
    ] = None
    records_read_again_low: Annotated[
        Records | None, "Records that its groups read a second time, at least; null where none went on elsewhere"
    ] = None
    records_read_again_high: Annotated[
        Records | None, "Records that its groups read a second time, at most; null too where no evidence bounds them"
    ] = None
    partition_seconds: Annotated[
        PartitionSeconds | None,
        "What its rebalances cost at most: partitions stopped times the seconds from start to end",
    ] = None
    explanation: Annotated[str, "What happened, in a few sentences"]
    advice: Annotated[str, "What to do about it"]
    prevention: Annotated[str | None, "What would have prevented it, or made it milder"] = None
    commands: Annotated[list[str] | None, "Commands that show how things are now, filled in"] = None
    recurrence_id: Annotated[
        str | None,
        "Hash of what it is but for its time: the same on each night that has it",
    ] = None
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("ends_after_start", "ended_at >= started_at", "an incident ends no earlier than it starts"),
        Check(
            "cause_of_rebalances",
            "cause IS NULL OR rebalance_count > 0",
            "only an incident with rebalances has a cause of them",
        ),
        Check(
            "loss_bounds_ordered",
            "records_lost_low <= records_lost_high",
            "the lower bound of a loss is not above the upper",
        ),
        Check(
            "moves_bounds_ordered",
            "coalesce(records_skipped_low <= records_skipped_high, true)"
            " AND coalesce(records_read_again_low <= records_read_again_high, true)",
            "the lower bound of skipped or repeated records is not above the upper",
        ),
        Check(
            "window_declares",
            "declared_until IS NULL OR intent = 'declared'",
            "only what was declared lies in a maintenance window",
        ),
        HAS_EVIDENCE,
    )


@table("gold.findings", key=("finding_id",), time_column="first_at")
class Finding(Row):
    """One thing a person should know."""

    cluster: ClusterName
    finding_id: Annotated[str, "Hash of what it is"]
    rule_id: Annotated[str, "The rule that fired"]
    severity: Annotated[FindingSeverity, "How bad it is"]
    subject_kind: Annotated[
        str, "What it is about: group, client, task, broker, topic, partition, cluster, source, reading"
    ]
    subject: Annotated[str, "Which one"]
    first_at: Annotated[datetime, "When it began"]
    last_at: Annotated[datetime, "When it was seen last"]
    message: Annotated[str, "What was found, in one sentence"]
    advice: Annotated[str, "What to do about it"]
    source: Annotated[str, "Where the threshold comes from"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("ends_after_start", "last_at >= first_at", "a finding ends no earlier than it begins"),
        HAS_EVIDENCE,
    )


@table("gold.unavailability", key=("unavailability_id",), time_column="started_at")
class Unavailability(Row):
    """One interval in which one partition could not be used, or one group consumed nothing."""

    cluster: ClusterName
    unavailability_id: Annotated[str, "Hash of what it is"]
    kind: Annotated[UnavailabilityKind, "What could not be done"]
    topic: Annotated[str | None, "Topic; null where it is about a group"] = None
    partition: Annotated[int | None, "Partition; null where it is about a group"] = None
    group_id: Annotated[str | None, "Consumer group; null where it is about a partition"] = None
    started_at: Annotated[datetime, "When it began, as the evidence shows it best"]
    ended_at: Annotated[datetime | None, "When it was over; null where it was not when the logs end"] = None
    earliest_start_at: Annotated[
        datetime | None, "It began no earlier: the last proof that it had not begun; null where no proof bounds it"
    ] = None
    latest_end_at: Annotated[
        datetime | None,
        "It was over no later: the first proof that it was; null where no proof bounds it, or it was not over",
    ] = None
    low_ms: Annotated[
        Millis,
        "How long it lasted, at least: from the first proof that it had begun to the last that it was not over; 0"
        " where no proof shows more",
    ]
    high_ms: Annotated[
        Millis | None,
        "How long it lasted, at most: from the last proof that it had not begun to the first that it was over; null"
        " where no proof bounds it, or it was not over",
    ] = None
    failover_id: Annotated[
        str | None,
        "The change of leader that left the partition without one; null for other kinds",
    ] = None
    rebalance_id: Annotated[str | None, "The rebalance in which the group stopped; null for other kinds"] = None
    outage_id: Annotated[str | None, "The broker outage behind it; null where none is, or it is not known"] = None
    incident_id: Annotated[str | None, "The incident it belongs to; null where it belongs to none"] = None
    intent: Annotated[
        Intent, "Whether the incident, or the interval that belongs to none, had been declared; it changes no figure"
    ]
    confidence: HowSure
    explanation: Annotated[str, "What could not be used, for how long and why, in a few sentences"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check(
            "one_subject",
            "(kind = 'no_consumer') = (group_id IS NOT NULL) AND (topic IS NULL) = (`partition` IS NULL)"
            " AND (group_id IS NULL OR topic IS NULL)",
            "it is about one partition, or where no member consumed about one group",
        ),
        Check("ends_after_start", "ended_at >= started_at", "it ends no earlier than it begins"),
        Check(
            "within_bounds",
            "coalesce(earliest_start_at <= started_at, true) AND coalesce(latest_end_at >= ended_at, true)",
            "its ends lie within their bounds",
        ),
        Check("bounded", "low_ms >= 0 AND coalesce(low_ms <= high_ms, true)", "a lower bound is not above the upper"),
        Check(
            "open_is_unbounded",
            "ended_at IS NOT NULL OR high_ms IS NULL",
            "what was not over can have lasted any time",
        ),
        HAS_EVIDENCE,
    )
