"""Gold: what consumer groups went through, and how their members are set up."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import (
    Cause,
    ClientLibrary,
    Confidence,
    Outcome,
    Protocol,
    RebalanceKind,
    RebalanceWait,
    RemedySetting,
    SettingsWitness,
    Silence,
    StallKind,
)
from kafka_hindsight.catalog.row import (
    Earlier,
    Millis,
    OneOf,
    Partitions,
    PartitionSeconds,
    Records,
    Row,
    Unit,
    table,
)
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, HowSure, JudgedBy
from kafka_hindsight.catalog.rows.structs import Contributor, Delay, SettingChange, TopicPartition
from kafka_hindsight.catalog.table_model import Check


@table("gold.rebalances", key=("rebalance_id",), time_column="started_at")
class Rebalance(Row):
    """One finished join phase of a group, or one group epoch under KIP-848, or one that was begun and overtaken."""

    cluster: ClusterName
    rebalance_id: Annotated[str, "Hash of what it is: cluster, group, generations, start"]
    group_id: Annotated[str, "Consumer group"]
    protocol: Annotated[Protocol, "Rebalance protocol"]
    kind: Annotated[RebalanceKind | None, "How much its members gave back; null where `not_known` says why"] = None
    assignor: Annotated[
        str | None, "Assignor that its group used, by the last witness until its end, else the first after it"
    ] = None
    coordinator: Annotated[int | None, "Broker that coordinated it"] = None
    leader_member_id: Annotated[
        str | None, "Member that led the group and computed the assignment; null where not known, and for KIP-848"
    ] = None
    leader_client_id: Annotated[str | None, "Client of that member"] = None
    from_generation: Annotated[int | None, "Generation, or group epoch, before"] = None
    to_generation: Annotated[int | None, "Generation, or group epoch, after; null when interrupted"] = None
    started_at: Annotated[datetime, "When the group began to rebalance"]
    joined_at: Annotated[datetime | None, "End of the join phase; null for KIP-848"] = None
    ended_at: Annotated[
        datetime | None,
        "Assignment received by the coordinator, which hands it out once it is stored; group empty; or start of the"
        " next when interrupted",
    ] = None
    duration_ms: Annotated[Millis | None, "From start to end"] = None
    outcome: Annotated[Outcome, "How it ended"]
    cause: Annotated[Cause, "Why it began"]
    confidence: HowSure
    silence: Annotated[
        Silence | None,
        "What silenced the member that caused it; null where the cause is not a session or poll limit that ran out"
        " while its process lived",
    ] = None
    silence_confidence: Annotated[Confidence | None, "How sure that is"] = None
    client_id: Annotated[str | None, "Client of the member that caused it"] = None
    instance_id: Annotated[str | None, "group.instance.id of the member that caused it"] = None
    member_id: Annotated[str | None, "Member that caused it"] = None
    host: Annotated[str | None, "Host of the member that caused it"] = None
    contributors: Annotated[list[Contributor], "Acts of other members that fell into the same rebalance"]
    reason: Annotated[str | None, "The broker's raw words"] = None
    explanation: Annotated[str, "What happened, in one sentence"]
    advice: Annotated[str, "What to do about it"]
    changes: Annotated[
        list[SettingChange] | None,
        "Settings that would have helped, each with its value now and a new one; null where the evidence shows none",
    ] = None
    delayed_by: Annotated[list[Delay], "Members the whole group waited for"]
    waited_for: Annotated[
        RebalanceWait | None,
        "What the time until the group consumed again was spent on; null where its end is not known, and for most"
        " rebalances of KIP-848",
    ] = None
    silent_ms: Annotated[
        Millis | None, "How long the member was silent: its session timeout and the time until it was heard again"
    ] = None
    session_timeout_ms: Annotated[
        Millis | None, "session.timeout.ms of the member that caused it, where a witness shows it"
    ] = None
    rebalance_timeout_ms: Annotated[
        Millis | None, "max.poll.interval.ms of the member that caused it, where a witness shows it"
    ] = None
    members_before: Annotated[int | None, "Members before", Unit("members")] = None
    members_after: Annotated[int | None, "Members after", Unit("members")] = None
    partitions_moved: Annotated[
        Partitions | None, "Partitions with another owner after it than before; null where not known"
    ] = None
    partitions_kept: Annotated[
        Partitions | None, "Partitions with the same owner after it as before; null where not known"
    ] = None
    partitions_ownerless: Annotated[
        Partitions | None,
        "Partitions without an owner while it ran: all where it is eager, else those that got another owner, or whose"
        " owner had gone; null where not known",
    ] = None
    not_known: Annotated[
        str | None,
        "What is not known of its kind and of the assignments before and after it, and which witness would show it",
        Earlier("An earlier version of Hindsight, which did not ask, judged this rebalance."),
    ] = None
    follows: Annotated[
        str | None,
        "The rebalance that it restarted: one that was interrupted, or whose assignment was in use for less than a"
        " heartbeat; null where the one before was done",
    ] = None
    partition_seconds: Annotated[
        PartitionSeconds | None,
        "At most so many partition-seconds without a consumer: the partitions that stopped, times the seconds from"
        " start to end. All stop where the assignor is eager, else those that moved; null where the number is not"
        " known",
    ] = None
    partition_seconds_low: Annotated[
        PartitionSeconds | None,
        "At least so many. A member consumes until it learns of the rebalance: an eager one gives back all before it"
        " joins again, so that all stand from joined_at on. Under KIP-848 the members' own lines show it",
    ] = None
    read_again_low: Annotated[
        Records | None, "Records that its members read a second time, at least; null where none went on elsewhere"
    ] = None
    read_again_high: Annotated[
        Records | None, "Records that its members read a second time, at most; null too where no evidence bounds them"
    ] = None
    skipped_low: Annotated[Records | None, "Records that its members skipped, at least; null as before"] = None
    skipped_high: Annotated[Records | None, "Records that its members skipped, at most; null as before"] = None
    incident_id: Annotated[str | None, "The incident it belongs to"] = None
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("ends_after_start", "ended_at >= started_at", "a rebalance ends no earlier than it starts"),
        Check(
            "bill_bounds",
            "coalesce(read_again_low <= read_again_high, true) AND coalesce(skipped_low <= skipped_high, true)",
            "the lower bound of skipped or repeated records is not above the upper",
        ),
        Check("joins_after_start", "joined_at >= started_at", "a join phase ends no earlier than it starts"),
        Check("duration_not_negative", "duration_ms >= 0", "a duration is not negative"),
        Check(
            "unknown_kind_says_why",
            "kind IS NOT NULL OR not_known IS NOT NULL",
            "a rebalance whose kind is not known says which witness is missing",
        ),
        Check(
            "counted_or_said",
            "(partitions_moved IS NULL) = (partitions_kept IS NULL)"
            " AND (partitions_moved IS NOT NULL OR not_known IS NOT NULL)",
            "partitions that moved and that stayed are counted together, or the row says which witness is missing",
        ),
        Check(
            "silence_is_judged",
            "(silence IS NULL) = (silence_confidence IS NULL)"
            " AND (silence IS NULL OR (silence = 'unknown') = (silence_confidence = 'unknown'))",
            "a silence comes with how sure it is, and an unknown one claims no confidence",
        ),
        Check("cost_not_negative", "partition_seconds_low >= 0", "a cost is not negative"),
        Check("cost_bounds", "partition_seconds >= partition_seconds_low", "at least is no more than at most"),
        Check(
            "generation_rises",
            "to_generation > from_generation",
            "a rebalance ends in a later generation than it started from",
        ),
        Check(
            "completed_has_end",
            "outcome NOT IN ('completed', 'emptied') OR ended_at IS NOT NULL",
            "a finished rebalance has an end",
        ),
        Check(
            "unknown_is_unknown",
            "cause <> 'unknown' OR confidence = 'unknown'",
            "an unknown cause claims no confidence",
        ),
        HAS_EVIDENCE,
    )


@table("gold.backlogs", key=("backlog_id",), time_column="started_at")
class Backlog(Row):
    """The backlog of a group in one rebalance, or in an outage without one, where readings show its lag around it."""

    cluster: ClusterName
    backlog_id: Annotated[str, "Hash of what it is: cluster, group, rebalance or outage"]
    rebalance_id: Annotated[str | None, "The rebalance; null for an outage in which the group did not rebalance"] = None
    outage_id: Annotated[
        str | None, "The outage in which it built up without a rebalance; null for the backlog of a rebalance"
    ] = None
    group_id: Annotated[str, "Consumer group"]
    started_at: Annotated[datetime, "When the group began to rebalance, or the broker went away"]
    lag_before: Annotated[
        Records,
        "Largest lag of the group at readings of the 10 minutes before it, or before its member may have been silent",
    ]
    lag_peak: Annotated[
        Records,
        "Largest lag at readings since then, until the backlog was worked off or the next rebalance or outage began",
    ]
    lag_peak_at: Annotated[datetime, "That reading"]
    backlog: Annotated[
        Records,
        "How many records more than before waited at least; 0: no reading shows more. In an outage it is more than one"
        " commit interval brings, else there is no row",
    ]
    worked_off_at: Annotated[
        datetime | None,
        "First reading after it that shows no more lag than before; null without a backlog, and where no reading of the"
        " window does before the next rebalance or outage begins",
    ] = None
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("backlog_adds_up", "backlog = greatest(lag_peak - lag_before, 0)", "the backlog is what came on top"),
        Check("worked_off_a_backlog", "worked_off_at IS NULL OR backlog > 0", "only a backlog is worked off"),
        Check("worked_off_later", "worked_off_at >= started_at", "a backlog is worked off after it began"),
        Check(
            "of_rebalance_or_outage",
            "(rebalance_id IS NULL) <> (outage_id IS NULL)",
            "a backlog is that of a rebalance, or of an outage without one",
        ),
        HAS_EVIDENCE,
    )


@table("gold.assignment_changes", key=("rebalance_id", "member_id"), time_column="started_at")
class AssignmentChange(Row):
    """One member in one rebalance: the partitions that it owned before and after."""

    cluster: ClusterName
    rebalance_id: Annotated[str, "The rebalance"]
    group_id: Annotated[str, "Consumer group"]
    started_at: Annotated[datetime, "When the group began to rebalance"]
    ended_at: Annotated[datetime | None, "When the rebalance ended; null where no evidence shows it"] = None
    member_id: Annotated[str, "Member"]
    client_id: Annotated[str | None, "Client id of the member"] = None
    host: Annotated[str | None, "Host of the member"] = None
    was_member: Annotated[bool | None, "Whether it was in the group before; null where not known"] = None
    is_member: Annotated[bool | None, "Whether it was in the group after; null where not known"] = None
    before: Annotated[list[TopicPartition] | None, "Partitions that it owned before; null where not known"] = None
    after: Annotated[list[TopicPartition] | None, "Partitions that it owned after; null where not known"] = None
    gained: Annotated[list[TopicPartition] | None, "Those that it owned only after; null where not known"] = None
    lost: Annotated[list[TopicPartition] | None, "Those that it owned only before; null where not known"] = None
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check(
            "known_in_part", "before IS NOT NULL OR after IS NOT NULL", "one of the two assignments is known at least"
        ),
        Check(
            "changes_add_up",
            "before IS NULL OR after IS NULL OR size(before) + size(gained) - size(lost) = size(after)",
            "what it had, with what it gained and without what it lost, is what it has",
        ),
        HAS_EVIDENCE,
    )


@table("gold.remedies", key=("cluster", "group_id", "setting", "window_from"), time_column="window_from")
class Remedy(Row):
    """One group and one setting that would have helped it, by a replay of the window."""

    cluster: ClusterName
    group_id: Annotated[str, "Consumer group"]
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    setting: Annotated[RemedySetting, "What would have been set otherwise"]
    value_now: Annotated[
        Millis | None,
        "The time-out in use, the shortest of the members concerned: of the session, for max_poll_interval"
        " max.poll.interval.ms; null where it is not a time, or not known",
    ] = None
    value_smallest: Annotated[
        Millis | None,
        "The smallest time-out that would have avoided the rebalances; for static_membership the session timeout that"
        " it needs; null for cooperative_assignment",
    ] = None
    rebalances_total: Annotated[int, "Rebalances of the group in the window", Unit("rebalances")]
    rebalances_avoided: Annotated[int, "Those that would not have happened", Unit("rebalances")]
    partition_seconds_avoided: Annotated[
        PartitionSeconds | None, "What would not have been paid; null where the cost is not known"
    ] = None
    rebalance_ids: Annotated[list[str], "The rebalances that would not have happened"]
    confidence: Annotated[
        Confidence, "How sure the replay is: it is never certain", OneOf((Confidence.LIKELY, Confidence.POSSIBLE))
    ]
    explanation: Annotated[str, "What would have been, in one sentence"]
    changes: Annotated[
        list[SettingChange] | None,
        "Settings to change, each with its value now and a new one, as the library of its members writes it; null where"
        " the library has no such setting",
    ] = None
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check(
            "ids_counted",
            "rebalances_avoided = size(array_distinct(rebalance_ids)) AND size(rebalance_ids) = rebalances_avoided",
            "each avoided rebalance is named once",
        ),
        Check(
            "avoids_no_more_than_were",
            "rebalances_avoided BETWEEN 0 AND rebalances_total",
            "no more are avoided than there were",
        ),
        Check("value_positive", "value_smallest > 0", "a time-out is positive"),
        HAS_EVIDENCE,
    )


@table("gold.coordinator_moves", key=("coordinator_move_id",), time_column="moved_at")
class CoordinatorMove(Row):
    """One group's coordinator changing broker."""

    cluster: ClusterName
    coordinator_move_id: Annotated[str, "Hash of what it is"]
    group_id: Annotated[str, "Consumer group"]
    offsets_partition: Annotated[int | None, "Partition of __consumer_offsets that keeps the group"] = None
    moved_at: Annotated[datetime, "When the new coordinator had loaded the group"]
    broker_from: Annotated[int | None, "Coordinator before"] = None
    broker_to: Annotated[int, "Coordinator after"]
    outage_id: Annotated[str | None, "The broker outage behind it"] = None
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("broker_changed", "broker_from <> broker_to", "a move changes the broker"),
        HAS_EVIDENCE,
    )


@table(
    "gold.ownership",
    key=("cluster", "group_id", "topic", "partition", "member_id", "valid_from"),
    time_column="valid_from",
)
class Ownership(Row):
    """One partition owned by one member of a group in one generation, from when to when."""

    cluster: ClusterName
    group_id: Annotated[str, "Consumer group"]
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    member_id: Annotated[str, "Member that owned it"]
    client_id: Annotated[str | None, "Client id of the member"] = None
    host: Annotated[str | None, "Host of the member"] = None
    valid_from: Annotated[datetime, "When the assignment was written, else the first reading that saw it"]
    valid_to: Annotated[
        datetime, "When the next one was written, else the first reading that saw it no more, or the end of the window"
    ]
    is_open: Annotated[bool, "Whether it still held at the end of the window"]
    generation: Annotated[
        int | None, "Generation of the assignment, under KIP-848 the member's epoch; null where only readings tell"
    ] = None
    generation_before: Annotated[
        int | None, "Generation of the partition's ownership just before this one; null where not known"
    ] = None
    generation_after: Annotated[
        int | None, "Generation of the partition's ownership just after this one; null where not known, or open"
    ] = None
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("ends_after_start", "valid_to >= valid_from", "an ownership ends no earlier than it starts"),
        HAS_EVIDENCE,
    )


@table("gold.partition_stalls", key=("stall_id",), time_column="started_at")
class PartitionStall(Row):
    """One partition that stood still, or fell behind, in the window, while it had an owner and records waited."""

    cluster: ClusterName
    stall_id: Annotated[str, "Hash of what it is: cluster, group, partition, start"]
    group_id: Annotated[str, "Consumer group"]
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    kind: Annotated[StallKind, "Whether it stood or fell behind, and what else its owner did"]
    confidence: HowSure
    started_low: Annotated[
        datetime | None,
        "Earliest instant at which it may have begun: the last commit that moved it, else the reading before; null"
        " where no reading of the window is",
    ] = None
    started_at: Annotated[
        datetime,
        "Since when it stood, or fell behind, for certain: that commit, else the first reading of the window that shows"
        " it",
    ]
    ended_at: Annotated[
        datetime | None,
        "First reading after it, which shows that it moved or had caught up, or the end of its owner; null where it"
        " lasted to the last reading of the window",
    ] = None
    committed_offset: Annotated[Records | None, "Offset at which it stood; null where it fell behind"] = None
    lag_first: Annotated[Records, "Lag just before it, or at its first reading where no other is"]
    lag_max: Annotated[Records, "Largest lag at a reading of it"]
    lag_last: Annotated[Records, "Lag at its last reading"]
    read_pace: Annotated[float, "How fast its committed offset moved, until the lag was largest", Unit("records/s")]
    write_pace: Annotated[float, "How fast its end moved in the same time", Unit("records/s")]
    member_id: Annotated[str | None, "Member that owned it at last; null where not known"] = None
    client_id: Annotated[str | None, "Client id of that member"] = None
    host: Annotated[str | None, "Host of that member"] = None
    generation: Annotated[int | None, "Generation of that ownership; null where only readings show it"] = None
    owned_since: Annotated[datetime | None, "Since when it had that owner in that generation"] = None
    rebalance_id: Annotated[
        str | None, "Last rebalance since which it has not moved; null where it moved since, or none is known"
    ] = None
    owned_partitions: Annotated[Partitions | None, "Partitions that its owner had, this one included"] = None
    moving_partitions: Annotated[Partitions | None, "Of these, how many moved meanwhile"] = None
    idle_partitions: Annotated[Partitions | None, "Of these, how many had nothing to read and did not move"] = None
    explanation: Annotated[str, "What the readings show, in one sentence"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("starts_in_order", "started_at >= started_low", "it does not begin before it may have begun"),
        Check("ends_after_start", "ended_at >= started_at", "it ends no earlier than it starts"),
        Check("records_waited", "lag_max > 0", "without records that wait nothing stands"),
        Check("largest_lag", "lag_max >= lag_last", "no lag is larger than the largest"),
        Check(
            "others_add_up",
            "moving_partitions + idle_partitions + 1 <= owned_partitions",
            "those that moved, and those without records, are other partitions of its owner",
        ),
        Check(
            "owned_or_given",
            "kind = 'falls_behind' OR started_at >= owned_since OR rebalance_id IS NOT NULL OR generation IS NULL",
            "it stood with this owner, or since a rebalance; where only readings show the owner, neither may be known;"
            " a partition that falls behind may have had others before",
        ),
        HAS_EVIDENCE,
    )


@table("gold.member_settings", key=("settings_id",), time_column="first_seen_at")
class MemberSetting(Row):
    """One client of a group with one set of settings, as witnesses showed them in the window."""

    cluster: ClusterName
    settings_id: Annotated[str, "Hash of cluster, group, client, settings and the instant it was first seen"]
    group_id: Annotated[str, "Consumer group"]
    client_id: Annotated[str | None, "Client id; null where not known"] = None
    instance_id: Annotated[str | None, "group.instance.id of a static member; null for others"] = None
    library: Annotated[
        ClientLibrary, "Library of the client; unknown where no evidence shows it", Earlier(ClientLibrary.UNKNOWN)
    ] = ClientLibrary.UNKNOWN
    member_count: Annotated[int, "Member ids seen with them: one for each start of the client", Unit("members")]
    session_timeout_ms: Annotated[Millis | None, "session.timeout.ms; null where not known"] = None
    rebalance_timeout_ms: Annotated[
        Millis | None, "Rebalance timeout, which is max.poll.interval.ms; null where not known"
    ] = None
    heartbeat_interval_ms: Annotated[Millis | None, "heartbeat.interval.ms; only a client's log has it"] = None
    assignors: Annotated[list[str] | None, "Assignors that it offers, the preferred first; null where not known"] = None
    assignor: Annotated[str | None, "Assignor that its group used last; null where not known"] = None
    protocol: Annotated[Protocol | None, "Rebalance protocol; null where not known"] = None
    isolation_level: Annotated[str | None, "isolation.level: read_committed passes over aborted records"] = None
    offset_reset: Annotated[str | None, "auto.offset.reset: where it begins without a committed offset"] = None
    is_auto_commit: Annotated[bool | None, "enable.auto.commit; null where not known"] = None
    auto_commit_interval_ms: Annotated[Millis | None, "auto.commit.interval.ms; only a client's log has these"] = None
    witnesses: Annotated[
        list[str],
        f"Who showed the settings: {', '.join(SettingsWitness)}; empty where no witness did",
    ]
    first_seen_at: Annotated[datetime, "When a witness first showed it in the window"]
    last_seen_at: Annotated[datetime, "When a witness last showed it in the window"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("seen_in_order", "last_seen_at >= first_seen_at", "a member is not last seen before it is first seen"),
        Check("session_positive", "session_timeout_ms > 0", "a time-out is longer than nothing"),
        Check("rebalance_timeout_positive", "rebalance_timeout_ms > 0", "a time-out is longer than nothing"),
        HAS_EVIDENCE,
    )
