"""Gold: what happened to partitions, what was lost, and what was at risk."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import FailoverKind, IsrChangeKind, OutOfSyncKind, TruncationVerdict
from kafka_hindsight.catalog.row import Millis, Records, Row, Unit, table
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, HowSure, JudgedBy
from kafka_hindsight.catalog.table_model import Check

_RISK_TIMES = (
    "leaderless_low_ms",
    "leaderless_high_ms",
    "under_replicated_ms",
    "under_min_isr_ms",
    "at_min_isr_ms",
    "one_from_offline_ms",
    "one_from_unclean_ms",
    "known_ms",
)
_WINDOW_MS = "(unix_millis(window_to) - unix_millis(window_from))"


@table("gold.failovers", key=("failover_id",), time_column="happened_at")
class Failover(Row):
    """One change of one partition's leader."""

    cluster: ClusterName
    failover_id: Annotated[str, "Hash of cluster, topic, partition and leader epoch"]
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    happened_at: Annotated[datetime, "When the leader changed, at the active controller where it speaks"]
    leader_from: Annotated[int | None, "Leader before; -1: none"] = None
    leader_to: Annotated[int | None, "Leader after; -1: none"] = None
    epoch_from: Annotated[int | None, "Leader epoch before"] = None
    epoch_to: Annotated[int | None, "Leader epoch after"] = None
    topic_incarnation: Annotated[
        int,
        "How often its topic, or all metadata of the cluster, had been deleted before, as far as the records show:"
        " epochs start again in each incarnation",
    ]
    kind: Annotated[FailoverKind, "Why the leader changed"]
    requested_by_operator: Annotated[
        bool | None,
        "Whether a person or a tool asked for it, and not Kafka's own tasks; null where not known, or the question"
        " makes no sense",
    ] = None
    leaderless_ms: Annotated[Millis | None, "How long the partition had no leader; null where not known"] = None
    leaderless_low_ms: Annotated[
        Millis | None,
        "How long it had no leader, at least: from the first proof that the old leader no longer led to the first"
        " possible lead of the new one; null where no proof bounds it",
    ] = None
    leaderless_high_ms: Annotated[
        Millis | None,
        "How long it had no leader, at most: from the last proof that the old leader led to the first proof that the"
        " new one did; where no replica could take over (kind offline), both reach until it had a leader again; null"
        " where no proof bounds it",
    ] = None
    preferred_leader: Annotated[int | None, "First of its replicas; null where not known"] = None
    isr_before: Annotated[list[int] | None, "In-sync replicas before"] = None
    isr_after: Annotated[list[int] | None, "In-sync replicas after"] = None
    records_lost_low: Annotated[Records | None, "Records lost at least; null where nothing can be lost"] = None
    records_lost_high: Annotated[Records | None, "Records lost at most; null where nothing can be lost"] = None
    outage_id: Annotated[str | None, "The broker outage behind it"] = None
    incident_id: Annotated[str | None, "The incident it belongs to; null where it belongs to none"] = None
    confidence: HowSure
    explanation: Annotated[str, "What happened, in one sentence"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("leader_changed", "leader_from <> leader_to", "a failover changes the leader"),
        Check("epoch_rises", "epoch_to > epoch_from", "a failover raises the leader epoch"),
        Check("leaderless_not_negative", "leaderless_ms >= 0", "a duration is not negative"),
        Check(
            "leaderless_bounded",
            "coalesce(leaderless_low_ms >= 0, true) AND coalesce(leaderless_low_ms <= leaderless_ms, true)"
            " AND coalesce(leaderless_low_ms <= leaderless_high_ms, true)"
            " AND coalesce(leaderless_high_ms >= leaderless_ms, true)",
            "the time without a leader lies within its bounds",
        ),
        Check(
            "loss_bounds_ordered",
            "records_lost_low <= records_lost_high",
            "the lower bound of a loss is not above the upper",
        ),
        HAS_EVIDENCE,
    )


@table("gold.isr_changes", key=("isr_change_id",), time_column="happened_at")
class IsrChange(Row):
    """One shrink or expansion of one partition's ISR."""

    cluster: ClusterName
    isr_change_id: Annotated[str, "Hash of what it is"]
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    happened_at: Annotated[datetime, "When the ISR changed"]
    change: Annotated[IsrChangeKind, "What it did"]
    broker: Annotated[int, "Broker that left or came"]
    isr_before: Annotated[list[int] | None, "In-sync replicas before"] = None
    isr_after: Annotated[list[int] | None, "In-sync replicas after"] = None
    shrink_cause: Annotated[
        OutOfSyncKind | None,
        "Why the broker was out: of a shrink, and of the expansion that ends it; null for a new replica's",
    ] = None
    outage_id: Annotated[str | None, "The broker outage behind it"] = None
    out_of_sync_until: Annotated[
        datetime | None,
        "Shrink: when it was in again, or nothing was left to be in (topic deleted, replica moved); null while out",
    ] = None
    observed_until: Annotated[
        datetime | None,
        "Shrink without an end: the instant up to which the logs at hand would show one; null: until the logs end",
    ] = None
    removed_by_leader: Annotated[
        int | None,
        "Shrink: the leader that dropped it since it lagged; null where none did",
    ] = None
    records_behind: Annotated[Records | None, "Shrink: how far it was behind that leader; null where not logged"] = None
    behind_since: Annotated[
        datetime | None, "Shrink: when that leader had last seen it caught up; null where not logged"
    ] = None
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("out_before_in", "out_of_sync_until >= happened_at", "a broker is in again no earlier than it was out"),
        Check(
            "observed_while_out", "out_of_sync_until IS NULL OR observed_until IS NULL", "a known end needs no bound"
        ),
        Check("behind_before_dropped", "records_behind >= 0", "no replica is ahead of the leader"),
        HAS_EVIDENCE,
    )


@table("gold.truncations", key=("truncation_id",), time_column="happened_at")
class Truncation(Row):
    """One replica that cut its log, or dropped it to fetch it again."""

    cluster: ClusterName
    truncation_id: Annotated[str, "Hash of cluster, topic, partition, broker and time"]
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    broker: Annotated[int, "Broker whose replica it is"]
    happened_at: Annotated[datetime, "When it cut its log"]
    leader: Annotated[int | None, "Leader that it followed; null where not logged"] = None
    leader_epoch: Annotated[int | None, "Leader epoch that it followed; null where not logged"] = None
    is_whole: Annotated[bool, "Whether it dropped its whole log, since the leader's begins above its end"]
    log_end_before: Annotated[Records | None, "End of its log before; null where not logged"] = None
    truncated_to: Annotated[Records, "Where its log ended after, or starts again"]
    records_cut: Annotated[
        Records | None, "Records cut off; null where the end before, or how much a whole log held, is not logged"
    ] = None
    high_watermark: Annotated[
        Records | None,
        "Highest high watermark logged for the time before its log diverged from the leader's; null where none is",
    ] = None
    failover_id: Annotated[str | None, "The change of leader that made it cut; null where none is known"] = None
    outage_id: Annotated[str | None, "The absence behind that change"] = None
    incident_id: Annotated[str | None, "The incident of the window that has it; null where none has"] = None
    verdict: Annotated[TruncationVerdict, "Whether committed records were lost"]
    confidence: HowSure
    explanation: Annotated[str, "What was cut, and why that is or is not a loss"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check(
            "cut_below_end",
            "is_whole OR truncated_to <= log_end_before",
            "a log that is cut ends no later than before",
        ),
        Check("cut_not_negative", "records_cut >= 0", "no less than nothing is cut"),
        Check(
            "unknown_is_unknown",
            "(verdict = 'unknown') = (confidence = 'unknown')",
            "a verdict that is not known claims no confidence",
        ),
        HAS_EVIDENCE,
    )


@table("gold.partition_risks", key=("cluster", "topic", "partition", "window_from"), time_column="window_from")
class PartitionRisk(Row):
    """One partition over the window, where it risked anything."""

    cluster: ClusterName
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    replication_factor: Annotated[int | None, "Its replicas, as last reported; null where not known"] = None
    min_insync_replicas: Annotated[
        int | None, "min.insync.replicas in force last, its own or the brokers'; null where not known"
    ] = None
    elections: Annotated[int, "How often another leader was elected", Unit("elections")]
    leaderless_low_ms: Annotated[Millis, "How long it had no leader, at least"]
    leaderless_high_ms: Annotated[
        Millis | None, "How long it had no leader, at most; null where nothing bounds one of its elections"
    ] = None
    under_replicated_ms: Annotated[
        Millis | None,
        "How long fewer replicas were in sync than it has; at least, see known_ms; null where no ISR is known",
    ] = None
    under_min_isr_ms: Annotated[
        Millis | None,
        "How long fewer than min.insync.replicas were in sync, so that acks=all could not write; of a setting above"
        " the number of replicas only that number counts, as since Kafka 3.7; null where one of them is not known",
    ] = None
    at_min_isr_ms: Annotated[
        Millis | None, "How long just as many were in sync: one more lost and acks=all cannot write; null as above"
    ] = None
    one_from_offline_ms: Annotated[
        Millis | None,
        "How long its leader alone was in sync and no other could be elected, or only uncleanly and it is not known"
        " whether that is allowed: one failure from being offline; eligible leader replicas count where a witness"
        " shows them, and only the metadata log shows all of them; null where no ISR is known",
    ] = None
    one_from_unclean_ms: Annotated[
        Millis | None,
        "How long its leader alone was in sync and unclean elections were enabled: one failure from losing records;"
        " null where no ISR is known",
    ] = None
    worst_isr_size: Annotated[
        int | None,
        "Fewest replicas in sync at any known time; null where no ISR is known",
    ] = None
    first_at: Annotated[datetime, "When it first risked anything in the window"]
    last_at: Annotated[datetime, "When it last did"]
    known_ms: Annotated[Millis, "How long of the window its ISR is known; the rest may add to each time above"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check(
            "times_within_window",
            " AND ".join(f"coalesce({name}, 0) BETWEEN 0 AND {_WINDOW_MS}" for name in _RISK_TIMES),
            "no time is longer than the window",
        ),
        Check("leaderless_bounded", "leaderless_low_ms <= leaderless_high_ms", "a lower bound is not above the upper"),
        Check(
            "isr_times_within_known",
            "greatest(under_replicated_ms, under_min_isr_ms + at_min_isr_ms,"
            " one_from_offline_ms + one_from_unclean_ms) <= known_ms",
            "what rests on the ISR lasted no longer than it is known, and nothing is under and at the minimum at once",
        ),
        Check(
            "unclean_is_under_replicated",
            "one_from_unclean_ms <= under_replicated_ms",
            "only a partition with replicas out of sync can elect uncleanly",
        ),
        Check("seen_in_order", "last_at >= first_at", "a risk ends no earlier than it begins"),
        HAS_EVIDENCE,
    )
