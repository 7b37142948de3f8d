"""Gold: what was cut off replicas' logs, and whether anything committed went with it."""

from kafka_hindsight.catalog.codes import TruncationVerdict
from kafka_hindsight.catalog.gold_columns import CLUSTER, CONFIDENCE, EVIDENCE, HAS_EVIDENCE, VERSION
from kafka_hindsight.catalog.model import Check, Table, optional, required

TRUNCATIONS = Table(
    layer="gold",
    name="truncations",
    grain="one replica that cut its log, or dropped it to fetch it again",
    key=("truncation_id",),
    time_column="happened_at",
    columns=(
        CLUSTER,
        required("truncation_id", "STRING", "Hash of cluster, topic, partition, broker and time"),
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("broker", "INT", "Broker whose replica it is"),
        required("happened_at", "TIMESTAMP", "When it cut its log"),
        optional("leader", "INT", "Leader that it followed; null where not logged"),
        optional("leader_epoch", "INT", "Leader epoch that it followed; null where not logged"),
        required("is_whole", "BOOLEAN", "Whether it dropped its whole log, since the leader's begins above its end"),
        optional("log_end_before", "BIGINT", "End of its log before; null where not logged", unit="records"),
        required("truncated_to", "BIGINT", "Where its log ended after, or starts again", unit="records"),
        optional(
            "records_cut",
            "BIGINT",
            "Records cut off; null where the end before, or how much a whole log held, is not logged",
            unit="records",
        ),
        optional(
            "high_watermark",
            "BIGINT",
            "Highest high watermark logged for the time before its log diverged from the leader's; null where none is",
            unit="records",
        ),
        optional("failover_id", "STRING", "The change of leader that made it cut; null where none is known"),
        optional("outage_id", "STRING", "The absence behind that change"),
        required("verdict", "STRING", "Whether committed records were lost", codes=TruncationVerdict),
        CONFIDENCE,
        required("explanation", "STRING", "What was cut, and why that is or is not a loss"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
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
    ),
)
