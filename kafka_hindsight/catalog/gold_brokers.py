"""Gold: what brokers did to their replicas, how a cluster was restarted, and who was its controller."""

from kafka_hindsight.catalog.codes import ControllerChangeCause, Intent, OutOfSyncKind
from kafka_hindsight.catalog.gold_columns import CLUSTER, CONFIDENCE, EVIDENCE, HAS_EVIDENCE, VERSION
from kafka_hindsight.catalog.model import Check, Table, optional, required

OUT_OF_SYNC_PERIODS = Table(
    layer="gold",
    name="out_of_sync_periods",
    grain="one broker out of ISRs that it belongs to, from its first shrink to its last return",
    key=("out_of_sync_period_id",),
    time_column="started_at",
    columns=(
        CLUSTER,
        required("out_of_sync_period_id", "STRING", "Hash of what it is"),
        required("broker", "INT", "Broker that was out"),
        required("started_at", "TIMESTAMP", "When the first partition lost it"),
        optional("ended_at", "TIMESTAMP", "When the last partition had it back; null while one has not"),
        required(
            "kind",
            "STRING",
            "outage: it was away; slow: it was alive and fetched too late; disk: its log directory failed;"
            " reassignment: it was moved away",
            codes=OutOfSyncKind,
        ),
        optional("outage_id", "STRING", "The broker outage behind it; of several the first"),
        optional(
            "suspected_broker", "INT", "Broker that the trouble points to: the one that was out, or its slow leader"
        ),
        required("removed_by_leader", "ARRAY<INT>", "Leaders that dropped it since it lagged"),
        required("partitions", "INT", "Partitions whose ISR lost it"),
        required("partitions_out", "INT", "Those of them that never had it back"),
        required("shrinks", "INT", "How often an ISR lost it"),
        required("expands", "INT", "How often an ISR had it back"),
        required("flaps", "INT", "How often a partition lost it again within the period"),
        required("cycles", "INT", "Most shrinks that were followed by a return, of one partition within 30 minutes"),
        required(
            "partition_ms",
            "BIGINT",
            "Time that partitions were without it, summed; what is still out counts to the window's end",
            unit="ms",
        ),
        optional(
            "records_behind",
            "BIGINT",
            "Farthest that a leader saw it behind; null where not logged",
            unit="records",
        ),
        required("worst_topics", "ARRAY<STRING>", "Topics, those first whose partitions were without it longest"),
        CONFIDENCE,
        required("explanation", "STRING", "What happened, in a few sentences"),
        required("advice", "STRING", "What to do about it"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("ends_after_start", "ended_at >= started_at", "a period ends no earlier than it starts"),
        Check("open_where_out", "ended_at IS NOT NULL OR partitions_out > 0", "a period without an end is still open"),
        Check("out_bounded", "partitions_out <= partitions", "no more are out than were lost"),
        Check("returns_bounded", "expands <= shrinks", "a replica returns at most as often as it leaves"),
        Check("flaps_counted", "flaps >= shrinks - partitions", "each partition is lost once before it is lost again"),
        Check("time_not_negative", "partition_ms >= 0", "a duration is not negative"),
        HAS_EVIDENCE,
    ),
)

_SCORE = (
    "ARRAY<STRUCT<broker: INT, outage_id: STRING, kind: STRING, down_at: TIMESTAMP, up_at: TIMESTAMP,"
    " isr_recovered_ms: BIGINT, leadership_restored_ms: BIGINT, is_early: BOOLEAN, partitions_led_before: INT,"
    " elections: INT>>"
)

ROLLING_RESTARTS = Table(
    layer="gold",
    name="rolling_restarts",
    grain="one cluster restarted broker by broker",
    key=("restart_id",),
    time_column="started_at",
    columns=(
        CLUSTER,
        required("restart_id", "STRING", "Hash of what it is"),
        required("started_at", "TIMESTAMP", "When the first broker was stopped"),
        optional("ended_at", "TIMESTAMP", "When the last broker served again; null where one has not"),
        required("brokers", "ARRAY<INT>", "Brokers in the order in which they were stopped"),
        required("intent", "STRING", "Whether each of these stops had been declared", codes=Intent),
        required("is_complete", "BOOLEAN", "Whether it holds every broker that is known of"),
        required(
            "scorecard",
            _SCORE,
            "Each broker's stop. isr_recovered_ms, leadership_restored_ms: from its stop until it was back in every"
            " ISR, led again what it had led; is_early: stopped before the one before was back in every ISR; null"
            " where not known",
        ),
        required("elections", "INT", "Leader changes that it caused"),
        required("rebalances", "INT", "Rebalances in incidents that it accounts for"),
        required("max_under_replicated", "INT", "Most partitions that lacked one of these brokers at one instant"),
        CONFIDENCE,
        required("explanation", "STRING", "What happened, in a few sentences"),
        required("advice", "STRING", "What to do about it"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("ends_after_start", "ended_at >= started_at", "a restart ends no earlier than it starts"),
        Check("two_at_least", "size(brokers) <> 1", "one broker alone is not a rolling restart"),
        Check("each_scored", "size(brokers) = size(scorecard)", "every broker has its line in the scorecard"),
        Check("each_once", "size(array_distinct(brokers)) = size(brokers)", "a broker is restarted once"),
        HAS_EVIDENCE,
    ),
)

CONTROLLER_CHANGES = Table(
    layer="gold",
    name="controller_changes",
    grain="one new controller, or elections that no line shows a node to win",
    key=("cluster", "epoch", "happened_at"),
    time_column="happened_at",
    columns=(
        CLUSTER,
        required("happened_at", "TIMESTAMP", "When it became the controller; without one, since when"),
        optional("controller_from", "INT", "Controller before"),
        required("controller_to", "INT", "Controller after; -1: no line shows one"),
        required("epoch", "INT", "Controller epoch; without a controller the next one that can be"),
        required("cause", "STRING", "Why it changed", codes=ControllerChangeCause),
        optional("outage_id", "STRING", "The absence of the former controller behind it"),
        optional(
            "elections",
            "INT",
            "Elections that were begun for it, by the node that began most; null where no line shows one",
        ),
        optional("uncontrolled_low_ms", "BIGINT", "How long the cluster had no controller, at least", unit="ms"),
        optional("uncontrolled_high_ms", "BIGINT", "At most; null where it is not known", unit="ms"),
        CONFIDENCE,
        required("explanation", "STRING", "Why the former controller is it no more, in one sentence"),
        VERSION,
        EVIDENCE,
    ),
    checks=(HAS_EVIDENCE,),
)
