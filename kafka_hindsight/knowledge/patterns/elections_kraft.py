"""Partition changes by a KRaft controller: creation, unclean elections, reassignment (Kafka 3.0-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import QUORUM_HEAD, TOPIC_PARTITION

_LOGGERS = ("org.apache.kafka.controller.ReplicationControlManager",)
_BUILDER_LOGGERS = ("org.apache.kafka.controller.PartitionChangeBuilder",)
_PERIODIC_LOGGERS = (
    "org.apache.kafka.controller.PeriodicTaskControlManager",
    "org.apache.kafka.controller.QuorumController",
)
_PACKAGE = "metadata/src/main/java/org/apache/kafka/controller"
_SOURCE = f"{_PACKAGE}/ReplicationControlManager.java"
_line = partial(Pattern, loggers=_LOGGERS, head=QUORUM_HEAD, versions="3.0-4.4")


PATTERNS = (
    _line(
        pattern_id="kraft.partition_created",
        kind=Kind.PARTITION_CREATED,
        regex=rf"(?:Replayed PartitionRecord for new|Created) partition {TOPIC_PARTITION} with topic ID \S+ and "
        r"PartitionRegistration\(replicas=\[(?P<replicas>[\d, ]*)\], (?:directories=\[[^\]]*\], )?isr=\[(?P<isr>[\d, ]*)\], "
        r"[\w=\[\], -]*?\bleader=(?P<leader>-?\d+), (?:leaderRecoveryState=\w+, )?leaderEpoch=(?P<leader_epoch>\d+), partitionEpoch=(?P<partition_epoch>\d+)\)\.$",
        source=f"{_SOURCE} replay",
    ),
    _line(
        pattern_id="kraft.unclean_partition_change",
        kind=Kind.UNCLEAN_PARTITION_CHANGE,
        # The diff names only what changed, in this order; each part may be missing. The brackets stay: an empty list
        # is a value, a missing one is null.
        regex=rf"UNCLEAN partition change for {TOPIC_PARTITION} with topic ID \S+: (?P<detail>"
        r"(?:(?=.*\bisr: (?P<previous_isr>\[[\d, ]*\]) -> (?P<isr>\[[\d, ]*\]))|)"
        r"(?:(?=.*\bleader: (?P<previous_leader>-?\d+) -> (?P<leader>-?\d+))|)"
        r"(?:(?=.*\bleaderEpoch: (?P<previous_leader_epoch>\d+) -> (?P<leader_epoch>\d+))|)"
        r".*)$",
        source="metadata/src/main/java/org/apache/kafka/metadata/PartitionRegistration.java maybeLogPartitionChange",
    ),
    Pattern(
        pattern_id="kraft.unclean_leader_set",
        kind=Kind.UNCLEAN_LEADER_SET,
        loggers=_BUILDER_LOGGERS,
        regex=r"^Setting new leader for topicId (?P<detail>\S+), partition (?P<partition>\d+) to (?P<leader>-?\d+) "
        r"using an unclean election(?:\..*)?$",
        versions="3.6-4.4",
        source=f"{_PACKAGE}/PartitionChangeBuilder.java electLeader",
    ),
    _line(
        pattern_id="kraft.unclean_election_started",
        kind=Kind.ELECTION_STARTED,
        regex=r"Triggering unclean leader election for offline partition (?P<members>[\w.-]+-\d+)\.(?: .*)?$",
        versions="3.9-4.4",
        source=f"{_SOURCE} maybeTriggerUncleanLeaderElectionForLeaderlessPartitions",
        constants={"reason": "UNCLEAN", "detail": "electUnclean"},
    ),
    Pattern(
        pattern_id="kraft.periodic_election",
        kind=Kind.PERIODIC_ELECTION,
        loggers=_PERIODIC_LOGGERS,
        regex=QUORUM_HEAD
        + r"(?:Periodic task )?(?P<reason>electPreferred|electUnclean|maybeBalancePartitionLeaders|maybeElectUncleanLeaders):? "
        r"generated (?P<event_count>\d+) records in \d+ microseconds\..*$",
        versions="3.9-4.4",
        source=f"{_PACKAGE}/PeriodicTaskControlManager.java PeriodicTaskOperation",
    ),
    _line(
        pattern_id="kraft.reassignment_changed",
        kind=Kind.REASSIGNMENT_CHANGED,
        regex=r"Replayed partition assignment change (?P<detail>PartitionChangeRecord\(partitionId=(?P<partition>\d+), [^()]*\)) "
        r"for topic (?P<topic>[\w.-]+)(?:\. \(isr: \[[\d, ]*\] -> \[[\d, ]*\], replicaSet: \[[\d, ]*\] -> \[(?P<replicas>[\d, ]*)\], "
        r"partitionEpoch: (?P<partition_epoch>\d+), leaderEpoch: (?P<leader_epoch>\d+)\))?$",
        versions="3.0-4.4",
        source=f"{_SOURCE} replay",
    ),
    _line(
        pattern_id="kraft.reassignment_completed",
        kind=Kind.REASSIGNMENT_CHANGED,
        regex=rf"(?:AlterPartition|AlterIsr) request from node \d+ for {TOPIC_PARTITION} (?P<detail>completed the ongoing partition reassignment"
        r"(?: and triggered a leadership change)?)(?: isr: \[[\d, ]*\] -> \[(?P<isr>[\d, ]*)\], replicaSet: \[[\d, ]*\] -> "
        r"\[(?P<replicas>[\d, ]*)\], partitionEpoch: \d+ -> (?P<partition_epoch>\d+), leaderEpoch: \d+ -> (?P<leader_epoch>\d+))?"
        r"\..*$",
        versions="3.0-4.4",
        source=f"{_SOURCE} alterPartition",
    ),
    _line(
        pattern_id="kraft.isr_update_rejected",
        kind=Kind.ISR_UPDATE_REJECTED,
        regex=rf"Rejecting (?:AlterPartition|alterIsr) request from node (?P<node>\d+) for {TOPIC_PARTITION} because (?P<error>.+)$",
        source=f"{_SOURCE} validateAlterPartitionData",
    ),
)
