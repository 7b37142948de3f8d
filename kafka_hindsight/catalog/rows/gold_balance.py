"""Gold: how long a broker led too few of the partitions it is preferred for."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import FailoverKind, ImbalanceEnd
from kafka_hindsight.catalog.row import Partitions, Row, Unit, table
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, JudgedBy
from kafka_hindsight.catalog.table_model import Check


@table("gold.leader_imbalance", key=("cluster", "snapshot_at", "broker"), time_column="snapshot_at")
class LeaderImbalance(Row):
    """One broker at one snapshot."""

    cluster: ClusterName
    snapshot_at: Annotated[datetime, "The reading"]
    broker: Annotated[int, "Broker id"]
    preferred_partitions: Annotated[int, "Partitions whose first replica it is"]
    led_elsewhere: Annotated[int, "Those of them that another broker leads, or none"]
    ratio: Annotated[
        float | None,
        "led_elsewhere over preferred_partitions; null where it is preferred for none",
    ] = None
    over_threshold: Annotated[bool, "Whether the ratio is strictly above 0.10"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("ratio_bounded", "ratio BETWEEN 0 AND 1", "a ratio lies between 0 and 1"),
        Check(
            "elsewhere_bounded",
            "led_elsewhere BETWEEN 0 AND preferred_partitions",
            "no more are led elsewhere than there are",
        ),
        Check(
            "threshold_strict", "over_threshold = coalesce(ratio > 0.10, false)", "the threshold is strictly above 0.10"
        ),
        HAS_EVIDENCE,
    )


@table("gold.imbalance_periods", key=("imbalance_period_id",), time_column="first_reading_at")
class ImbalancePeriod(Row):
    """One broker over the threshold of leader_imbalance: a period."""

    cluster: ClusterName
    imbalance_period_id: Annotated[str, "Hash of cluster, broker and first reading"]
    broker: Annotated[int, "Broker id"]
    started_at: Annotated[datetime, "When it went over the threshold; may lie before the window"]
    started_at_is_exact: Annotated[
        bool,
        "Whether that is the change of leader that took it over the threshold, between two readings that agree with"
        " the logged changes; else it is the first reading that showed it, or the change of leader before it",
    ]
    ended_at: Annotated[datetime | None, "When it was back at the threshold or below; null while it is above"] = None
    ended_at_is_exact: Annotated[bool, "Whether that is the change of leader that brought it back"]
    first_reading_at: Annotated[datetime, "First reading of the window that showed it"]
    last_reading_at: Annotated[datetime, "Last reading of the window that showed it"]
    readings: Annotated[int, "Readings that showed it", Unit("readings")]
    max_ratio: Annotated[float, "Largest ratio of them"]
    worst_at: Annotated[datetime, "The first reading with that ratio"]
    preferred_partitions: Annotated[Partitions, "Partitions that it was preferred for then"]
    led_elsewhere: Annotated[Partitions, "Those of them that another broker led, or none"]
    started_by: Annotated[
        FailoverKind | None, "Kind of the change of leader that took it over the threshold; null where not known"
    ] = None
    outage_id: Annotated[str | None, "The absence that left it behind"] = None
    ended_by: Annotated[
        ImbalanceEnd | None, "What brought leaders back; null while it lasts, and where no change of leader shows it"
    ] = None
    explanation: Annotated[str, "What caused it, how bad it was, and whether an election ended it"]
    advice: Annotated[str, "What to do about it"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("starts_before_reading", "started_at <= first_reading_at", "it begins no later than it is seen"),
        Check("ends_after_reading", "ended_at >= last_reading_at", "it ends no earlier than it is seen last"),
        Check("readings_in_order", "last_reading_at >= first_reading_at", "the last reading is not before the first"),
        Check("over_gate", "10 * led_elsewhere > preferred_partitions", "more than 10% are led elsewhere"),
        Check("ratio_bounded", "max_ratio <= 1", "no more are led elsewhere than there are"),
        Check("exact_end_is_known", "ended_at IS NOT NULL OR NOT ended_at_is_exact", "an end that is exact is known"),
        HAS_EVIDENCE,
    )
