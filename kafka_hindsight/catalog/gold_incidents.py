"""Gold: everything that happened in a window, each thing once, the most harmful first."""

from kafka_hindsight.catalog.codes import Cause, Fingerprint, Harm, IncidentKind, Intent
from kafka_hindsight.catalog.gold_columns import CLUSTER, CONFIDENCE, EVIDENCE, HAS_EVIDENCE, VERSION
from kafka_hindsight.catalog.model import Check, Table, optional, required

INCIDENTS = Table(
    layer="gold",
    name="incidents",
    grain="one thing that happened, with all that followed from it",
    key=("incident_id",),
    time_column="started_at",
    columns=(
        CLUSTER,
        required("incident_id", "STRING", "Hash of what it is"),
        required("kind", "STRING", "Kind of incident", codes=IncidentKind),
        required("intent", "STRING", "Whether it had been declared; it never changes a rank", codes=Intent),
        optional("declared_until", "TIMESTAMP", "End of the maintenance window that declares it; null without one"),
        optional("harm", "STRING", "The gravest thing that it did; null in rows of an earlier version", codes=Harm),
        optional(
            "harm_rank",
            "INT",
            "Its place among the incidents of its window, the most harmful first; null in rows of an earlier version",
        ),
        optional("headline", "STRING", "What happened, to what and for how long; null in rows of an earlier version"),
        required("started_at", "TIMESTAMP", "When it began"),
        optional("ended_at", "TIMESTAMP", "When the last of it was over; null while open"),
        optional(
            "is_over",
            "BOOLEAN",
            "Whether each partition could be used again, each broker was back and there was a controller when the logs"
            " end, and groups that a failure had stopped consumed; null in rows of an earlier version",
        ),
        required("group_ids", "ARRAY<STRING>", "Groups that rebalanced or fell behind"),
        required("rebalance_count", "INT", "Rebalances in it"),
        optional("cause", "STRING", "Why its rebalances began; null where it has none", codes=Cause),
        CONFIDENCE,
        optional(
            "fingerprint", "STRING", "What the rhythm of a storm resembles; null where it is none", codes=Fingerprint
        ),
        optional(
            "first_outage_id", "STRING", "The broker outage behind it; of several the first: broker_outages names them"
        ),
        optional("brokers", "ARRAY<INT>", "Brokers that were away, or whose replicas were out of sync"),
        optional("topics", "ARRAY<STRING>", "Topics that lost records, had no leader or took no writes"),
        optional("failover_count", "INT", "Changes of leaders in it"),
        optional("partitions_offline", "INT", "Partitions that had no leader for a second or longer"),
        optional("partitions_still_offline", "INT", "Of these, those that had none when the logs end"),
        optional(
            "offline_ms",
            "BIGINT",
            "Longest that one of them had no leader; where it was not over, at least",
            unit="ms",
        ),
        optional("offline_partition_seconds", "DOUBLE", "What these times add up to", unit="partition seconds"),
        optional(
            "partitions_refusing",
            "INT",
            "Partitions that refused writes with acks=all, or kept them waiting, for a second or longer",
        ),
        optional("refusing_ms", "BIGINT", "Longest that one of them did; where it was not over, at least", unit="ms"),
        optional("records_lost_low", "BIGINT", "Records lost at least; null where none can be lost", unit="records"),
        optional(
            "records_lost_high",
            "BIGINT",
            "Records lost at most; null where none can be lost, or nothing bounds it",
            unit="records",
        ),
        optional(
            "partition_seconds",
            "DOUBLE",
            "What its rebalances cost: partitions stopped times the seconds they stood",
            unit="partition seconds",
        ),
        required("explanation", "STRING", "What happened, in a few sentences"),
        required("advice", "STRING", "What to do about it"),
        optional("prevention", "STRING", "What would have prevented it, or made it milder"),
        optional("commands", "ARRAY<STRING>", "Commands that show how things are now, filled in"),
        optional("recurrence_id", "STRING", "Hash of what it is but for its time: the same on each night that has it"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
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
            "window_declares",
            "declared_until IS NULL OR intent = 'declared'",
            "only what was declared lies in a maintenance window",
        ),
        HAS_EVIDENCE,
    ),
)
