"""Gold: how evenly leaders are spread, and how long a broker led too few of the partitions it is preferred for."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import FailoverKind, ImbalanceEnd
from kafka_hindsight.catalog.row import Partitions, Row, Unit, table
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, JudgedBy
from kafka_hindsight.catalog.table_model import Check


@table("gold.leader_balance", key=("cluster", "snapshot_at", "scope"), time_column="snapshot_at")
class LeaderBalance(Row):
    """One scope at one snapshot: the usual definitions of balance, beside that of leader_imbalance."""

    cluster: ClusterName
    snapshot_at: Annotated[datetime, "The reading"]
    scope: Annotated[
        str,
        "all; without_internal: all but Kafka's own topics; rack:NAME: the brokers of a rack, and the partitions"
        " whose first replica is one of them",
    ]
    partitions: Annotated[Partitions, "Partitions in the scope"]
    leaderless: Annotated[Partitions, "Those of them that have no leader"]
    non_preferred: Annotated[Partitions, "Those that another than their first replica leads"]
    non_preferred_share: Annotated[
        float | None,
        "non_preferred over the partitions that have a leader (one less Kafdrop's preferred leaders percent); null"
        " where none has a leader",
    ] = None
    brokers: Annotated[int, "Brokers in the scope; those that lead nothing count", Unit("brokers")]
    leaders_max: Annotated[Partitions | None, "Most partitions that one broker leads"] = None
    leaders_min: Annotated[Partitions | None, "Fewest partitions that one broker leads"] = None
    leader_spread: Annotated[
        float | None,
        "Leaders per broker: (max - min) / mean (Kafkistry warns above 0.10); null where none has a leader",
    ] = None
    leader_excess: Annotated[
        float | None,
        "Leaders per broker: max / mean - 1 (kafka-ui's skew of the worst broker); null where none has a leader",
    ] = None
    brokers_off_band: Annotated[
        int,
        "Brokers that lead less than 0.91 or more than 1.09 of the mean (Cruise Control's"
        " leader.replica.count.balance.threshold 1.10 with its margin)",
        Unit("brokers"),
    ]
    coordinator_spread: Annotated[
        float | None,
        "(max - min) / mean of the partitions of __consumer_offsets that each broker leads; null without any",
    ] = None
    group_spread: Annotated[
        float | None,
        "(max - min) / mean of the groups that each broker coordinates; null where no reading shows coordinators",
    ] = None
    most_loaded_broker: Annotated[int | None, "The broker that leads most; the lowest id of several"] = None
    least_loaded_broker: Annotated[int | None, "The broker that leads least; the lowest id of several"] = None
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("share_bounded", "non_preferred_share BETWEEN 0 AND 1", "a share lies between 0 and 1"),
        Check(
            "parts_bounded",
            "leaderless <= partitions AND non_preferred <= partitions",
            "no more are leaderless, or led elsewhere, than there are",
        ),
        Check("spread_not_negative", "leader_spread >= 0 AND leader_excess >= 0", "a spread is not negative"),
        Check("max_above_min", "leaders_max >= leaders_min", "the most loaded broker leads no less than the least"),
        HAS_EVIDENCE,
    )


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
