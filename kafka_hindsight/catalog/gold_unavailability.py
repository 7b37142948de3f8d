"""Gold: what could not be used, and for how long: the one ledger that every figure of unavailability comes from."""

from kafka_hindsight.catalog.codes import Intent, UnavailabilityKind
from kafka_hindsight.catalog.gold_columns import CLUSTER, CONFIDENCE, EVIDENCE, HAS_EVIDENCE, VERSION
from kafka_hindsight.catalog.model import Check, Table, optional, required

UNAVAILABILITY = Table(
    layer="gold",
    name="unavailability",
    grain="one interval in which one partition could not be used, or one group consumed nothing",
    key=("unavailability_id",),
    time_column="started_at",
    columns=(
        CLUSTER,
        required("unavailability_id", "STRING", "Hash of what it is"),
        required("kind", "STRING", "What could not be done", codes=UnavailabilityKind),
        optional("topic", "STRING", "Topic; null where it is about a group"),
        optional("partition", "INT", "Partition; null where it is about a group"),
        optional("group_id", "STRING", "Consumer group; null where it is about a partition"),
        required("started_at", "TIMESTAMP", "When it began, as the evidence shows it best"),
        optional("ended_at", "TIMESTAMP", "When it was over; null where it was not when the logs end"),
        optional(
            "earliest_start_at",
            "TIMESTAMP",
            "It began no earlier: the last proof that it had not begun; null where no proof bounds it",
        ),
        optional(
            "latest_end_at",
            "TIMESTAMP",
            "It was over no later: the first proof that it was; null where no proof bounds it, or it was not over",
        ),
        required(
            "low_ms",
            "BIGINT",
            "How long it lasted, at least: from the first proof that it had begun to the last that it was not over;"
            " 0 where no proof shows more",
            unit="ms",
        ),
        optional(
            "high_ms",
            "BIGINT",
            "How long it lasted, at most: from the last proof that it had not begun to the first that it was over;"
            " null where no proof bounds it, or it was not over",
            unit="ms",
        ),
        optional(
            "failover_id", "STRING", "The change of leader that left the partition without one; null for other kinds"
        ),
        optional("rebalance_id", "STRING", "The rebalance in which the group stopped; null for other kinds"),
        optional("outage_id", "STRING", "The broker outage behind it; null where none is, or it is not known"),
        optional("incident_id", "STRING", "The incident it belongs to; null where it belongs to none"),
        required(
            "intent",
            "STRING",
            "Whether the incident, or the interval that belongs to none, had been declared; it changes no figure",
            codes=Intent,
        ),
        CONFIDENCE,
        required("explanation", "STRING", "What could not be used, for how long and why, in a few sentences"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
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
    ),
)
