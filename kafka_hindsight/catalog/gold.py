"""Gold: the timelines and verdicts people read."""

from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from operator import attrgetter
from pkgutil import iter_modules

from kafka_hindsight import catalog
from kafka_hindsight.catalog.codes import (
    FailoverKind,
    FindingSeverity,
    Intent,
    IsrChangeKind,
    LagStatus,
    MoveEffect,
    OutageKind,
    OutOfSyncKind,
    StartFailure,
)
from kafka_hindsight.catalog.gold_balance import IMBALANCE_PERIODS as IMBALANCE_PERIODS
from kafka_hindsight.catalog.gold_balance import LEADER_BALANCE as LEADER_BALANCE
from kafka_hindsight.catalog.gold_brokers import CONTROLLER_CHANGES as CONTROLLER_CHANGES
from kafka_hindsight.catalog.gold_brokers import OUT_OF_SYNC_PERIODS as OUT_OF_SYNC_PERIODS
from kafka_hindsight.catalog.gold_brokers import ROLLING_RESTARTS as ROLLING_RESTARTS
from kafka_hindsight.catalog.gold_columns import CLUSTER, CONFIDENCE, EVIDENCE, HAS_EVIDENCE, VERSION
from kafka_hindsight.catalog.gold_groups import REBALANCES as REBALANCES
from kafka_hindsight.catalog.gold_groups import REMEDIES as REMEDIES
from kafka_hindsight.catalog.gold_incidents import INCIDENTS as INCIDENTS
from kafka_hindsight.catalog.gold_losses import TRUNCATIONS as TRUNCATIONS
from kafka_hindsight.catalog.gold_risk import LOSS_SIMULATIONS as LOSS_SIMULATIONS
from kafka_hindsight.catalog.gold_risk import PARTITION_RISKS as PARTITION_RISKS
from kafka_hindsight.catalog.gold_settings import MEMBER_SETTINGS as MEMBER_SETTINGS
from kafka_hindsight.catalog.gold_unavailability import UNAVAILABILITY as UNAVAILABILITY
from kafka_hindsight.catalog.model import Check, Table, optional, required
from kafka_hindsight.catalog.order import in_waves

FAILOVERS = Table(
    layer="gold",
    name="failovers",
    grain="one change of one partition's leader",
    key=("failover_id",),
    time_column="happened_at",
    columns=(
        CLUSTER,
        required("failover_id", "STRING", "Hash of cluster, topic, partition and leader epoch"),
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("happened_at", "TIMESTAMP", "When the leader changed, at the active controller where it speaks"),
        optional("leader_from", "INT", "Leader before; -1: none"),
        optional("leader_to", "INT", "Leader after; -1: none"),
        optional("epoch_from", "INT", "Leader epoch before"),
        optional("epoch_to", "INT", "Leader epoch after"),
        required(
            "topic_incarnation",
            "INT",
            "How often its topic had been deleted before, as far as the records show: epochs start again in each "
            "incarnation",
        ),
        required("kind", "STRING", "Why the leader changed", codes=FailoverKind),
        optional(
            "requested_by_operator",
            "BOOLEAN",
            "Whether a person or a tool asked for it, and not Kafka's own tasks; null where not known, or"
            " the question makes no sense",
        ),
        optional("leaderless_ms", "BIGINT", "How long the partition had no leader; null where not known", unit="ms"),
        optional(
            "leaderless_low_ms",
            "BIGINT",
            "How long it had no leader, at least: from the first proof that the old leader no longer led to the"
            " first possible lead of the new one; null where no proof bounds it",
            unit="ms",
        ),
        optional(
            "leaderless_high_ms",
            "BIGINT",
            "How long it had no leader, at most: from the last proof that the old leader led to the first proof"
            " that the new one did; where no replica could take over (kind offline), both reach until it had a "
            "leader again"
            " bounds",
            unit="ms",
        ),
        optional("preferred_leader", "INT", "First of its replicas; null where not known"),
        optional("isr_before", "ARRAY<INT>", "In-sync replicas before"),
        optional("isr_after", "ARRAY<INT>", "In-sync replicas after"),
        optional("records_lost_low", "BIGINT", "Records lost at least; null where nothing can be lost", unit="records"),
        optional("records_lost_high", "BIGINT", "Records lost at most; null where nothing can be lost", unit="records"),
        optional("outage_id", "STRING", "The broker outage behind it"),
        optional("incident_id", "STRING", "The incident it belongs to; null where it belongs to none"),
        CONFIDENCE,
        required("explanation", "STRING", "What happened, in one sentence"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("leader_changed", "leader_from <> leader_to", "a failover changes the leader"),
        Check("epoch_rises", "epoch_to > epoch_from", "a failover raises the leader epoch"),
        Check("leaderless_not_negative", "leaderless_ms >= 0", "a duration is not negative"),
        Check(
            "leaderless_bounded",
            "leaderless_low_ms >= 0 AND leaderless_low_ms <= coalesce(leaderless_ms, leaderless_high_ms)"
            " AND leaderless_high_ms >= leaderless_ms",
            "the time without a leader lies within its bounds",
        ),
        Check(
            "loss_bounds_ordered",
            "records_lost_low <= records_lost_high",
            "the lower bound of a loss is not above the upper",
        ),
        HAS_EVIDENCE,
    ),
)

BROKER_OUTAGES = Table(
    layer="gold",
    name="broker_outages",
    grain="one absence of one broker",
    key=("outage_id",),
    time_column="down_at",
    columns=(
        CLUSTER,
        required("outage_id", "STRING", "Hash of what it is"),
        required("broker", "INT", "Broker id"),
        required("kind", "STRING", "Kind of absence", codes=OutageKind),
        required("intent", "STRING", "Whether it had been declared", codes=Intent),
        required("down_at", "TIMESTAMP", "Start of its shutdown, or its last sign of life"),
        optional("detected_at", "TIMESTAMP", "When it was fenced, or missed by the controller"),
        optional(
            "last_heard_at",
            "TIMESTAMP",
            "Its own last line before the absence, or its order to shut down; null where its log is not at hand",
        ),
        optional(
            "unreachable_at",
            "TIMESTAMP",
            "First failure of another broker to reach it before it was detected as down; null where not known",
        ),
        optional(
            "up_at", "TIMESTAMP", "When it served again, or the first proof that it did; null while none is known"
        ),
        required("failed_starts", "INT", "Starts that failed while it was away: several are a crash loop"),
        optional("start_failure", "STRING", "Why these failed; null where none did", codes=StartFailure),
        optional("away_low_ms", "BIGINT", "How long it was away, at least: from proof to proof of that", unit="ms"),
        optional("away_high_ms", "BIGINT", "At most: from the last proof that it served to the next", unit="ms"),
        optional("isr_recovered_at", "TIMESTAMP", "When it was back in every ISR it had been in"),
        optional("leadership_restored_at", "TIMESTAMP", "When it led again what it had led"),
        optional("elections", "INT", "Leader changes it caused"),
        optional("partitions_led_before", "INT", "Partitions it led when it went"),
        required("group_ids", "ARRAY<STRING>", "Groups whose coordinator moved, or that rebalanced"),
        optional("isr_shrinks", "INT", "How often a partition's ISR lost the broker through it"),
        optional("isr_expands", "INT", "How often a partition's ISR got it back from it"),
        optional("coordinator_moves", "INT", "Times that a group's coordinator moved through it"),
        optional("rebalances", "INT", "Rebalances in incidents that it accounts for"),
        optional("partition_seconds", "DOUBLE", "What those cost; null where none's cost is known", unit="s"),
        optional("restart_id", "STRING", "The rolling restart of the cluster that it belongs to"),
        optional("incident_id", "STRING", "The incident it belongs to"),
        CONFIDENCE,
        required("explanation", "STRING", "What happened, when it was over and who was disturbed, in a few sentences"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("up_after_down", "up_at >= down_at", "a broker comes back no earlier than it went"),
        Check("detected_after_down", "detected_at >= down_at", "an absence is noticed no earlier than it begins"),
        HAS_EVIDENCE,
    ),
)

ISR_CHANGES_TABLE = Table(
    layer="gold",
    name="isr_changes",
    grain="one shrink or expansion of one partition's ISR",
    key=("isr_change_id",),
    time_column="happened_at",
    columns=(
        CLUSTER,
        required("isr_change_id", "STRING", "Hash of what it is"),
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("happened_at", "TIMESTAMP", "When the ISR changed"),
        required("change", "STRING", "What it did", codes=IsrChangeKind),
        required("broker", "INT", "Broker that left or came"),
        optional("isr_before", "ARRAY<INT>", "In-sync replicas before"),
        optional("isr_after", "ARRAY<INT>", "In-sync replicas after"),
        optional(
            "shrink_cause",
            "STRING",
            "Why the broker was out: of a shrink, and of the expansion that ends it; null for a new replica's",
            codes=OutOfSyncKind,
        ),
        optional("outage_id", "STRING", "The broker outage behind it"),
        optional(
            "out_of_sync_until",
            "TIMESTAMP",
            "Shrink: when it was in again, or nothing was left to be in (topic deleted, replica moved); null while out",
        ),
        optional("removed_by_leader", "INT", "Shrink: the leader that dropped it since it lagged; null where none did"),
        optional(
            "records_behind",
            "BIGINT",
            "Shrink: how far it was behind that leader; null where not logged",
            unit="records",
        ),
        optional(
            "behind_since",
            "TIMESTAMP",
            "Shrink: when that leader had last seen it caught up; null where not logged",
        ),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("out_before_in", "out_of_sync_until >= happened_at", "a broker is in again no earlier than it was out"),
        Check("behind_before_dropped", "records_behind >= 0", "no replica is ahead of the leader"),
        HAS_EVIDENCE,
    ),
)

COORDINATOR_MOVES = Table(
    layer="gold",
    name="coordinator_moves",
    grain="one group's coordinator changing broker",
    key=("coordinator_move_id",),
    time_column="moved_at",
    columns=(
        CLUSTER,
        required("coordinator_move_id", "STRING", "Hash of what it is"),
        required("group_id", "STRING", "Consumer group"),
        optional("offsets_partition", "INT", "Partition of __consumer_offsets that keeps the group"),
        required("moved_at", "TIMESTAMP", "When the new coordinator had loaded the group"),
        optional("broker_from", "INT", "Coordinator before"),
        required("broker_to", "INT", "Coordinator after"),
        optional("outage_id", "STRING", "The broker outage behind it"),
        optional(
            "effect",
            "STRING",
            "What it did to the group; null where the lines do not reach far enough to tell",
            codes=MoveEffect,
        ),
        optional("rebalance_id", "STRING", "The rebalance that it cut short, or that followed from it"),
        VERSION,
        EVIDENCE,
    ),
    checks=(Check("broker_changed", "broker_from <> broker_to", "a move changes the broker"), HAS_EVIDENCE),
)

OWNERSHIP = Table(
    layer="gold",
    name="ownership",
    grain="one partition owned by one member of a group in one generation, from when to when",
    key=("cluster", "group_id", "topic", "partition", "member_id", "valid_from"),
    time_column="valid_from",
    columns=(
        CLUSTER,
        required("group_id", "STRING", "Consumer group"),
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("member_id", "STRING", "Member that owned it"),
        optional("client_id", "STRING", "Client id of the member"),
        optional("host", "STRING", "Host of the member"),
        required("valid_from", "TIMESTAMP", "When the assignment was written, else the first reading that saw it"),
        required(
            "valid_to",
            "TIMESTAMP",
            "When the next one was written, else the first reading that saw it no more, or the end of the window",
        ),
        required("is_open", "BOOLEAN", "Whether it still held at the end of the window"),
        optional(
            "generation",
            "INT",
            "Generation of the assignment, under KIP-848 the member's epoch; null where only readings tell",
        ),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("ends_after_start", "valid_to >= valid_from", "an ownership ends no earlier than it starts"),
        HAS_EVIDENCE,
    ),
)

LEADER_IMBALANCE = Table(
    layer="gold",
    name="leader_imbalance",
    grain="one broker at one snapshot",
    key=("cluster", "snapshot_at", "broker"),
    time_column="snapshot_at",
    columns=(
        CLUSTER,
        required("snapshot_at", "TIMESTAMP", "The reading"),
        required("broker", "INT", "Broker id"),
        required("preferred_partitions", "INT", "Partitions whose first replica it is"),
        required("led_elsewhere", "INT", "Those of them that another broker leads, or none"),
        optional("ratio", "DOUBLE", "led_elsewhere over preferred_partitions; null where it is preferred for none"),
        required("over_threshold", "BOOLEAN", "Whether the ratio is strictly above 0.10"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("ratio_bounded", "ratio BETWEEN 0 AND 1", "a ratio lies between 0 and 1"),
        Check(
            "elsewhere_bounded",
            "led_elsewhere BETWEEN 0 AND preferred_partitions",
            "no more are led elsewhere than there are",
        ),
        Check(
            "threshold_strict", "over_threshold = coalesce(ratio > 0.10, false)", "the threshold is strictly above 0.10"
        ),
        HAS_EVIDENCE,
    ),
)

LAG_VERDICTS = Table(
    layer="gold",
    name="lag_verdicts",
    grain="one group, topic and partition over the window",
    key=("cluster", "group_id", "topic", "partition", "window_from"),
    time_column="window_from",
    columns=(
        CLUSTER,
        required("group_id", "STRING", "Consumer group"),
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        required("status", "STRING", "Verdict on the partition's consumer", codes=LagStatus),
        optional("lag_first", "BIGINT", "Lag at the first reading", unit="records"),
        optional("lag_last", "BIGINT", "Lag at the last reading", unit="records"),
        optional("lag_max", "BIGINT", "Largest lag of any reading", unit="records"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("evidence_quoted", "status = 'ok' OR size(evidence) > 0", "every verdict but ok quotes what proves it"),
    ),
)

FINDINGS = Table(
    layer="gold",
    name="findings",
    grain="one thing a person should know",
    key=("finding_id",),
    time_column="first_at",
    columns=(
        CLUSTER,
        required("finding_id", "STRING", "Hash of what it is"),
        required("rule_id", "STRING", "The rule that fired"),
        required("severity", "STRING", "How bad it is", codes=FindingSeverity),
        required(
            "subject_kind", "STRING", "What it is about: group, broker, topic, partition, cluster, source, reading"
        ),
        required("subject", "STRING", "Which one"),
        required("first_at", "TIMESTAMP", "When it began"),
        required("last_at", "TIMESTAMP", "When it was seen last"),
        required("message", "STRING", "What was found, in one sentence"),
        required("advice", "STRING", "What to do about it"),
        required("source", "STRING", "Where the threshold comes from"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("ends_after_start", "last_at >= first_at", "a finding ends no earlier than it begins"),
        HAS_EVIDENCE,
    ),
)


def declared() -> Iterator[Table]:
    """The tables of gold: those of this module, and of each module beside it whose name begins with `gold_`."""
    for module in iter_modules(catalog.__path__):
        if module.name == "gold" or module.name.startswith("gold_"):
            values = vars(import_module(f"{catalog.__name__}.{module.name}")).values()
            yield from (value for value in values if isinstance(value, Table))


TABLES = tuple(chain.from_iterable(in_waves(sorted(set(declared()), key=attrgetter("name")))))
"""In the order of publication: what others refer to comes first, else by name."""
