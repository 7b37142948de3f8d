"""Gold: what consumer groups went through."""

from kafka_hindsight.catalog.codes import Cause, Confidence, Outcome, Protocol, RemedySetting
from kafka_hindsight.catalog.gold_columns import CLUSTER, CONFIDENCE, EVIDENCE, HAS_EVIDENCE, VERSION
from kafka_hindsight.catalog.model import Check, Table, optional, required

REBALANCES = Table(
    layer="gold",
    name="rebalances",
    grain="one finished join phase of a group, or one group epoch under KIP-848, or one that was begun and overtaken",
    key=("rebalance_id",),
    time_column="started_at",
    columns=(
        CLUSTER,
        required("rebalance_id", "STRING", "Hash of what it is: cluster, group, generations, start"),
        required("group_id", "STRING", "Consumer group"),
        required("protocol", "STRING", "Rebalance protocol", codes=Protocol),
        optional("coordinator", "INT", "Broker that coordinated it"),
        optional("from_generation", "INT", "Generation, or group epoch, before"),
        optional("to_generation", "INT", "Generation, or group epoch, after; null when interrupted"),
        required("started_at", "TIMESTAMP", "When the group began to rebalance"),
        optional("joined_at", "TIMESTAMP", "End of the join phase; null for KIP-848"),
        optional("ended_at", "TIMESTAMP", "Assignment received, group empty, or start of the next when interrupted"),
        optional("duration_ms", "BIGINT", "From start to end", unit="ms"),
        required("outcome", "STRING", "How it ended", codes=Outcome),
        required("cause", "STRING", "Why it began", codes=Cause),
        CONFIDENCE,
        optional("client_id", "STRING", "Client of the member that caused it"),
        optional("instance_id", "STRING", "group.instance.id of the member that caused it"),
        optional("member_id", "STRING", "Member that caused it"),
        optional("host", "STRING", "Host of the member that caused it"),
        required(
            "contributors",
            "ARRAY<STRUCT<client_id: STRING, instance_id: STRING, member_id: STRING, cause: STRING, at: TIMESTAMP>>",
            "Acts of other members that fell into the same rebalance",
        ),
        optional("reason", "STRING", "The broker's raw words"),
        required("explanation", "STRING", "What happened, in one sentence"),
        required("advice", "STRING", "What to do about it"),
        required(
            "delayed_by",
            "ARRAY<STRUCT<client_id: STRING, member_id: STRING, waited_ms: BIGINT>>",
            "Members the whole group waited for",
        ),
        optional(
            "silent_ms",
            "BIGINT",
            "How long the member was silent: its session timeout and the time until it was heard again",
            unit="ms",
        ),
        optional(
            "session_timeout_ms",
            "BIGINT",
            "session.timeout.ms of the member that caused it, where a witness shows it",
            unit="ms",
        ),
        optional(
            "rebalance_timeout_ms",
            "BIGINT",
            "max.poll.interval.ms of the member that caused it, where a witness shows it",
            unit="ms",
        ),
        optional("members_before", "INT", "Members before", unit="members"),
        optional("members_after", "INT", "Members after", unit="members"),
        optional(
            "follows",
            "STRING",
            "The rebalance that it restarted: one that was interrupted, or whose assignment was in use for less than a"
            " heartbeat; null where the one before was done",
        ),
        optional(
            "partition_seconds",
            "DOUBLE",
            "Partitions that stood while it ran, times the seconds: all where the assignor is eager, else those that"
            " moved; null where the number is not known",
            unit="partition seconds",
        ),
        optional("incident_id", "STRING", "The incident it belongs to"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("ends_after_start", "ended_at >= started_at", "a rebalance ends no earlier than it starts"),
        Check("joins_after_start", "joined_at >= started_at", "a join phase ends no earlier than it starts"),
        Check("duration_not_negative", "duration_ms >= 0", "a duration is not negative"),
        Check("cost_not_negative", "partition_seconds >= 0", "a cost is not negative"),
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
    ),
)

REMEDIES = Table(
    layer="gold",
    name="remedies",
    grain="one group and one setting that would have helped it, by a replay of the window",
    key=("cluster", "group_id", "setting", "window_from"),
    time_column="window_from",
    columns=(
        CLUSTER,
        required("group_id", "STRING", "Consumer group"),
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        required("setting", "STRING", "What would have been set otherwise", codes=RemedySetting),
        optional(
            "value_now",
            "BIGINT",
            "The time-out in use, the shortest of the members concerned: of the session, for max_poll_interval"
            " max.poll.interval.ms; null where it is not a time, or not known",
            unit="ms",
        ),
        optional(
            "value_smallest",
            "BIGINT",
            "The smallest time-out that would have avoided the rebalances; for static_membership the session timeout"
            " that it needs; null for cooperative_assignment",
            unit="ms",
        ),
        required("rebalances_total", "INT", "Rebalances of the group in the window", unit="rebalances"),
        required("rebalances_avoided", "INT", "Those that would not have happened", unit="rebalances"),
        optional(
            "partition_seconds_avoided",
            "DOUBLE",
            "What would not have been paid; null where the cost is not known",
            unit="partition seconds",
        ),
        required("rebalance_ids", "ARRAY<STRING>", "The rebalances that would not have happened"),
        required(
            "confidence",
            "STRING",
            "How sure the replay is: it is never certain",
            codes=(Confidence.LIKELY, Confidence.POSSIBLE),
        ),
        required("explanation", "STRING", "What would have been, in one sentence"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
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
    ),
)
