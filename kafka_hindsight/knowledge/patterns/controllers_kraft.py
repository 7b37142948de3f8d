"""The actions of a KRaft controller, by its own lines (Kafka 3.0-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import QUORUM_HEAD

_QUORUM_LOGGERS = ("org.apache.kafka.controller.QuorumController",)
_RAFT_LOGGERS = ("org.apache.kafka.raft.QuorumState",)
_CLUSTER_LOGGERS = ("org.apache.kafka.controller.ClusterControlManager",)
_HEARTBEAT_LOGGERS = ("org.apache.kafka.controller.BrokerHeartbeatManager",)
_REPLICATION_LOGGERS = ("org.apache.kafka.controller.ReplicationControlManager",)
_RAFT_HEAD = r"^\[RaftManager (?:nodeId|id)=\d+\] "
# 3.8 prints the leader's address too, and no comma behind it.
_FOLLOWER = (
    r"Completed transition to FollowerState\(fetchTimeoutMs=\d+, epoch=(?P<controller_epoch>\d+), "
    r"(?:leader|leaderId)=(?:\S+:\d+ \(id: )?(?P<node>\d+)(?:,| rack: )"
)
_AS_BEFORE = r" from (?:null$|\w+State\(epoch=(?P=controller_epoch), leaderId=OptionalInt\[(?P=node)\],)"
_PACKAGE = "metadata/src/main/java/org/apache/kafka/controller"
_line_of_quorum = partial(Pattern, loggers=_QUORUM_LOGGERS, head=QUORUM_HEAD, versions="3.0-4.4")
_line_of_raft = partial(Pattern, loggers=_RAFT_LOGGERS, head=_RAFT_HEAD, versions="3.0-4.4")
_line_of_replication = partial(Pattern, loggers=_REPLICATION_LOGGERS, head=QUORUM_HEAD, versions="2.8-4.4")
_line_of_brokers = partial(Pattern, loggers=_CLUSTER_LOGGERS, head=QUORUM_HEAD, versions="2.8-3.3")
_line_of_heartbeat = partial(Pattern, loggers=_HEARTBEAT_LOGGERS, head=QUORUM_HEAD, versions="2.8-4.4")


PATTERNS = (
    _line_of_quorum(
        pattern_id="kraft.controller_elected",
        kind=Kind.CONTROLLER_ELECTED,
        regex=r"Becoming (?:the active controller at epoch|active at controller epoch) (?P<controller_epoch>\d+)"
        r"(?:, (?:committed|next write) offset (?P<log_offset>-?\d+).*|\.)$",
        versions="2.8-4.4",
        source=f"{_PACKAGE}/QuorumController.java claim",
    ),
    _line_of_quorum(
        pattern_id="kraft.controller_waits",
        kind=Kind.CONTROLLER_WAITS,
        regex=r"Performing controller activation\. .*(?:Putting the controller into pre-migration mode|Loaded ZK migration state of PRE_MIGRATION)\..*$",
        versions="3.6-3.9",
        source=f"{_PACKAGE}/ActivationRecordsGenerator.java recordsForEmptyLog, recordsForNonEmptyLog (KIP-866)",
    ),
    _line_of_quorum(
        pattern_id="kraft.controller_known",
        kind=Kind.CONTROLLER_KNOWN,
        regex=r"In the new epoch (?P<controller_epoch>\d+), the leader is (?:(?P<node>\d+)|\(none\))\.$",
        versions="3.3-4.4",
        source=f"{_PACKAGE}/QuorumController.java handleLeaderChange",
    ),
    Pattern(
        pattern_id="kraft.controller_kept",
        kind=Kind.CONTROLLER_KNOWN,
        loggers=_QUORUM_LOGGERS,
        regex=r"^\[(?:QuorumController id=|Controller )(?P<node>\d+)\] We were the leader in epoch \d+, "
        r"and are still the leader in the new epoch (?P<controller_epoch>\d+)\.$",
        versions="3.3-4.4",
        source=f"{_PACKAGE}/QuorumController.java handleLeaderChange",
    ),
    _line_of_quorum(
        pattern_id="kraft.controller_resigned",
        kind=Kind.CONTROLLER_RESIGNED,
        regex=r"Renouncing the leadership (?:due to a metadata log event\. We were the leader at epoch|at oldEpoch) (?P<controller_epoch>\d+)"
        r"(?:, but| due to a metadata log event\.) .*$",
        source=f"{_PACKAGE}/QuorumController.java handleLeaderChange",
    ),
    _line_of_quorum(
        pattern_id="kraft.controller_renounced",
        kind=Kind.CONTROLLER_RESIGNED,
        # Until 3.2 the controller resigns as well, and says only that it reverts.
        regex=r"\w+(?:\(\d+\))?: (?:event )?failed with .* at epoch (?P<controller_epoch>\d+) in \d+ (?:microseconds|us)\. {1,2}"
        r"(?:Renouncing leadership and r|R)everting to .*$",
        source=f"{_PACKAGE}/QuorumController.java handleEventException",
    ),
    _line_of_raft(
        pattern_id="raft.leader_elected",
        kind=Kind.CONTROLLER_KNOWN,
        regex=r"Completed transition to Leader\((?:localVoterNode=VoterNode\(voterKey=ReplicaKey\(id|localReplicaKey=ReplicaKey\(id|localId)"
        r"=(?P<node>\d+),? .*?\bepoch=(?P<controller_epoch>\d+), .*$",
        source="raft/src/main/java/org/apache/kafka/raft/QuorumState.java durableTransitionTo, memoryTransitionTo",
    ),
    _line_of_raft(
        pattern_id="raft.leader_known",
        kind=Kind.CONTROLLER_KNOWN,
        regex=rf"{_FOLLOWER}(?!.*{_AS_BEFORE}).*$",
        source="raft/src/main/java/org/apache/kafka/raft/QuorumState.java durableTransitionTo",
    ),
    _line_of_raft(
        pattern_id="raft.leader_as_before",
        kind=Kind.CONTROLLER_KNOWN,
        regex=rf"{_FOLLOWER}.*{_AS_BEFORE}.*$",
        source="raft/src/main/java/org/apache/kafka/raft/QuorumState.java initialize, memoryTransitionTo (KIP-996)",
    ),
    _line_of_raft(
        pattern_id="raft.candidate",
        kind=Kind.ELECTION_STOOD,
        regex=r"Completed transition to CandidateState\(localId=(?P<node>\d+), .*?\bepoch=(?P<controller_epoch>\d+), .*$",
        versions="2.8-4.4",
        source="raft/src/main/java/org/apache/kafka/raft/QuorumState.java durableTransitionTo",
        constants={"detail": "candidate"},
    ),
    Pattern(
        pattern_id="raft.prospective",
        kind=Kind.ELECTION_STOOD,
        loggers=_RAFT_LOGGERS,
        regex=r"^\[RaftManager id=(?P<node>\d+)\] Completed transition to ProspectiveState\(epoch=(?P<controller_epoch>\d+), .*$",
        versions="4.0-4.4",
        source="raft/src/main/java/org/apache/kafka/raft/QuorumState.java transitionToProspective (KIP-996)",
        constants={"detail": "prospective"},
    ),
    _line_of_raft(
        pattern_id="raft.stepped_down",
        kind=Kind.CONTROLLER_STEPPED_DOWN,
        regex=r"Completed transition to ResignedState\(localId=(?P<node>\d+), epoch=(?P<controller_epoch>\d+), "
        r"(?!.* from null \(|.* from null$).*$",
        versions="2.8-4.4",
        source="raft/src/main/java/org/apache/kafka/raft/QuorumState.java transitionToResigned",
    ),
    _line_of_replication(
        pattern_id="kraft.broker_fenced",
        kind=Kind.BROKER_FENCED,
        regex=r"Fencing broker (?P<node>\d+)(?: at epoch \d+)? because its session has timed out\.$",
        source=f"{_PACKAGE}/ReplicationControlManager.java maybeFenceOneStaleBroker",
    ),
    _line_of_replication(
        pattern_id="kraft.partitions_changed",
        kind=Kind.PARTITIONS_CHANGED,
        regex=r"(?P<reason>[\w-]+)(?:\[(?P<node>\d+)(?::[^\]]*)?\])?: changing (?P<event_count>\d+) partition\(s\)$",
        versions="3.0-4.4",
        source=f"{_PACKAGE}/ReplicationControlManager.java generateLeaderAndIsrUpdates",
    ),
    _line_of_brokers(
        pattern_id="kraft.registration_changed",
        kind=Kind.BROKER_REGISTRATION_CHANGED,
        regex=r"Replayed BrokerRegistrationChangeRecord modifying the registration for broker (?P<node>\d+): "
        r"BrokerRegistrationChangeRecord\(.*\bfenced=(?P<fenced>-?\d+), inControlledShutdown=(?P<in_controlled_shutdown>-?\d+)\b.*$",
        versions="3.6-4.4",
        source=f"{_PACKAGE}/ClusterControlManager.java replayRegistrationChange",
    ),
    _line_of_brokers(
        pattern_id="kraft.fence_replayed",
        kind=Kind.BROKER_REGISTRATION_CHANGED,
        regex=r"Fenced broker: (?:FenceBrokerRecord\(id=)?(?P<node>\d+)(?:, epoch=\d+\))?$",
        source=f"{_PACKAGE}/ClusterControlManager.java replay",
        constants={"fenced": "1"},
    ),
    _line_of_brokers(
        pattern_id="kraft.unfence_replayed",
        kind=Kind.BROKER_REGISTRATION_CHANGED,
        regex=r"Unfenced broker: (?:UnfenceBrokerRecord\(id=)?(?P<node>\d+)(?:, epoch=\d+\))?$",
        source=f"{_PACKAGE}/ClusterControlManager.java replay",
        constants={"fenced": "-1"},
    ),
    _line_of_brokers(
        pattern_id="kraft.broker_incarnated",
        kind=Kind.BROKER_INCARNATED,
        regex=r"(?:(?:Registering a new incarnation of|No previous registration found for|Replayed RegisterBrokerRecord establishing a new incarnation of) broker "
        r"|(?:Registered new broker|Re-registered broker id \d+): RegisterBrokerRecord\(brokerId=)(?P<node>\d+)[.:,] .*$",
        versions="3.0-4.4",
        source=f"{_PACKAGE}/ClusterControlManager.java registerBroker, replay",
    ),
    _line_of_heartbeat(
        pattern_id="kraft.broker_unfence_granted",
        kind=Kind.BROKER_UNFENCE_GRANTED,
        regex=r"The request from broker (?P<node>\d+) to unfence has been granted because .*$",
        versions="3.3-4.4",
        source=f"{_PACKAGE}/BrokerHeartbeatManager.java calculateNextBrokerState",
    ),
    _line_of_heartbeat(
        pattern_id="kraft.broker_fence_granted",
        kind=Kind.BROKER_FENCE_GRANTED,
        regex=r"Unfenced broker (?P<node>\d+) has requested and been granted fencing$",
        versions="2.8-4.4",
        source=f"{_PACKAGE}/BrokerHeartbeatManager.java calculateNextBrokerState",
    ),
    _line_of_heartbeat(
        pattern_id="kraft.controlled_shutdown_granted",
        kind=Kind.BROKER_CONTROLLED_SHUTDOWN_GRANTED,
        regex=r"\w+ broker (?P<node>\d+) has requested and been granted a controlled shutdown\.$",
        source=f"{_PACKAGE}/BrokerHeartbeatManager.java calculateNextBrokerState",
    ),
    _line_of_heartbeat(
        pattern_id="kraft.shutdown_granted",
        kind=Kind.BROKER_SHUTDOWN_GRANTED,
        regex=r"(?:The request from|\w+) broker (?P<node>\d+) (?:to shut down has been granted since .*|has requested and been granted an immediate shutdown\.)$",
        source=f"{_PACKAGE}/BrokerHeartbeatManager.java calculateNextBrokerState",
    ),
    _line_of_quorum(
        pattern_id="kraft.cluster_named_by_controller",
        kind=Kind.CLUSTER_NAMED,
        regex=r"Creating new QuorumController with clusterId (?P<detail>[\w-]+)\.?(?:,? .*)?$",
        source=f"{_PACKAGE}/QuorumController.java",
    ),
)
