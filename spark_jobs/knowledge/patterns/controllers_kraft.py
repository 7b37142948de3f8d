"""What a KRaft controller does (Kafka 3.0-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import captured

_QUORUM_LOGGERS = ("org.apache.kafka.controller.QuorumController",)
_RAFT_LOGGERS = ("org.apache.kafka.raft.QuorumState",)
_CLUSTER_LOGGERS = ("org.apache.kafka.controller.ClusterControlManager",)
_HEARTBEAT_LOGGERS = ("org.apache.kafka.controller.BrokerHeartbeatManager",)
_REPLICATION_LOGGERS = ("org.apache.kafka.controller.ReplicationControlManager",)
_HEAD = r"^\[QuorumController id=\d+\] "
_RAFT_HEAD = r"^\[RaftManager (?:nodeId|id)=\d+\] "
_PACKAGE = "metadata/src/main/java/org/apache/kafka/controller"

_A_NEW_EPOCH = "[2026-11-21 01:40:52,921] INFO [QuorumController id=1] In the new epoch 1, the leader is 2. (org.apache.kafka.controller.QuorumController)"
_AN_ACTIVATION = "[2026-11-21 01:51:24,472] WARN [QuorumController id=1] Performing controller activation. (org.apache.kafka.controller.QuorumController)"
_A_REFUSED_EVENT = "[2026-11-21 01:40:52,635] INFO [QuorumController id=2] registerBroker: event failed with NotControllerException in 351 microseconds. Exception message: The active controller appears to be node 2. (org.apache.kafka.controller.QuorumController)"
_AN_ATTEMPT = "[2026-11-21 01:40:52,900] INFO [RaftManager id=1] Attempting durable transition to FollowerState(fetchTimeoutMs=2000, epoch=1, leader=2, leaderEndpoints=Endpoints(endpoints={ListenerName(CONTROLLER)=127.0.0.1/<unresolved>:23702}), votedKey=Optional[ReplicaKey(id=2, directoryId=Lffksb-70Wp3kNARUpZ-bA)], voters=[1, 2, 3], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty) from UnattachedState(epoch=1, leaderId=OptionalInt.empty, votedKey=Optional[ReplicaKey(id=2, directoryId=Lffksb-70Wp3kNARUpZ-bA)], voters=[1, 2, 3], electionTimeoutMs=1177, highWatermark=Optional.empty) (org.apache.kafka.raft.QuorumState)"
_A_CANDIDATE = "[2026-11-21 01:51:24,400] INFO [RaftManager id=1] Completed transition to CandidateState(localId=1, localDirectoryId=8Tpkg9j3NeddxbHT-rRn6g, epoch=2, epochElection=EpochElection(voterStates={1=VoterState(replicaKey=ReplicaKey(id=1, directoryId=<undefined>), state=GRANTED), 2=VoterState(replicaKey=ReplicaKey(id=2, directoryId=<undefined>), state=UNRECORDED), 3=VoterState(replicaKey=ReplicaKey(id=3, directoryId=<undefined>), state=UNRECORDED)}), highWatermark=Optional[LogOffsetMetadata(offset=1759, metadata=Optional.empty)], electionTimeoutMs=1657) from ProspectiveState(epoch=1, leaderId=OptionalInt[2], votedKey=Optional[ReplicaKey(id=2, directoryId=<undefined>)], epochElection=EpochElection(voterStates={1=VoterState(replicaKey=ReplicaKey(id=1, directoryId=<undefined>), state=GRANTED), 2=VoterState(replicaKey=ReplicaKey(id=2, directoryId=<undefined>), state=GRANTED), 3=VoterState(replicaKey=ReplicaKey(id=3, directoryId=<undefined>), state=REJECTED)}), electionTimeoutMs=1161, highWatermark=Optional[LogOffsetMetadata(offset=1759, metadata=Optional.empty)]) (org.apache.kafka.raft.QuorumState)"
_A_FIRST_REGISTRATION = "[2026-11-21 01:40:53,064] INFO [QuorumController id=2] No previous registration found for broker 1. New incarnation ID is VOYIHCdxTZGGacQHpNWssw.  Generated 0 record(s) to clean up previous incarnations. New broker epoch is 8. (org.apache.kafka.controller.ClusterControlManager)"
_A_CONTROLLER_REGISTRATION = "[2026-11-21 01:40:53,328] INFO [QuorumController id=1] Replayed RegisterControllerRecord containing ControllerRegistration(id=2, incarnationId=bd4gwb4pQSuN2cCn6Rfbyw, zkMigrationReady=false, listeners=[Endpoint(listenerName='CONTROLLER', securityProtocol=PLAINTEXT, host='127.0.0.1', port=23702)], supportedFeatures={eligible.leader.replicas.version: 0-1, group.version: 0-1, kraft.version: 0-1, metadata.version: 7-27, share.version: 0-1, transaction.version: 0-2}). (org.apache.kafka.controller.ClusterControlManager)"
_A_REGISTRATION_CHANGE = "[2026-11-21 01:40:54,037] INFO [QuorumController id=1] Replayed BrokerRegistrationChangeRecord modifying the registration for broker 2: BrokerRegistrationChangeRecord(brokerId=2, brokerEpoch=10, fenced=-1, inControlledShutdown=0, logDirs=[]) (org.apache.kafka.controller.ClusterControlManager)"
_AN_UNFENCING = "[2026-11-21 01:51:29,786] INFO [QuorumController id=1] The request from broker 2 to unfence has been granted because it has caught up with the offset of its register broker record 1770. (org.apache.kafka.controller.BrokerHeartbeatManager)"
_A_SHUTDOWN = "[2026-11-21 01:51:32,544] INFO [QuorumController id=1] Unfenced broker 3 has requested and been granted a controlled shutdown. (org.apache.kafka.controller.BrokerHeartbeatManager)"
_A_TRACKER_REMOVAL = "[2026-11-21 01:51:44,727] INFO [QuorumController id=1] Removing heartbeat tracker entry for broker 3 at previous epoch 9. Current epoch is 1949 (org.apache.kafka.controller.ReplicationControlManager)"

PATTERNS = (
    Pattern(
        pattern_id="kraft.controller_elected",
        kind="controller_elected",
        loggers=_QUORUM_LOGGERS,
        contains="Becoming the active controller at epoch ",
        regex=_HEAD + r"Becoming the active controller at epoch (?P<controller_epoch>\d+), .*$",
        versions="3.0-4.2",
        source=f"{_PACKAGE}/QuorumController.java claim",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:47,556] INFO [QuorumController id=4] Becoming the active controller at epoch 1, next write offset 1. (org.apache.kafka.controller.QuorumController)",
                controller_epoch="1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:24,464] INFO [QuorumController id=1] Becoming the active controller at epoch 2, next write offset 1760. (org.apache.kafka.controller.QuorumController)",
                controller_epoch="2",
            ),
        ),
        counter_samples=(_A_NEW_EPOCH, _AN_ACTIVATION),
    ),
    Pattern(
        pattern_id="kraft.controller_known",
        kind="controller_known",
        loggers=_QUORUM_LOGGERS,
        contains="In the new epoch ",
        regex=_HEAD + r"In the new epoch (?P<controller_epoch>\d+), the leader is (?:(?P<node>\d+)|\(none\))\.$",
        versions="3.3-4.2",
        source=f"{_PACKAGE}/QuorumController.java handleLeaderChange",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:40:52,921] INFO [QuorumController id=1] In the new epoch 1, the leader is 2. (org.apache.kafka.controller.QuorumController)",
                controller_epoch="1",
                node="2",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:52,540] INFO [QuorumController id=1] In the new epoch 1, the leader is (none). (org.apache.kafka.controller.QuorumController)",
                controller_epoch="1",
            ),
        ),
        counter_samples=(_AN_ACTIVATION,),
    ),
    Pattern(
        pattern_id="kraft.controller_resigned",
        kind="controller_resigned",
        loggers=_QUORUM_LOGGERS,
        contains="Renouncing the leadership ",
        regex=_HEAD
        + r"Renouncing the leadership due to a metadata log event\. We were the leader at epoch (?P<controller_epoch>\d+), but .*$",
        versions="3.3-4.2",
        source=f"{_PACKAGE}/QuorumController.java handleLeaderChange",
        samples=(
            captured(
                "4.3",
                "[2026-11-21 12:12:55,550] WARN [QuorumController id=1] Renouncing the leadership due to a metadata log event. We were the leader at epoch 5, but in the new epoch 6, the leader is (none). Reverting to last stable offset 962. (org.apache.kafka.controller.QuorumController)",
                controller_epoch="5",
            ),
        ),
        counter_samples=(_A_NEW_EPOCH,),
    ),
    Pattern(
        pattern_id="kraft.controller_renounced",
        kind="controller_resigned",
        loggers=_QUORUM_LOGGERS,
        contains=" Renouncing leadership and reverting to ",
        regex=_HEAD
        + r"\w+: event failed with .* at epoch (?P<controller_epoch>\d+) in \d+ microseconds\. Renouncing leadership and reverting to .*$",
        versions="3.6-4.2",
        source=f"{_PACKAGE}/QuorumController.java handleEventException",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:52:17,853] INFO [QuorumController id=1] maybeFenceStaleBroker: event failed with NotLeaderException (treated as NotControllerException) at epoch 2 in 1375 microseconds. Renouncing leadership and reverting to the last committed offset 2049. Exception message: Append failed because the replica is not the current leader (org.apache.kafka.controller.QuorumController)",
                controller_epoch="2",
            ),
        ),
        counter_samples=(_A_REFUSED_EVENT,),
    ),
    Pattern(
        pattern_id="raft.leader_elected",
        kind="controller_known",
        loggers=_RAFT_LOGGERS,
        contains="Completed transition to Leader(",
        regex=_RAFT_HEAD
        + r"Completed transition to Leader\((?:localVoterNode=VoterNode\(voterKey=ReplicaKey\(id|localReplicaKey=ReplicaKey\(id|localId)"
        r"=(?P<node>\d+),? .*?\bepoch=(?P<controller_epoch>\d+), .*$",
        versions="3.0-4.2",
        source="raft/src/main/java/org/apache/kafka/raft/QuorumState.java durableTransitionTo, memoryTransitionTo",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:47,426] INFO [RaftManager id=4] Completed transition to Leader(localReplicaKey=ReplicaKey(id=4, directoryId=Optional[ZIpD-HgvRDNch8zLMWT-dA]), epoch=1, epochStartOffset=0, highWatermark=Optional.empty, voterStates={4=ReplicaState(replicaKey=ReplicaKey(id=4, directoryId=Optional.empty), endOffset=Optional.empty, lastFetchTimestamp=-1, lastCaughtUpTimestamp=-1, hasAcknowledgedLeader=true)}) from CandidateState(localId=4, localDirectoryId=ZIpD-HgvRDNch8zLMWT-dA,epoch=1, retries=1, voteStates={4=org.apache.kafka.raft.CandidateState$VoterState@25b5c5e3}, highWatermark=Optional.empty, electionTimeoutMs=1678) (org.apache.kafka.raft.QuorumState)",
                node="4",
                controller_epoch="1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:24,413] INFO [RaftManager id=1] Completed transition to Leader(localVoterNode=VoterNode(voterKey=ReplicaKey(id=1, directoryId=8Tpkg9j3NeddxbHT-rRn6g), listeners=Endpoints(endpoints={ListenerName(CONTROLLER)=127.0.0.1/<unresolved>:23701}), supportedKRaftVersion=SupportedVersionRange[min_version:0, max_version:1]), epoch=2, epochStartOffset=1759, highWatermark=Optional.empty, voterStates={1=ReplicaState(replicaKey=ReplicaKey(id=1, directoryId=<undefined>), endOffset=Optional.empty, lastFetchTimestamp=-1, lastCaughtUpTimestamp=-1, hasAcknowledgedLeader=true), 2=ReplicaState(replicaKey=ReplicaKey(id=2, directoryId=<undefined>), endOffset=Optional.empty, lastFetchTimestamp=-1, lastCaughtUpTimestamp=-1, hasAcknowledgedLeader=false), 3=ReplicaState(replicaKey=ReplicaKey(id=3, directoryId=<undefined>), endOffset=Optional.empty, lastFetchTimestamp=-1, lastCaughtUpTimestamp=-1, hasAcknowledgedLeader=false)}) from CandidateState(localId=1, localDirectoryId=8Tpkg9j3NeddxbHT-rRn6g, epoch=2, epochElection=EpochElection(voterStates={1=VoterState(replicaKey=ReplicaKey(id=1, directoryId=<undefined>), state=GRANTED), 2=VoterState(replicaKey=ReplicaKey(id=2, directoryId=<undefined>), state=GRANTED), 3=VoterState(replicaKey=ReplicaKey(id=3, directoryId=<undefined>), state=UNRECORDED)}), highWatermark=Optional[LogOffsetMetadata(offset=1759, metadata=Optional.empty)], electionTimeoutMs=1657) (org.apache.kafka.raft.QuorumState)",
                node="1",
                controller_epoch="2",
            ),
        ),
        counter_samples=(_A_CANDIDATE, _AN_ATTEMPT),
    ),
    Pattern(
        pattern_id="raft.leader_known",
        kind="controller_known",
        loggers=_RAFT_LOGGERS,
        contains="Completed transition to FollowerState(",
        regex=_RAFT_HEAD
        + r"Completed transition to FollowerState\(fetchTimeoutMs=\d+, epoch=(?P<controller_epoch>\d+), (?:leader|leaderId)=(?P<node>\d+), .*$",
        versions="3.0-4.2",
        source="raft/src/main/java/org/apache/kafka/raft/QuorumState.java durableTransitionTo",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:47,971] INFO [RaftManager id=1] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=1, leader=4, leaderEndpoints=Endpoints(endpoints={ListenerName(CONTROLLER)=127.0.0.1/<unresolved>:24904}), voters=[4], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty) from Unattached(epoch=0, votedKey=null, voters=[4], electionTimeoutMs=1328, highWatermark=Optional.empty) (org.apache.kafka.raft.QuorumState)",
                controller_epoch="1",
                node="4",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:52,919] INFO [RaftManager id=1] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=1, leader=2, leaderEndpoints=Endpoints(endpoints={ListenerName(CONTROLLER)=127.0.0.1/<unresolved>:23702}), votedKey=Optional[ReplicaKey(id=2, directoryId=Lffksb-70Wp3kNARUpZ-bA)], voters=[1, 2, 3], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty) from UnattachedState(epoch=1, leaderId=OptionalInt.empty, votedKey=Optional[ReplicaKey(id=2, directoryId=Lffksb-70Wp3kNARUpZ-bA)], voters=[1, 2, 3], electionTimeoutMs=1177, highWatermark=Optional.empty) (org.apache.kafka.raft.QuorumState)",
                controller_epoch="1",
                node="2",
            ),
        ),
        counter_samples=(_A_CANDIDATE, _AN_ATTEMPT),
    ),
    Pattern(
        pattern_id="kraft.broker_fenced",
        kind="broker_fenced",
        loggers=_REPLICATION_LOGGERS,
        contains=" because its session has timed out.",
        regex=_HEAD + r"Fencing broker (?P<node>\d+)(?: at epoch \d+)? because its session has timed out\.$",
        versions="2.8-4.2",
        source=f"{_PACKAGE}/ReplicationControlManager.java maybeFenceOneStaleBroker",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:15,887] INFO [QuorumController id=4] Fencing broker 1 because its session has timed out. (org.apache.kafka.controller.ReplicationControlManager)",
                node="1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:52:17,848] INFO [QuorumController id=1] Fencing broker 1 at epoch 1601 because its session has timed out. (org.apache.kafka.controller.ReplicationControlManager)",
                node="1",
            ),
        ),
        counter_samples=(_A_TRACKER_REMOVAL,),
    ),
    Pattern(
        pattern_id="kraft.partitions_changed",
        kind="partitions_changed",
        loggers=_REPLICATION_LOGGERS,
        contains=": changing ",
        regex=_HEAD
        + r"(?P<reason>[\w-]+)(?:\[(?P<node>\d+)(?::[^\]]*)?\])?: changing (?P<event_count>\d+) partition\(s\)$",
        versions="3.0-4.2",
        source=f"{_PACKAGE}/ReplicationControlManager.java generateLeaderAndIsrUpdates",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:15,903] INFO [QuorumController id=4] handleBrokerFenced: changing 72 partition(s) (org.apache.kafka.controller.ReplicationControlManager)",
                reason="handleBrokerFenced",
                event_count="72",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:32,549] INFO [QuorumController id=1] enterControlledShutdown[3]: changing 72 partition(s) (org.apache.kafka.controller.ReplicationControlManager)",
                reason="enterControlledShutdown",
                node="3",
                event_count="72",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:53:28,156] INFO [QuorumController id=3] handleBrokerUncleanShutdown: changing 2 partition(s) (org.apache.kafka.controller.ReplicationControlManager)",
                reason="handleBrokerUncleanShutdown",
                event_count="2",
            ),
        ),
        counter_samples=(_A_TRACKER_REMOVAL,),
    ),
    Pattern(
        pattern_id="kraft.registration_changed",
        kind="broker_registration_changed",
        loggers=_CLUSTER_LOGGERS,
        contains="Replayed BrokerRegistrationChangeRecord ",
        regex=_HEAD + r"Replayed BrokerRegistrationChangeRecord modifying the registration for broker (?P<node>\d+): "
        r"BrokerRegistrationChangeRecord\(.*\bfenced=(?P<fenced>-?\d+), inControlledShutdown=(?P<in_controlled_shutdown>-?\d+)\b.*$",
        versions="3.6-4.2",
        source=f"{_PACKAGE}/ClusterControlManager.java replayRegistrationChange",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:15,910] INFO [QuorumController id=4] Replayed BrokerRegistrationChangeRecord modifying the registration for broker 1: BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=6, fenced=1, inControlledShutdown=0, logDirs=[]) (org.apache.kafka.controller.ClusterControlManager)",
                node="1",
                fenced="1",
                in_controlled_shutdown="0",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:07,867] INFO [QuorumController id=1] Replayed BrokerRegistrationChangeRecord modifying the registration for broker 1: BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=1365, fenced=0, inControlledShutdown=1, logDirs=[]) (org.apache.kafka.controller.ClusterControlManager)",
                node="1",
                fenced="0",
                in_controlled_shutdown="1",
            ),
        ),
        counter_samples=(_A_FIRST_REGISTRATION, _A_CONTROLLER_REGISTRATION),
    ),
    Pattern(
        pattern_id="kraft.broker_incarnated",
        kind="broker_incarnated",
        loggers=_CLUSTER_LOGGERS,
        contains=" incarnation",
        regex=_HEAD
        + r"(?:Registering a new incarnation of|No previous registration found for|Replayed RegisterBrokerRecord establishing a new incarnation of) broker (?P<node>\d+)[.:] .*$",
        versions="3.6-4.2",
        source=f"{_PACKAGE}/ClusterControlManager.java registerBroker, replay",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:24,453] INFO [QuorumController id=4] Registering a new incarnation of broker 1. Previous incarnation ID was BmgCSZOsS-6RwV20Bg5DcA; new incarnation ID is 5NZiqDvSQzONYnxUVkjGBA. Generated 0 record(s) to clean up previous incarnations. Broker epoch will become 1083. (org.apache.kafka.controller.ClusterControlManager)",
                node="1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:53,064] INFO [QuorumController id=2] No previous registration found for broker 1. New incarnation ID is VOYIHCdxTZGGacQHpNWssw.  Generated 0 record(s) to clean up previous incarnations. New broker epoch is 8. (org.apache.kafka.controller.ClusterControlManager)",
                node="1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:50:48,250] INFO [QuorumController id=1] Replayed RegisterBrokerRecord establishing a new incarnation of broker 1: RegisterBrokerRecord(brokerId=1, isMigratingZkBroker=false, incarnationId=m_5HC-spTaiUtxVOo-ju7w, brokerEpoch=1365, endPoints=[BrokerEndpoint(name='PLAINTEXT', host='127.0.0.1', port=23601, securityProtocol=0)], features=[BrokerFeature(name='group.version', minSupportedVersion=0, maxSupportedVersion=1), BrokerFeature(name='kraft.version', minSupportedVersion=0, maxSupportedVersion=1), BrokerFeature(name='metadata.version', minSupportedVersion=7, maxSupportedVersion=27), BrokerFeature(name='share.version', minSupportedVersion=0, maxSupportedVersion=1), BrokerFeature(name='transaction.version', minSupportedVersion=0, maxSupportedVersion=2), BrokerFeature(name='eligible.leader.replicas.version', minSupportedVersion=0, maxSupportedVersion=1)], rack='rack-a', fenced=true, inControlledShutdown=false, logDirs=[8Tpkg9j3NeddxbHT-rRn6g]) (org.apache.kafka.controller.ClusterControlManager)",
                node="1",
            ),
        ),
        counter_samples=(_A_CONTROLLER_REGISTRATION, _A_REGISTRATION_CHANGE),
    ),
    Pattern(
        pattern_id="kraft.broker_unfence_granted",
        kind="broker_unfence_granted",
        loggers=_HEARTBEAT_LOGGERS,
        contains=" to unfence has been granted ",
        regex=_HEAD + r"The request from broker (?P<node>\d+) to unfence has been granted because .*$",
        versions="3.3-4.2",
        source=f"{_PACKAGE}/BrokerHeartbeatManager.java calculateNextBrokerState",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:48,371] INFO [QuorumController id=4] The request from broker 1 to unfence has been granted because it has caught up with the offset of its register broker record 6. (org.apache.kafka.controller.BrokerHeartbeatManager)",
                node="1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:29,786] INFO [QuorumController id=1] The request from broker 2 to unfence has been granted because it has caught up with the offset of its register broker record 1770. (org.apache.kafka.controller.BrokerHeartbeatManager)",
                node="2",
            ),
        ),
        counter_samples=(_A_SHUTDOWN,),
    ),
    Pattern(
        pattern_id="kraft.controlled_shutdown_granted",
        kind="broker_controlled_shutdown_granted",
        loggers=_HEARTBEAT_LOGGERS,
        contains=" been granted a controlled shutdown.",
        regex=_HEAD + r"\w+ broker (?P<node>\d+) has requested and been granted a controlled shutdown\.$",
        versions="2.8-4.2",
        source=f"{_PACKAGE}/BrokerHeartbeatManager.java calculateNextBrokerState",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:52,204] INFO [QuorumController id=4] Unfenced broker 2 has requested and been granted a controlled shutdown. (org.apache.kafka.controller.BrokerHeartbeatManager)",
                node="2",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:32,544] INFO [QuorumController id=1] Unfenced broker 3 has requested and been granted a controlled shutdown. (org.apache.kafka.controller.BrokerHeartbeatManager)",
                node="3",
            ),
        ),
        counter_samples=(_AN_UNFENCING,),
    ),
    Pattern(
        pattern_id="kraft.shutdown_granted",
        kind="broker_shutdown_granted",
        loggers=_HEARTBEAT_LOGGERS,
        contains=" granted ",
        regex=_HEAD
        + r"(?:The request from|\w+) broker (?P<node>\d+) (?:to shut down has been granted since .*|has requested and been granted an immediate shutdown\.)$",
        versions="2.8-4.2",
        source=f"{_PACKAGE}/BrokerHeartbeatManager.java calculateNextBrokerState",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:43,112] INFO [QuorumController id=4] Unfenced broker 1 has requested and been granted an immediate shutdown. (org.apache.kafka.controller.BrokerHeartbeatManager)",
                node="1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:34,649] INFO [QuorumController id=1] The request from broker 3 to shut down has been granted since the lowest active offset 1924 is now greater than the broker's controlled shutdown offset 1923. (org.apache.kafka.controller.BrokerHeartbeatManager)",
                node="3",
            ),
        ),
        counter_samples=(_A_SHUTDOWN, _AN_UNFENCING),
    ),
)
