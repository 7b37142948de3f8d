"""Partition changes by a ZooKeeper controller: creation, elections, reassignment (Kafka 1.0-3.9)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import TOPIC_PARTITION

_LOGGERS = ("kafka.controller.KafkaController",)
_STATE_LOGGERS = ("state.change.logger",)
_HEAD = r"^\[Controller id=\d+\] "
_STATE_HEAD = r"^\[Controller id=\d+ epoch=(?P<controller_epoch>\d+)\] "
_SOURCE = "core/src/main/scala/kafka/controller/KafkaController.scala"
_STATE_SOURCE = "core/src/main/scala/kafka/controller/PartitionStateMachine.scala"
_line = partial(Pattern, loggers=_LOGGERS, head=_HEAD, versions="1.0-3.9")
_line_of_state = partial(Pattern, loggers=_STATE_LOGGERS, head=_STATE_HEAD, versions="2.6-3.9")


PATTERNS = (
    _line(
        pattern_id="zookeeper.election_started",
        kind=Kind.ELECTION_STARTED,
        regex=r"Starting replica leader election \((?P<reason>\w+)\) for partitions (?P<members>[\w.,-]*) triggered by (?P<detail>\w+)$",
        versions="2.4-3.9",
        source=f"{_SOURCE} onReplicaElection",
    ),
    _line(
        pattern_id="zookeeper.preferred_election_started",
        kind=Kind.ELECTION_STARTED,
        regex=r"Starting preferred replica leader election for partitions (?P<members>[\w.,-]*)$",
        versions="1.0-2.3",
        source=f"{_SOURCE} onPreferredReplicaElection",
        constants={"reason": "PREFERRED"},
    ),
    _line(
        pattern_id="zookeeper.preferred_election_completed",
        kind=Kind.PREFERRED_ELECTION_COMPLETED,
        regex=rf"Partition {TOPIC_PARTITION} completed preferred replica leader election\. New leader is (?P<leader>\d+)$",
        source=f"{_SOURCE} removePartitionsFromPreferredReplicaElection",
    ),
    _line(
        pattern_id="zookeeper.leader_imbalance_seen",
        kind=Kind.LEADER_IMBALANCE_SEEN,
        regex=r"Leader imbalance ratio for broker (?P<node>\d+) is (?P<detail>[\d.E-]+)$",
        source=f"{_SOURCE} checkAndTriggerAutoLeaderRebalance",
    ),
    _line(
        pattern_id="zookeeper.reassignment_changed",
        kind=Kind.REASSIGNMENT_CHANGED,
        regex=rf"(?P<detail>(?:Target replicas .* have all|\d+/\d+ replicas have) caught up with the leader) for (?:reassigning )?partition {TOPIC_PARTITION}"
        r"(?: being reassigned\. ?Resuming partition reassignment)?$",
        source=f"{_SOURCE} onPartitionReassignment",
    ),
    _line(
        pattern_id="zookeeper.leader_reassigned",
        kind=Kind.REASSIGNMENT_CHANGED,
        regex=rf"Leader (?P<leader>\d+) for partition {TOPIC_PARTITION} being reassigned, "
        r"(?P<detail>is (?:not in the new list of replicas|in the new list of replicas) .*)$",
        versions="2.4-3.9",
        source=f"{_SOURCE} moveReassignedPartitionLeaderIfRequired",
    ),
    _line_of_state(
        pattern_id="zookeeper.partition_created",
        kind=Kind.PARTITION_CREATED,
        regex=rf"Changed partition {TOPIC_PARTITION} state from NonExistentPartition to NewPartition with assigned replicas (?P<replicas>[\d,]+)$",
        source=f"{_STATE_SOURCE} doHandleStateChanges",
    ),
    _line_of_state(
        pattern_id="zookeeper.partition_state_changed",
        kind=Kind.PARTITION_STATE_CHANGED,
        regex=rf"Changed partition {TOPIC_PARTITION} from (?P<previous_state>\w+) to (?P<state>\w+) with state "
        r"LeaderAndIsr\(leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+), "
        r"isr(?:WithBrokerEpoch)?=List\((?P<isr>[\d, ]*|BrokerState\([\w=,() -]*?\))\), "
        r"(?:leaderRecoveryState=(?P<detail>\w+), )?(?:zkVersion|partitionEpoch)=(?P<partition_epoch>\d+)\)$",
        source=f"{_STATE_SOURCE} doHandleStateChanges",
    ),
    Pattern(
        pattern_id="zookeeper.partition_state_failed",
        kind=Kind.PARTITION_STATE_FAILED,
        loggers=_STATE_LOGGERS,
        regex=r"^\[Controller id=\d+ epoch=\d+\] Controller \d+ epoch (?P<controller_epoch>\d+) failed to change state for partition "
        rf"{TOPIC_PARTITION} from (?P<previous_state>\w+) to (?P<state>\w+)$",
        versions="1.1-3.9",
        source=f"{_STATE_SOURCE} logFailedStateChange",
    ),
    _line_of_state(
        pattern_id="zookeeper.replica_removed_from_isr",
        kind=Kind.REPLICA_REMOVED_FROM_ISR,
        regex=rf"Partition {TOPIC_PARTITION} state changed to \(Leader:(?P<leader>-?\d+),ISR:(?P<isr>[\d,]*),(?:LeaderRecoveryState:\w+,)?"
        r"LeaderEpoch:(?P<leader_epoch>\d+),(?:(?:ZkVersion|PartitionEpoch):(?P<partition_epoch>\d+),)?ControllerEpoch:\d+\) "
        r"after removing replica (?P<node>\d+) from the ISR as part of transition to (?P<state>\w+)$",
        source="core/src/main/scala/kafka/controller/ReplicaStateMachine.scala removeReplicasFromIsr",
    ),
)
