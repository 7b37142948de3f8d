"""Gold: absences of brokers, replicas out of sync, restarts of a cluster, and who was its controller."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import ControllerChangeCause, Intent, OutageKind, OutOfSyncKind, StartFailure
from kafka_hindsight.catalog.row import Millis, Records, Row, Unit, table
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, HowSure, JudgedBy
from kafka_hindsight.catalog.rows.structs import RestartStep
from kafka_hindsight.catalog.table_model import Check


@table("gold.broker_outages", key=("outage_id",), time_column="down_at")
class BrokerOutage(Row):
    """One absence of one broker."""

    cluster: ClusterName
    outage_id: Annotated[str, "Hash of what it is"]
    broker: Annotated[int, "Broker id"]
    kind: Annotated[OutageKind, "Kind of absence"]
    intent: Annotated[Intent, "Whether it had been declared"]
    down_at: Annotated[datetime, "Start of its shutdown, or its last sign of life"]
    detected_at: Annotated[datetime | None, "When it was fenced, or missed by the controller"] = None
    last_heard_at: Annotated[
        datetime | None,
        "Its own last line before the absence, or its order to shut down; null where its log is not at hand",
    ] = None
    unreachable_at: Annotated[
        datetime | None,
        "First failure of another broker to reach it before it was detected as down; null where not known",
    ] = None
    up_at: Annotated[
        datetime | None,
        "When it served again, or the first proof that it did; null while none is known",
    ] = None
    failed_starts: Annotated[int, "Starts that failed while it was away: several are a crash loop"]
    start_failure: Annotated[StartFailure | None, "Why these failed; null where none did"] = None
    away_low_ms: Annotated[Millis | None, "How long it was away, at least: from proof to proof of that"] = None
    away_high_ms: Annotated[Millis | None, "At most: from the last proof that it served to the next"] = None
    isr_recovered_at: Annotated[datetime | None, "When it was back in every ISR it had been in"] = None
    leadership_restored_at: Annotated[datetime | None, "When it led again what it had led"] = None
    elections: Annotated[int | None, "Leader changes it caused"] = None
    partitions_led_before: Annotated[int | None, "Partitions it led when it went"] = None
    group_ids: Annotated[list[str], "Groups whose coordinator moved, or that rebalanced"]
    isr_shrinks: Annotated[int | None, "How often a partition's ISR lost the broker through it"] = None
    isr_expands: Annotated[int | None, "How often a partition's ISR got it back from it"] = None
    coordinator_moves: Annotated[int | None, "Times that a group's coordinator moved through it"] = None
    rebalances: Annotated[int | None, "Rebalances in incidents that it accounts for"] = None
    partition_seconds: Annotated[
        float | None, "What those cost at most; null where none's cost is known", Unit("s")
    ] = None
    restart_id: Annotated[str | None, "The rolling restart of the cluster that it belongs to"] = None
    incident_id: Annotated[str | None, "The incident it belongs to"] = None
    echo_of: Annotated[
        str | None, "The absence that it may be, shown by a clock that differs; null where no such clock is known"
    ] = None
    confidence: HowSure
    explanation: Annotated[str, "What happened, when it was over and who was disturbed, in a few sentences"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("up_after_down", "up_at >= down_at", "a broker comes back no earlier than it went"),
        Check("detected_after_down", "detected_at >= down_at", "an absence is noticed no earlier than it begins"),
        Check("away_bounded", "away_low_ms <= away_high_ms", "a lower bound is not above the upper"),
        HAS_EVIDENCE,
    )


@table("gold.second_starts", key=("cluster", "broker", "happened_at"), time_column="happened_at")
class SecondStart(Row):
    """One process of a broker that was started while another one served, and failed: the broker was not away."""

    cluster: ClusterName
    broker: Annotated[int, "Broker id"]
    happened_at: Annotated[datetime, "When it failed"]
    start_failure: Annotated[StartFailure, "Why it failed"]
    confidence: HowSure
    explanation: Annotated[str, "Why, in words"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (HAS_EVIDENCE,)


@table("gold.out_of_sync_periods", key=("out_of_sync_period_id",), time_column="started_at")
class OutOfSyncPeriod(Row):
    """One broker out of ISRs that it belongs to, from its first shrink to its last return."""

    cluster: ClusterName
    out_of_sync_period_id: Annotated[str, "Hash of what it is"]
    broker: Annotated[int, "Broker that was out"]
    started_at: Annotated[datetime, "When the first partition lost it"]
    ended_at: Annotated[datetime | None, "When the last partition had it back; null while one has not"] = None
    observed_until: Annotated[
        datetime | None,
        "Without an end, and where the logs do not show it out until they end: when they last would show its return",
    ] = None
    kind: Annotated[OutOfSyncKind, "Why it was out"]
    outage_id: Annotated[str | None, "The broker outage behind it; of several the first"] = None
    suspected_broker: Annotated[
        int | None, "Broker that the trouble points to: the one that was out, or its slow leader"
    ] = None
    removed_by_leader: Annotated[list[int], "Leaders that dropped it since it lagged"]
    partitions: Annotated[int, "Partitions whose ISR lost it"]
    partitions_out: Annotated[int, "Those of them that no line and no reading shows to have it back"]
    shrinks: Annotated[int, "How often an ISR lost it"]
    expands: Annotated[int, "How often an ISR had it back"]
    flaps: Annotated[int, "How often a partition lost it again within the period"]
    cycles: Annotated[int, "Most shrinks that were followed by a return, of one partition within 30 minutes"]
    partition_ms: Annotated[
        Millis,
        "Time that partitions were without it, summed; what is still out counts to the end of window or logs",
    ]
    records_behind: Annotated[Records | None, "Farthest that a leader saw it behind; null where not logged"] = None
    worst_topics: Annotated[list[str], "Topics, those first whose partitions were without it longest"]
    confidence: HowSure
    explanation: Annotated[str, "What happened, in a few sentences"]
    advice: Annotated[str, "What to do about it"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("ends_after_start", "ended_at >= started_at", "a period ends no earlier than it starts"),
        Check("open_where_out", "ended_at IS NOT NULL OR partitions_out > 0", "a period without an end is still open"),
        Check("observed_while_open", "ended_at IS NULL OR observed_until IS NULL", "a known end has no bound"),
        Check("out_bounded", "partitions_out <= partitions", "no more are out than were lost"),
        Check("returns_bounded", "expands <= shrinks", "a replica returns at most as often as it leaves"),
        Check("flaps_counted", "flaps >= shrinks - partitions", "each partition is lost once before it is lost again"),
        Check("time_not_negative", "partition_ms >= 0", "a duration is not negative"),
        HAS_EVIDENCE,
    )


@table("gold.rolling_restarts", key=("restart_id",), time_column="started_at")
class RollingRestart(Row):
    """One cluster restarted broker by broker."""

    cluster: ClusterName
    restart_id: Annotated[str, "Hash of what it is"]
    started_at: Annotated[datetime, "When the first broker was stopped"]
    ended_at: Annotated[datetime | None, "When the last broker served again; null where one has not"] = None
    brokers: Annotated[list[int], "Brokers in the order in which they were stopped"]
    intent: Annotated[Intent, "Whether each of these stops had been declared"]
    is_complete: Annotated[bool, "Whether it holds every broker that is known of"]
    scorecard: Annotated[
        list[RestartStep],
        "Each broker's stop. isr_recovered_ms, leadership_restored_ms: from its stop until it was back in every ISR,"
        " led again what it had led; is_early: stopped before the one before was back in every ISR; null where not"
        " known",
    ]
    elections: Annotated[int, "Leader changes that it caused"]
    rebalances: Annotated[int, "Rebalances in incidents that it accounts for"]
    max_under_replicated: Annotated[int, "Most partitions that lacked one of these brokers at one instant"]
    confidence: HowSure
    explanation: Annotated[str, "What happened, in a few sentences"]
    advice: Annotated[str, "What to do about it"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("ends_after_start", "ended_at >= started_at", "a restart ends no earlier than it starts"),
        Check("two_at_least", "size(brokers) <> 1", "one broker alone is not a rolling restart"),
        Check("each_scored", "size(brokers) = size(scorecard)", "every broker has its line in the scorecard"),
        Check("each_once", "size(array_distinct(brokers)) = size(brokers)", "a broker is restarted once"),
        HAS_EVIDENCE,
    )


@table("gold.controller_changes", key=("cluster", "epoch", "happened_at"), time_column="happened_at")
class ControllerChange(Row):
    """One new controller, or elections that no line shows a node to win."""

    cluster: ClusterName
    happened_at: Annotated[datetime, "When it became the controller; without one, since when"]
    controller_from: Annotated[int | None, "Controller before"] = None
    controller_to: Annotated[int, "Controller after; -1: no line shows one"]
    epoch: Annotated[int, "Controller epoch; without a controller the next one that can be"]
    cause: Annotated[ControllerChangeCause, "Why it changed"]
    outage_id: Annotated[str | None, "The absence of the former controller behind it"] = None
    elections: Annotated[
        int | None, "Elections that were begun for it, by the node that began most; null where no line shows one"
    ] = None
    uncontrolled_low_ms: Annotated[Millis | None, "How long the cluster had no controller, at least"] = None
    uncontrolled_high_ms: Annotated[Millis | None, "At most; null where it is not known"] = None
    confidence: HowSure
    explanation: Annotated[str, "Why the former controller is it no more, in one sentence"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check(
            "uncontrolled_bounded",
            "uncontrolled_low_ms <= uncontrolled_high_ms",
            "a lower bound is not above the upper",
        ),
        HAS_EVIDENCE,
    )
