"""Gold: how evenly leaders are spread, and how long a broker led too few of the partitions it is preferred for."""

from kafka_hindsight.catalog.codes import FailoverKind, ImbalanceEnd
from kafka_hindsight.catalog.gold_columns import CLUSTER, EVIDENCE, HAS_EVIDENCE, VERSION
from kafka_hindsight.catalog.model import Check, Table, optional, required

LEADER_BALANCE = Table(
    layer="gold",
    name="leader_balance",
    grain="one scope at one snapshot: the usual definitions of balance, beside that of leader_imbalance",
    key=("cluster", "snapshot_at", "scope"),
    time_column="snapshot_at",
    columns=(
        CLUSTER,
        required("snapshot_at", "TIMESTAMP", "The reading"),
        required(
            "scope",
            "STRING",
            "all; without_internal: all but Kafka's own topics; rack:NAME: the brokers of a rack, and the partitions"
            " whose first replica is one of them",
        ),
        required("partitions", "INT", "Partitions in the scope", unit="partitions"),
        required("leaderless", "INT", "Those of them that have no leader", unit="partitions"),
        required("non_preferred", "INT", "Those that another than their first replica leads", unit="partitions"),
        optional(
            "non_preferred_share",
            "DOUBLE",
            "non_preferred over the partitions that have a leader (one less Kafdrop's preferred leaders percent);"
            " null where none has a leader",
        ),
        required("brokers", "INT", "Brokers in the scope; those that lead nothing count", unit="brokers"),
        optional("leaders_max", "INT", "Most partitions that one broker leads", unit="partitions"),
        optional("leaders_min", "INT", "Fewest partitions that one broker leads", unit="partitions"),
        optional(
            "leader_spread",
            "DOUBLE",
            "Leaders per broker: (max - min) / mean (Kafkistry warns above 0.10); null where none has a leader",
        ),
        optional(
            "leader_excess",
            "DOUBLE",
            "Leaders per broker: max / mean - 1 (kafka-ui's skew of the worst broker); null where none has a leader",
        ),
        required(
            "brokers_off_band",
            "INT",
            "Brokers that lead less than 0.91 or more than 1.09 of the mean (Cruise Control's"
            " leader.replica.count.balance.threshold 1.10 with its margin)",
            unit="brokers",
        ),
        optional(
            "coordinator_spread",
            "DOUBLE",
            "(max - min) / mean of the partitions of __consumer_offsets that each broker leads; null without any",
        ),
        optional(
            "group_spread",
            "DOUBLE",
            "(max - min) / mean of the groups that each broker coordinates; null where no reading shows coordinators",
        ),
        optional("most_loaded_broker", "INT", "The broker that leads most; the lowest id of several"),
        optional("least_loaded_broker", "INT", "The broker that leads least; the lowest id of several"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("share_bounded", "non_preferred_share BETWEEN 0 AND 1", "a share lies between 0 and 1"),
        Check(
            "parts_bounded",
            "leaderless <= partitions AND non_preferred <= partitions",
            "no more are leaderless, or led elsewhere, than there are",
        ),
        Check("spread_not_negative", "leader_spread >= 0 AND leader_excess >= 0", "a spread is not negative"),
        Check("max_above_min", "leaders_max >= leaders_min", "the most loaded broker leads no less than the least"),
        HAS_EVIDENCE,
    ),
)

IMBALANCE_PERIODS = Table(
    layer="gold",
    name="imbalance_periods",
    grain="one broker over the threshold of leader_imbalance: a period",
    key=("imbalance_period_id",),
    time_column="first_reading_at",
    columns=(
        CLUSTER,
        required("imbalance_period_id", "STRING", "Hash of cluster, broker and first reading"),
        required("broker", "INT", "Broker id"),
        required("started_at", "TIMESTAMP", "When it went over the threshold; may lie before the window"),
        required(
            "started_at_is_exact",
            "BOOLEAN",
            "Whether that is the change of leader that took it over the threshold, between two readings that agree with"
            " the logged changes; else it is the first reading that showed it, or the change of leader before it",
        ),
        optional("ended_at", "TIMESTAMP", "When it was back at the threshold or below; null while it is above"),
        required("ended_at_is_exact", "BOOLEAN", "Whether that is the change of leader that brought it back"),
        required("first_reading_at", "TIMESTAMP", "First reading of the window that showed it"),
        required("last_reading_at", "TIMESTAMP", "Last reading of the window that showed it"),
        required("readings", "INT", "Readings that showed it", unit="readings"),
        required("max_ratio", "DOUBLE", "Largest ratio of them"),
        required("worst_at", "TIMESTAMP", "The first reading with that ratio"),
        required("preferred_partitions", "INT", "Partitions that it was preferred for then", unit="partitions"),
        required("led_elsewhere", "INT", "Those of them that another broker led, or none", unit="partitions"),
        optional(
            "started_by",
            "STRING",
            "Kind of the change of leader that took it over the threshold; null where not known",
            codes=FailoverKind,
        ),
        optional("outage_id", "STRING", "The absence that left it behind"),
        optional(
            "ended_by",
            "STRING",
            "What brought leaders back; null while it lasts, and where no change of leader shows it",
            codes=ImbalanceEnd,
        ),
        required("explanation", "STRING", "What caused it, how bad it was, and whether an election ended it"),
        required("advice", "STRING", "What to do about it"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("starts_before_reading", "started_at <= first_reading_at", "it begins no later than it is seen"),
        Check("ends_after_reading", "ended_at >= last_reading_at", "it ends no earlier than it is seen last"),
        Check("readings_in_order", "last_reading_at >= first_reading_at", "the last reading is not before the first"),
        Check("over_gate", "10 * led_elsewhere > preferred_partitions", "more than 10% are led elsewhere"),
        Check("ratio_bounded", "max_ratio <= 1", "no more are led elsewhere than there are"),
        Check("exact_end_is_known", "ended_at IS NOT NULL OR NOT ended_at_is_exact", "an end that is exact is known"),
        HAS_EVIDENCE,
    ),
)
