"""Gold: where groups went on elsewhere than where they had come to."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import JumpActor, JumpCause, JumpHarm, ResetPolicy
from kafka_hindsight.catalog.row import Records, Row, table
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, HowSure, JudgedBy
from kafka_hindsight.catalog.table_model import Check


@table("gold.offset_jumps", key=("jump_id",), time_column="jumped_at")
class OffsetJump(Row):
    """One time that a group went on elsewhere in a partition than where it had come to."""

    cluster: ClusterName
    jump_id: Annotated[str, "Hash of cluster, group, topic, partition, time and target"]
    group_id: Annotated[str, "Consumer group"]
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    jumped_at: Annotated[datetime, "When its offset changed, or was gone, or a member went on elsewhere"]
    resumed_at: Annotated[datetime | None, "When a member went on there; null: no member came back"] = None
    offset_from: Annotated[Records | None, "Where the group had come to; null where only bounds are known"] = None
    offset_to: Annotated[Records | None, "Where it went on; null where only bounds are known"] = None
    records_low: Annotated[Records, "Records between the two ends, at least"]
    records_high: Annotated[Records | None, "Records between the two ends, at most; null: no evidence bounds them"] = (
        None
    )
    records_expected: Annotated[
        Records | None,
        "Records by the pace of its commits and half of its commit interval: a guess within the bounds, no proof; null"
        " where the pace or the interval is not known, and where the number is",
    ] = None
    harm: Annotated[JumpHarm, "What became of these records"]
    cause: Annotated[JumpCause, "Why it went on elsewhere"]
    actor: Annotated[JumpActor, "Who moved it"]
    client_id: Annotated[str | None, "Client that went on there; null where not known"] = None
    policy: Annotated[ResetPolicy | None, "The member's auto.offset.reset, where it was used and is known"] = None
    rebalance_id: Annotated[str | None, "The rebalance in which its member went on; null: none"] = None
    incident_id: Annotated[str | None, "The incident it belongs to; null where it belongs to none"] = None
    confidence: HowSure
    explanation: Annotated[str, "What happened, in one sentence"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check(
            "bounds_in_order",
            "records_low >= 0 AND (records_high IS NULL OR (records_high >= records_low AND records_high > 0))",
            "the records between the ends lie within their bounds, and some may lie there",
        ),
        Check(
            "exact_where_both_ends_are",
            "offset_from IS NULL OR offset_to IS NULL OR harm = 'unknown'"
            " OR (records_low = records_high AND records_low = abs(offset_to - offset_from))",
            "where both ends are known the number of records is",
        ),
        Check(
            "skips_go_forward",
            "harm <> 'records_skipped' OR offset_from IS NULL OR offset_to IS NULL OR offset_to > offset_from",
            "a group that skips records goes on later",
        ),
        Check(
            "certain_is_exact",
            "confidence <> 'certain' OR records_low = records_high",
            "a verdict that is certain knows the number of records",
        ),
        Check(
            "expected_within_bounds",
            "coalesce(records_expected BETWEEN records_low AND records_high, true)",
            "what is expected lies within the bounds",
        ),
        Check("resumed_later", "resumed_at >= jumped_at", "a member goes on no earlier than the offset changed"),
        HAS_EVIDENCE,
    )
