"""Gold: how long a broker led too few of the partitions it is preferred for."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import FailoverKind, ImbalanceEnd, Origin
from kafka_hindsight.catalog.row import Earlier, Partitions, Row, Unit, table
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, JudgedBy
from kafka_hindsight.catalog.table_model import Check


@table("gold.leader_imbalance", key=("cluster", "snapshot_at", "broker"), time_column="snapshot_at")
class LeaderImbalance(Row):
    """One broker at one reading; in a window without a reading, at one instant at which leaders changed in the logs."""

    cluster: ClusterName
    snapshot_at: Annotated[datetime, "The reading, or the instant that the logs show"]
    broker: Annotated[int, "Broker id"]
    origin: Annotated[Origin, "What shows it: a reading (snapshot) or the logs (broker)", Earlier(Origin.SNAPSHOT)]
    preferred_partitions: Annotated[int, "Partitions whose first replica it is"]
    led_elsewhere: Annotated[int, "Those of them that another broker leads, or none"]
    unknown_partitions: Annotated[
        int | None,
        "Partitions of the cluster whose first replica or leader is not known; null where logs had not listed them all",
    ] = None
    ratio: Annotated[
        float | None,
        "led_elsewhere over preferred_partitions; null where it is preferred for none, and where it is not known",
    ] = None
    over_threshold: Annotated[bool | None, "Whether the ratio is strictly above 0.10; null where that is not known"] = (
        None
    )
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
            "threshold_strict",
            "ratio IS NULL OR over_threshold = (ratio > 0.10)",
            "the threshold is strictly above 0.10",
        ),
        HAS_EVIDENCE,
    )


@table("gold.imbalance_periods", key=("imbalance_period_id",), time_column="first_reading_at")
class ImbalancePeriod(Row):
    """One broker over the threshold of leader_imbalance: a period."""

    cluster: ClusterName
    imbalance_period_id: Annotated[str, "Hash of cluster, broker and first reading"]
    broker: Annotated[int, "Broker id"]
    origin: Annotated[Origin, "What shows it: readings (snapshot) or the logs (broker)", Earlier(Origin.SNAPSHOT)]
    started_at: Annotated[datetime, "When it went over the threshold; may lie before the window"]
    started_at_is_exact: Annotated[
        bool,
        "Whether that is the change of leader that took it over the threshold, between two readings that agree with"
        " the logged changes; else it is the first reading that showed it, or the change of leader before it",
    ]
    ended_at: Annotated[datetime | None, "When it was back at the threshold or below; null while it is above"] = None
    ended_at_is_exact: Annotated[bool, "Whether that is the change of leader that brought it back"]
    first_reading_at: Annotated[datetime, "First reading of the window that showed it, or instant of the logs"]
    last_reading_at: Annotated[datetime, "Last reading of the window that showed it, or instant of the logs"]
    readings: Annotated[int, "Readings, or instants of the logs, that showed it", Unit("readings")]
    max_ratio: Annotated[float, "Largest ratio of them; at least that where some partitions are not known"]
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
