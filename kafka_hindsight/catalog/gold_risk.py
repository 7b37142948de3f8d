"""Gold: what partitions risked, and what the loss of a broker or a rack would cost tonight."""

from kafka_hindsight.catalog.codes import LossScope
from kafka_hindsight.catalog.gold_columns import CLUSTER, EVIDENCE, HAS_EVIDENCE, VERSION
from kafka_hindsight.catalog.model import Check, Table, optional, required

_TIMES = (
    "leaderless_low_ms",
    "leaderless_high_ms",
    "under_replicated_ms",
    "under_min_isr_ms",
    "at_min_isr_ms",
    "one_from_offline_ms",
    "one_from_unclean_ms",
    "known_ms",
)
_LENGTH = "(unix_millis(window_to) - unix_millis(window_from))"

PARTITION_RISKS = Table(
    layer="gold",
    name="partition_risks",
    grain="one partition over the window, where it risked anything",
    key=("cluster", "topic", "partition", "window_from"),
    time_column="window_from",
    columns=(
        CLUSTER,
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        optional("replication_factor", "INT", "Its replicas, as last reported; null where not known"),
        optional(
            "min_insync_replicas",
            "INT",
            "min.insync.replicas in force last, its own or the brokers'; null where not known",
        ),
        required("elections", "INT", "How often another leader was elected", unit="elections"),
        required("leaderless_low_ms", "BIGINT", "How long it had no leader, at least", unit="ms"),
        optional(
            "leaderless_high_ms",
            "BIGINT",
            "How long it had no leader, at most; null where nothing bounds one of its elections",
            unit="ms",
        ),
        optional(
            "under_replicated_ms",
            "BIGINT",
            "How long fewer replicas were in sync than it has; at least, see known_ms; null where no ISR is known",
            unit="ms",
        ),
        optional(
            "under_min_isr_ms",
            "BIGINT",
            "How long fewer than min.insync.replicas were in sync, so that acks=all could not write; of a setting above"
            " the number of replicas only that number counts, as since Kafka 3.7; null where one of them is not known",
            unit="ms",
        ),
        optional(
            "at_min_isr_ms",
            "BIGINT",
            "How long just as many were in sync: one more lost and acks=all cannot write; null as above",
            unit="ms",
        ),
        optional(
            "one_from_offline_ms",
            "BIGINT",
            "How long its leader alone was in sync and no other could be elected, or only uncleanly and it is not known"
            " whether that is allowed: one failure from being offline; eligible leader replicas count where a witness"
            " shows them, and only the metadata log shows all of them; null where no ISR is known",
            unit="ms",
        ),
        optional(
            "one_from_unclean_ms",
            "BIGINT",
            "How long its leader alone was in sync and unclean elections were enabled: one failure from losing records;"
            " null where no ISR is known",
            unit="ms",
        ),
        optional("worst_isr_size", "INT", "Fewest replicas in sync at any known time; null where no ISR is known"),
        required("first_at", "TIMESTAMP", "When it first risked anything in the window"),
        required("last_at", "TIMESTAMP", "When it last did"),
        required(
            "known_ms",
            "BIGINT",
            "How long of the window its ISR is known; the rest may add to each time above",
            unit="ms",
        ),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check(
            "times_within_window",
            " AND ".join(f"coalesce({name}, 0) BETWEEN 0 AND {_LENGTH}" for name in _TIMES),
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
    ),
)

LOSS_SIMULATIONS = Table(
    layer="gold",
    name="loss_simulations",
    grain="one broker or rack, were it lost at the last reading of the window",
    key=("cluster", "snapshot_at", "scope_kind", "scope"),
    time_column="snapshot_at",
    columns=(
        CLUSTER,
        required("snapshot_at", "TIMESTAMP", "The reading"),
        required("scope_kind", "STRING", "What is lost", codes=LossScope),
        required("scope", "STRING", "Which one: the broker's id, or the rack's name"),
        required("broker_ids", "ARRAY<INT>", "The brokers that go with it"),
        required("partitions_hosted", "INT", "Partitions with a replica there", unit="partitions"),
        required(
            "partitions_offline",
            "INT",
            "Those that no broker could lead: no other replica in sync, and an unclean election not known to be "
            "enabled",
            unit="partitions",
        ),
        required(
            "partitions_unclean",
            "INT",
            "Those that would elect a leader from outside the ISR, and lose records",
            unit="partitions",
        ),
        required(
            "partitions_unwritable",
            "INT",
            "Those with a leader whose ISR would fall below min.insync.replicas, so that acks=all could not write",
            unit="partitions",
        ),
        required(
            "partitions_unjudged",
            "INT",
            "Those that keep a leader and lose a replica in sync, and whose min.insync.replicas is not known",
            unit="partitions",
        ),
        required("leaders_to_move", "INT", "Partitions whose leader would move to another broker", unit="partitions"),
        optional(
            "group_ids",
            "ARRAY<STRING>",
            "Groups whose coordinator would move, or be gone with its partition of __consumer_offsets; null where the"
            " reading has no groups or not that topic",
        ),
        optional(
            "stranded_group_ids",
            "ARRAY<STRING>",
            "Those of them that no broker could coordinate: their partition of __consumer_offsets would be offline",
        ),
        required(
            "worst_partitions",
            "ARRAY<STRING>",
            "The first 20 of those that would be offline, unclean or unwritable, in this order, by name",
        ),
        required("explanation", "STRING", "What would happen, in one sentence"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check(
            "hosted_counts",
            "greatest(partitions_offline, partitions_unclean, partitions_unwritable, partitions_unjudged,"
            " leaders_to_move) <= partitions_hosted",
            "nothing happens to more partitions than have a replica there",
        ),
        Check(
            "stranded_lose_theirs",
            "size(array_except(stranded_group_ids, group_ids)) = 0",
            "who cannot be coordinated loses the coordinator",
        ),
        Check("worst_few", "size(worst_partitions) <= 20", "twenty names are enough"),
        HAS_EVIDENCE,
    ),
)
