"""Lines of controllers' loggers that matter which carry nothing we use."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Noise, noise

NOISE: tuple[Noise, ...] = (
    *noise(
        ("kafka.controller.KafkaController",),
        "Steps of a new controller between its election and its work.",
        {
            "Registering handlers": "[2026-11-21 01:53:09,772] INFO [Controller id=1] Registering handlers (kafka.controller.KafkaController)",
            "Deleting log dir event notifications": "[2026-11-21 01:53:09,779] INFO [Controller id=1] Deleting log dir event notifications (kafka.controller.KafkaController)",
            "Deleting isr change notifications": "[2026-11-21 01:53:09,780] INFO [Controller id=1] Deleting isr change notifications (kafka.controller.KafkaController)",
            "Initializing controller context": "[2026-11-21 01:53:09,782] INFO [Controller id=1] Initializing controller context (kafka.controller.KafkaController)",
            "Initialized broker epochs cache: ": "[2026-11-21 01:53:09,793] INFO [Controller id=1] Initialized broker epochs cache: HashMap(1 -> 518, 3 -> 66) (kafka.controller.KafkaController)",
            "Currently shutting brokers in the cluster: ": "[2026-11-21 01:53:09,848] INFO [Controller id=1] Currently shutting brokers in the cluster: HashSet() (kafka.controller.KafkaController)",
            "Current list of topics in the cluster: ": "[2026-11-21 01:44:24,967] INFO [Controller id=2] Current list of topics in the cluster: HashSet() (kafka.controller.KafkaController)",
            "Fetching topic deletions in progress": "[2026-11-21 01:53:09,848] INFO [Controller id=1] Fetching topic deletions in progress (kafka.controller.KafkaController)",
            "List of topics ": "[2026-11-21 01:53:09,852] INFO [Controller id=1] List of topics to be deleted:  (kafka.controller.KafkaController)",
            "Initializing topic deletion manager": "[2026-11-21 01:53:09,852] INFO [Controller id=1] Initializing topic deletion manager (kafka.controller.KafkaController)",
            "Sending update metadata request": "[2026-11-21 01:53:09,853] INFO [Controller id=1] Sending update metadata request (kafka.controller.KafkaController)",
            "Ready to serve as the new controller ": "[2026-11-21 01:53:09,940] INFO [Controller id=1] Ready to serve as the new controller with epoch 2 (kafka.controller.KafkaController)",
            "preferred replica election": "[2026-11-21 01:53:09,945] INFO [Controller id=1] Partitions undergoing preferred replica election:  (kafka.controller.KafkaController)",
            "Starting the controller scheduler": "[2026-11-21 01:53:09,951] INFO [Controller id=1] Starting the controller scheduler (kafka.controller.KafkaController)",
            "Creating FeatureZNode at path: ": "[2026-11-21 01:44:24,838] INFO [Controller id=2] Creating FeatureZNode at path: /feature with contents: FeatureZNode(Enabled,Features{}) (kafka.controller.KafkaController)",
        },
    ),
    *noise(
        ("kafka.controller.KafkaController",),
        "What changes no leader: no broker's directory failed, the leader may stay, an election came to nothing.",
        {
            "log directory failure for brokers": "[2026-11-21 11:58:05,791] INFO [Controller id=2] Handling log directory failure for brokers  (kafka.controller.KafkaController)",
            "failed to complete preferred replica leader election to ": "[2026-11-21 16:01:11,853] WARN [Controller id=2] Partition __consumer_offsets-4 failed to complete preferred replica leader election to 3. Leader is still 1 (kafka.controller.KafkaController)",
            "Error completing replica leader election ": "[2026-11-21 16:01:11,849] ERROR [Controller id=2] Error completing replica leader election (PREFERRED) for partition __consumer_offsets-4 (kafka.controller.KafkaController)\nkafka.zookeeper.ZooKeeperClientExpiredException: Session expired either before or while waiting for connection",
            "is already in the new list of replicas": "[2026-11-21 15:47:01,837] INFO [Controller id=2] Leader 1 for partition stock.48-t-0 being reassigned, is already in the new list of replicas 2,1 and is alive (kafka.controller.KafkaController)",
        },
    ),
    *noise(
        ("kafka.controller.KafkaController",),
        "The resignation has a line of its own.",
        {
            "] Resigning": "[2026-11-21 01:52:59,440] DEBUG [Controller id=1] Resigning (kafka.controller.KafkaController)",
        },
    ),
    *noise(
        ("kafka.controller.KafkaController",),
        "The leader tells the change of its ISR itself.",
        {
            "] ISR for partition ": "[2026-11-21 01:54:32,226] DEBUG [Controller id=3] ISR for partition shop-events-4 updated to [3,2] and zkVersion updated to [14] (kafka.controller.KafkaController)",
            "Updating ISRs for partitions: ": "[2026-11-21 01:54:46,710] DEBUG [Controller id=3] Updating ISRs for partitions: Set(ads-risky-18-0). (kafka.controller.KafkaController)",
        },
    ),
    *noise(
        ("kafka.controller.KafkaController",),
        "What the controller keeps of its brokers; their coming and going has lines of its own. The longest sample is cut.",
        {
            "egister BrokerModifications handler ": "[2026-11-21 01:52:59,440] DEBUG [Controller id=1] Unregister BrokerModifications handler for Set() (kafka.controller.KafkaController)",
            "Updated broker epochs cache: ": "[2026-11-21 01:52:31,850] INFO [Controller id=2] Updated broker epochs cache: HashMap(2 -> 61, 3 -> 66) (kafka.controller.KafkaController)",
            "Removed ": "[2026-11-21 01:53:19,554] INFO [Controller id=1] Removed 3 from list of shutting down brokers. (kafka.controller.KafkaController)",
            "All shutting down brokers: ": "[2026-11-21 01:53:18,677] DEBUG [Controller id=1] All shutting down brokers: 3 (kafka.controller.KafkaController)",
            "Live brokers: ": "[2026-11-21 01:53:18,678] DEBUG [Controller id=1] Live brokers: 1,2 (kafka.controller.KafkaController)",
            "All leaders = ": "[2026-11-21 01:53:18,821] TRACE [Controller id=1] All leaders = __consumer_offsets-13 -> (Leader:2,ISR:1,2,LeaderEpoch:4,ZkVersion:7,ControllerEpoch:2) (kafka.controller.KafkaController)",
        },
    ),
    *noise(
        ("kafka.controller.KafkaController",),
        "The balancer looks; the ratios and the elections have lines of their own.",
        {
            "Checking need to trigger auto leader balancing": "[2026-11-21 01:53:14,952] TRACE [Controller id=1] Checking need to trigger auto leader balancing (kafka.controller.KafkaController)",
            "Processing automatic preferred replica leader election": "[2026-11-21 01:53:14,952] INFO [Controller id=1] Processing automatic preferred replica leader election (kafka.controller.KafkaController)",
            "Topics not in preferred replica for broker ": "[2026-11-21 01:53:15,006] DEBUG [Controller id=1] Topics not in preferred replica for broker 3 HashMap() (kafka.controller.KafkaController)",
            "Waiting for any successful result for election type ": "[2026-11-21 01:53:31,520] DEBUG [Controller id=1] Waiting for any successful result for election type (PREFERRED) by AdminClientTriggered for partitions: HashMap(shop-events-1 -> Right(3), shop-events-2 -> Left(ApiError(error=ELECTION_NOT_NEEDED, message=Leader election not needed for topic partition.)), shop-events-4 -> Right(3), shop-events-7 -> Right(3), shop-events-5 -> Left(ApiError(error=ELECTION_NOT_NEEDED, message=Leader election not needed for topic partition.)), shop-events-8 -> Left(ApiError(error=ELECTION_NOT_NEEDED, message=Leader election not needed for topic partition.)), shop-events-0 -> Left(ApiError(error=ELECTION_NOT_NEEDED, message=Leader election not needed for topic partition.)), shop-events-3 -> Right(2), shop-events-6 -> Left(ApiError(error=ELECTION_NOT_NEEDED, message=Leader election not needed for topic partition.))) (kafka.controller.KafkaController)",
        },
    ),
    *noise(
        ("kafka.controller.KafkaController",),
        "Topics come and go; each topic and partition has a line of its own.",
        {
            "New partition creation callback for ": "[2026-11-21 01:54:07,016] INFO [Controller id=1] New partition creation callback for ads-risky-18-0,ads-risky-18-1 (kafka.controller.KafkaController)",
            "New partitions to be added ": "[2026-11-21 01:46:51,177] INFO [Controller id=2] New partitions to be added HashMap(email-grow-5-t-4 -> ReplicaAssignment(replicas=2,1,3, addingReplicas=, removingReplicas=), email-grow-5-t-3 -> ReplicaAssignment(replicas=1,3,2, addingReplicas=, removingReplicas=), email-grow-5-t-6 -> ReplicaAssignment(replicas=1,2,3, addingReplicas=, removingReplicas=), email-grow-5-t-5 -> ReplicaAssignment(replicas=3,2,1, addingReplicas=, removingReplicas=)) (kafka.controller.KafkaController)",
            "New topics: [": "[2026-11-21 01:44:48,652] INFO [Controller id=2] New topics: [Set()], deleted topics: [HashSet()], new partition replica assignment [Set()] (kafka.controller.KafkaController)",
            "Delete topics listener fired ": "[2026-11-21 01:44:48,653] DEBUG [Controller id=2] Delete topics listener fired for topics  to be deleted (kafka.controller.KafkaController)",
            "Delete topic callback invoked ": "[2026-11-21 01:44:48,553] DEBUG [Controller id=2] Delete topic callback invoked on StopReplica response received from broker 2: request error = NONE, partition errors = HashMap(crm-rx-1-x1-0 -> NONE, crm-rx-1-x1-2 -> NONE, crm-rx-1-x1-1 -> NONE) (kafka.controller.KafkaController)",
            "Starting topic deletion for topics ": "[2026-11-21 01:44:48,471] INFO [Controller id=2] Starting topic deletion for topics crm-rx-1-x1 (kafka.controller.KafkaController)",
        },
    ),
    *noise(
        ("kafka.controller.TopicDeletionManager",),
        "Steps of a deletion after its start.",
        {
            "Handling deletion for topics ": "[2026-11-21 01:44:48,472] INFO [Topic Deletion Manager 2] Handling deletion for topics crm-rx-1-x1 (kafka.controller.TopicDeletionManager)",
            "eletion successfully completed for replicas ": "[2026-11-21 01:44:48,554] DEBUG [Topic Deletion Manager 2] Deletion successfully completed for replicas [Topic=crm-rx-1-x1,Partition=0,Replica=2],[Topic=crm-rx-1-x1,Partition=2,Replica=2],[Topic=crm-rx-1-x1,Partition=1,Replica=2] (kafka.controller.TopicDeletionManager)",
            " successfully completed": "[2026-11-21 01:44:48,652] INFO [Topic Deletion Manager 2] Deletion of topic crm-rx-1-x1 successfully completed (kafka.controller.TopicDeletionManager)",
            "Initializing manager with initial deletions: ": "[2026-11-21 01:44:24,973] INFO [Topic Deletion Manager 2] Initializing manager with initial deletions: Set(), initial ineligible deletions: HashSet() (kafka.controller.TopicDeletionManager)",
        },
    ),
    *noise(
        ("org.apache.kafka.controller.QuorumController",),
        "A request that reached a controller which could not serve it; the sender tries again.",
        {
            ": event failed with ": "[2026-11-21 01:52:45,619] INFO [QuorumController id=3] writeNoOpRecord: event failed with NotControllerException in 507589 microseconds. Exception message: No controller appears to be active. (org.apache.kafka.controller.QuorumController)",
            ": event unable to start processing ": "[2026-11-21 02:04:03,181] INFO [QuorumController id=4] writeNoOpRecord: event unable to start processing because of RejectedExecutionException (treated as TimeoutException). Exception message: The event queue is shutting down (org.apache.kafka.controller.QuorumController)",
            "Cancelling deferred write event ": "[2026-11-21 02:04:03,181] ERROR [QuorumController id=4] Cancelling deferred write event maybeFenceReplicas because the event queue is now closed. (org.apache.kafka.controller.QuorumController)",
        },
    ),
    *noise(
        ("org.apache.kafka.controller.QuorumController",),
        "A step of a new controller; its election has a line of its own.",
        {
            "Performing controller activation.": "[2026-11-21 01:51:24,472] WARN [QuorumController id=1] Performing controller activation. (org.apache.kafka.controller.QuorumController)",
        },
    ),
    *noise(
        ("kafka.controller.KafkaController", "state.change.logger"),
        "Steps of a reassignment between its decision and its end, which have lines of their own.",
        {
            "Updating assignment of partition ": "[2026-11-21 12:28:26,349] DEBUG [Controller id=3] Updating assignment of partition payroll-71-feed-t-0 from ReplicaAssignment(replicas=1,2, addingReplicas=, removingReplicas=) to ReplicaAssignment(replicas=3,2,1, addingReplicas=3, removingReplicas=1) (kafka.controller.KafkaController)",
            "Successfully updated assignment of partition ": "[2026-11-21 12:28:26,351] INFO [Controller id=3] Successfully updated assignment of partition payroll-71-feed-t-0 to ReplicaAssignment(replicas=3,2,1, addingReplicas=3, removingReplicas=1) (kafka.controller.KafkaController)",
            "Updating leader epoch for partition ": "[2026-11-21 12:28:26,352] DEBUG [Controller id=3] Updating leader epoch for partition payroll-71-feed-t-0 (kafka.controller.KafkaController)",
            "Updated leader epoch for partition ": "[2026-11-21 12:28:26,354] INFO [Controller id=3] Updated leader epoch for partition payroll-71-feed-t-0 to 1, zkVersion=1 (kafka.controller.KafkaController)",
            " for partition being reassigned ": "[2026-11-21 12:28:26,355] INFO [Controller id=3 epoch=3] Sent LeaderAndIsr request (Leader:1,ISR:1,2,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:3) with new replica assignment ReplicaAssignment(replicas=3,2,1, addingReplicas=3, removingReplicas=1) to leader 1 for partition being reassigned payroll-71-feed-t-0 (state.change.logger)",
        },
    ),
    *noise(
        ("org.apache.kafka.controller.PartitionChangeBuilder",),
        "A clean choice among the eligible replicas; the new leader says so itself.",
        {
            " using ELR.": "[2026-11-21 12:50:27,013] INFO Setting new leader for topicId y-qZEZV0QKaImkJwt5vzKA, partition 0 to 3 using ELR. Previous partition: PartitionRegistration(replicas=[3], directories=[z9im0VgBAY_om6Tm7rnQ2w], isr=[], removingReplicas=[], addingReplicas=[], elr=[3], lastKnownElr=[3], leader=-1, leaderRecoveryState=RECOVERING, leaderEpoch=5, partitionEpoch=7), change record: PartitionChangeRecord(partitionId=0, topicId=y-qZEZV0QKaImkJwt5vzKA, isr=null, leader=-2, replicas=null, removingReplicas=null, addingReplicas=null, leaderRecoveryState=-1, directories=null, eligibleLeaderReplicas=null, lastKnownElr=null) (org.apache.kafka.controller.PartitionChangeBuilder)",
        },
    ),
    *noise(
        ("org.apache.kafka.controller.PeriodicTaskControlManager",),
        "Tasks are set up; what they do has lines of its own.",
        {
            "Registering periodic task ": "[2026-11-21 01:40:51,436] INFO [QuorumController id=1] Registering periodic task writeNoOpRecord to run every 500 ms (org.apache.kafka.controller.PeriodicTaskControlManager)",
            "ctivated periodic tasks: ": "[2026-11-21 01:51:24,473] INFO [QuorumController id=1] Activated periodic tasks: electPreferred, electUnclean, expireDelegationTokens, generatePeriodicPerformanceMessage, maybeFenceStaleBroker, writeNoOpRecord (org.apache.kafka.controller.PeriodicTaskControlManager)",
        },
    ),
    *noise(
        ("org.apache.kafka.controller.ReplicationControlManager",),
        "The answer to a request; each topic that came or went is replayed in a line of its own.",
        {
            "CreateTopics result(s): ": "[2026-11-21 01:40:54,304] INFO [QuorumController id=2] CreateTopics result(s): CreatableTopic(name='shop-events', numPartitions=9, replicationFactor=3, assignments=[], configs=[]): SUCCESS (org.apache.kafka.controller.ReplicationControlManager)",
            "DeleteTopics result(s): ": "[2026-11-21 01:48:26,823] INFO [QuorumController id=2] DeleteTopics result(s): {id: 0iOp7e7mTgCgj6LoMZQA_w, name: ads-rx-13-x1, result: SUCCESS} (org.apache.kafka.controller.ReplicationControlManager)",
            "] Successfully altered ": "[2026-11-21 12:09:52,914] INFO [QuorumController id=3] Successfully altered 1 out of 1 partition reassignment(s). (org.apache.kafka.controller.ReplicationControlManager)",
            "] Removed ELRs from ": "[2026-11-21 12:09:28,799] INFO [QuorumController id=1] Removed ELRs from 0 partitions of topic stock.30-t. (org.apache.kafka.controller.ReplicationControlManager)",
            "Removing heartbeat tracker entry for broker ": "[2026-11-21 01:51:44,727] INFO [QuorumController id=1] Removing heartbeat tracker entry for broker 3 at previous epoch 9. Current epoch is 1949 (org.apache.kafka.controller.ReplicationControlManager)",
        },
    ),
    *noise(
        ("org.apache.kafka.controller.ClusterControlManager",),
        "Registrations of controllers, and first ones of brokers, as every controller replays them.",
        {
            "Replayed RegisterControllerRecord ": "[2026-11-21 01:53:47,939] INFO [QuorumController id=4] Replayed RegisterControllerRecord contaning ControllerRegistration(id=4, incarnationId=8EQ4sL-ESgiAoM1vHCLmFw, zkMigrationReady=false, listeners=[Endpoint(listenerName='CONTROLLER', securityProtocol=PLAINTEXT, host='127.0.0.1', port=24904)], supportedFeatures={kraft.version: 0-1, metadata.version: 1-21}). (org.apache.kafka.controller.ClusterControlManager)",
            "Ignoring no-op registration change for ": "[2026-11-21 11:54:54,746] INFO [QuorumController id=4] Ignoring no-op registration change for BrokerRegistration(id=2, epoch=11, incarnationId=u771j_KTTTmIsAbwEk0mZA, listeners=[Endpoint(listenerName='PLAINTEXT', securityProtocol=PLAINTEXT, host='127.0.0.1', port=31933)], supportedFeatures={eligible.leader.replicas.version: 0-1, group.version: 0-1, kraft.version: 0-1, metadata.version: 7-27, share.version: 0-1, transaction.version: 0-2}, rack=Optional[rack-b], fenced=true, inControlledShutdown=false, isMigratingZkBroker=false, directories=[6LmXu6gubJXS5rBSr2Ksrw]) (org.apache.kafka.controller.ClusterControlManager)",
            "Replayed initial RegisterBrokerRecord ": "[2026-11-21 01:53:48,064] INFO [QuorumController id=4] Replayed initial RegisterBrokerRecord for broker 1: RegisterBrokerRecord(brokerId=1, isMigratingZkBroker=false, incarnationId=BmgCSZOsS-6RwV20Bg5DcA, brokerEpoch=6, endPoints=[BrokerEndpoint(name='PLAINTEXT', host='127.0.0.1', port=24801, securityProtocol=0)], features=[BrokerFeature(name='kraft.version', minSupportedVersion=0, maxSupportedVersion=1), BrokerFeature(name='metadata.version', minSupportedVersion=1, maxSupportedVersion=21)], rack='rack-a', fenced=true, inControlledShutdown=false, logDirs=[uC7weZIVWBYVtwgUHw3TtQ]) (org.apache.kafka.controller.ClusterControlManager)",
        },
    ),
    *noise(
        ("org.apache.kafka.raft.QuorumState",),
        "Steps of an election between those that name its winner.",
        {
            "Attempting durable transition to ": "[2026-11-21 01:53:46,397] INFO [RaftManager id=1] Attempting durable transition to Unattached(epoch=0, votedKey=null, voters=[4], electionTimeoutMs=1328, highWatermark=Optional.empty) from null (org.apache.kafka.raft.QuorumState)",
            "Completed transition to Unattached": "[2026-11-21 01:53:46,695] INFO [RaftManager id=1] Completed transition to Unattached(epoch=0, votedKey=null, voters=[4], electionTimeoutMs=1328, highWatermark=Optional.empty) from null (org.apache.kafka.raft.QuorumState)",
            "Completed transition to CandidateState(": "[2026-11-21 01:53:47,415] INFO [RaftManager id=4] Completed transition to CandidateState(localId=4, localDirectoryId=ZIpD-HgvRDNch8zLMWT-dA,epoch=1, retries=1, voteStates={4=org.apache.kafka.raft.CandidateState$VoterState@25b5c5e3}, highWatermark=Optional.empty, electionTimeoutMs=1678) from Unattached(epoch=0, votedKey=null, voters=[4], electionTimeoutMs=1105, highWatermark=Optional.empty) (org.apache.kafka.raft.QuorumState)",
            "Completed transition to ProspectiveState(": "[2026-11-21 01:52:46,321] INFO [RaftManager id=3] Completed transition to ProspectiveState(epoch=4, leaderId=OptionalInt.empty, votedKey=Optional.empty, epochElection=EpochElection(voterStates={1=VoterState(replicaKey=ReplicaKey(id=1, directoryId=<undefined>), state=UNRECORDED), 2=VoterState(replicaKey=ReplicaKey(id=2, directoryId=<undefined>), state=UNRECORDED), 3=VoterState(replicaKey=ReplicaKey(id=3, directoryId=<undefined>), state=GRANTED)}), electionTimeoutMs=1547, highWatermark=Optional.empty) from UnattachedState(epoch=4, leaderId=OptionalInt.empty, votedKey=Optional.empty, voters=[1, 2, 3], electionTimeoutMs=0, highWatermark=Optional.empty) (org.apache.kafka.raft.QuorumState)",
            "Completed transition to ResignedState(": "[2026-11-21 01:51:24,362] INFO [RaftManager id=2] Completed transition to ResignedState(localId=2, epoch=1, voters=[1, 2, 3], electionTimeoutMs=1500, unackedVoters=[1, 3], preferredSuccessors=[ReplicaKey(id=1, directoryId=<undefined>), ReplicaKey(id=3, directoryId=<undefined>)]) from Leader(localVoterNode=VoterNode(voterKey=ReplicaKey(id=2, directoryId=Lffksb-70Wp3kNARUpZ-bA), listeners=Endpoints(endpoints={ListenerName(CONTROLLER)=127.0.0.1/<unresolved>:23702}), supportedKRaftVersion=SupportedVersionRange[min_version:0, max_version:1]), epoch=1, epochStartOffset=0, highWatermark=Optional[LogOffsetMetadata(offset=1759, metadata=Optional[(segmentBaseOffset=0,relativePositionInSegment=122138)])], voterStates={1=ReplicaState(replicaKey=ReplicaKey(id=1, directoryId=<undefined>), endOffset=Optional[LogOffsetMetadata(offset=1759, metadata=Optional[(segmentBaseOffset=0,relativePositionInSegment=122138)])], lastFetchTimestamp=1795225884008, lastCaughtUpTimestamp=1795225884008, hasAcknowledgedLeader=true), 2=ReplicaState(replicaKey=ReplicaKey(id=2, directoryId=<undefined>), endOffset=Optional[LogOffsetMetadata(offset=1759, metadata=Optional[(segmentBaseOffset=0,relativePositionInSegment=122138)])], lastFetchTimestamp=-1, lastCaughtUpTimestamp=-1, hasAcknowledgedLeader=true), 3=ReplicaState(replicaKey=ReplicaKey(id=3, directoryId=<undefined>), endOffset=Optional[LogOffsetMetadata(offset=1759, metadata=Optional[(segmentBaseOffset=0,relativePositionInSegment=122138)])], lastFetchTimestamp=1795225884003, lastCaughtUpTimestamp=1795225884003, hasAcknowledgedLeader=true)}) (org.apache.kafka.raft.QuorumState)",
        },
    ),
)
