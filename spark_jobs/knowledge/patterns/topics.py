"""Topics that come, grow and go, and settings that change."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import captured

_ADMIN_LOGGERS = ("kafka.zk.AdminZkClient",)
_DELETION_LOGGERS = ("kafka.controller.TopicDeletionManager",)
_REPLICATION_LOGGERS = ("org.apache.kafka.controller.ReplicationControlManager",)
_CONFIG_LOGGERS = ("org.apache.kafka.controller.ConfigurationControlManager",)
_QUORUM = r"^\[QuorumController id=\d+\] "
_TOPIC = r"(?P<topic>[\w.-]+)"
_ADMIN_SOURCE = "core/src/main/scala/kafka/zk/AdminZkClient.scala"
_PACKAGE = "metadata/src/main/java/org/apache/kafka/controller"

_A_CREATION = "[2026-11-21 01:54:06,999] INFO Creating topic ads-risky-18 with configuration {unclean.leader.election.enable=true} and initial partition assignment HashMap(0 -> ArrayBuffer(1, 2), 1 -> ArrayBuffer(2, 1)) (kafka.zk.AdminZkClient)"
_AN_ADDITION = "[2026-11-21 01:46:51,173] INFO Creating 4 partitions for 'email-grow-5-t' with the following replica assignment: HashMap(3 -> ReplicaAssignment(replicas=1,3,2, addingReplicas=, removingReplicas=), 4 -> ReplicaAssignment(replicas=2,1,3, addingReplicas=, removingReplicas=), 5 -> ReplicaAssignment(replicas=3,2,1, addingReplicas=, removingReplicas=), 6 -> ReplicaAssignment(replicas=1,2,3, addingReplicas=, removingReplicas=)). (kafka.zk.AdminZkClient)"
_A_HANDLED_DELETION = "[2026-11-21 01:44:48,472] INFO [Topic Deletion Manager 2] Handling deletion for topics crm-rx-1-x1 (kafka.controller.TopicDeletionManager)"
_A_RESULT = "[2026-11-21 01:41:42,401] INFO [QuorumController id=2] CreateTopics result(s): CreatableTopic(name='mobile-sub-3-t', numPartitions=3, replicationFactor=3, assignments=[], configs=[]): SUCCESS (org.apache.kafka.controller.ReplicationControlManager)"
_A_PARTITION = "[2026-11-21 01:40:54,439] INFO [QuorumController id=1] Replayed PartitionRecord for new partition shop-events-0 with topic ID vBbKtPgrQXuKDhsRLiajrQ and PartitionRegistration(replicas=[2, 3, 1], directories=[Lffksb-70Wp3kNARUpZ-bA, iynm701FChJnfIr-tquaEA, 8Tpkg9j3NeddxbHT-rRn6g], isr=[2, 3, 1], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=2, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0). (org.apache.kafka.controller.ReplicationControlManager)"
_A_REMOVED_TOPIC = "[2026-11-21 01:48:26,860] INFO [QuorumController id=1] Replayed RemoveTopicRecord for topic ads-rx-13-x1 with ID 0iOp7e7mTgCgj6LoMZQA_w. (org.apache.kafka.controller.ReplicationControlManager)"
_A_REMOVED_CONFIG = "[2025-03-12 10:00:01,904] INFO [QuorumController id=1] Replayed ConfigRecord for ConfigResource(type=TOPIC, name='orders') which unset configuration unclean.leader.election.enable (org.apache.kafka.controller.ConfigurationControlManager)"

PATTERNS = (
    Pattern(
        pattern_id="zookeeper.topic_created",
        kind="topic_created",
        loggers=_ADMIN_LOGGERS,
        contains="Creating topic ",
        regex=rf"^Creating topic {_TOPIC} with configuration \{{.*\}} and initial partition assignment .*$",
        versions="2.0-3.9",
        source=f"{_ADMIN_SOURCE} createTopicWithAssignment",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:54:06,999] INFO Creating topic ads-risky-18 with configuration {unclean.leader.election.enable=true} and initial partition assignment HashMap(0 -> ArrayBuffer(1, 2), 1 -> ArrayBuffer(2, 1)) (kafka.zk.AdminZkClient)",
                topic="ads-risky-18",
            ),
        ),
        counter_samples=(_AN_ADDITION,),
    ),
    Pattern(
        pattern_id="zookeeper.partitions_added",
        kind="partitions_added",
        loggers=_ADMIN_LOGGERS,
        contains=" with the following replica assignment: ",
        regex=rf"^Creating (?P<event_count>\d+) partitions for '{_TOPIC}' with the following replica assignment: .*$",
        versions="2.0-3.9",
        source=f"{_ADMIN_SOURCE} createNewPartitionsAssignment",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:46:51,173] INFO Creating 4 partitions for 'email-grow-5-t' with the following replica assignment: HashMap(3 -> ReplicaAssignment(replicas=1,3,2, addingReplicas=, removingReplicas=), 4 -> ReplicaAssignment(replicas=2,1,3, addingReplicas=, removingReplicas=), 5 -> ReplicaAssignment(replicas=3,2,1, addingReplicas=, removingReplicas=), 6 -> ReplicaAssignment(replicas=1,2,3, addingReplicas=, removingReplicas=)). (kafka.zk.AdminZkClient)",
                event_count="4",
                topic="email-grow-5-t",
            ),
        ),
        counter_samples=(_A_CREATION,),
    ),
    Pattern(
        pattern_id="zookeeper.topic_deleted",
        kind="topic_deleted",
        loggers=_DELETION_LOGGERS,
        contains=" (re)started",
        regex=rf"^\[Topic Deletion Manager \d+\] Deletion of topic {_TOPIC} \(re\)started$",
        versions="1.0-3.9",
        source="core/src/main/scala/kafka/controller/TopicDeletionManager.scala resumeDeletions",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:48,473] INFO [Topic Deletion Manager 2] Deletion of topic crm-rx-1-x1 (re)started (kafka.controller.TopicDeletionManager)",
                topic="crm-rx-1-x1",
            ),
        ),
        counter_samples=(_A_HANDLED_DELETION,),
    ),
    Pattern(
        pattern_id="kraft.topic_created",
        kind="topic_created",
        loggers=_REPLICATION_LOGGERS,
        contains="Replayed TopicRecord for topic ",
        regex=_QUORUM + rf"Replayed TopicRecord for topic {_TOPIC} with topic ID \S+\.$",
        versions="3.6-4.2",
        source=f"{_PACKAGE}/ReplicationControlManager.java replay",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:48,649] INFO [QuorumController id=4] Replayed TopicRecord for topic shop-events with topic ID XfaAb-ZYShWYV80Xxr_M0Q. (org.apache.kafka.controller.ReplicationControlManager)",
                topic="shop-events",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:54,403] INFO [QuorumController id=1] Replayed TopicRecord for topic shop-events with topic ID vBbKtPgrQXuKDhsRLiajrQ. (org.apache.kafka.controller.ReplicationControlManager)",
                topic="shop-events",
            ),
        ),
        counter_samples=(_A_RESULT, _A_REMOVED_TOPIC),
    ),
    Pattern(
        pattern_id="kraft.topic_deleted",
        kind="topic_deleted",
        loggers=_REPLICATION_LOGGERS,
        contains="Replayed RemoveTopicRecord for topic ",
        regex=_QUORUM + rf"Replayed RemoveTopicRecord for topic {_TOPIC} with ID \S+\.$",
        versions="3.6-4.2",
        source=f"{_PACKAGE}/ReplicationControlManager.java replay",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:55:59,585] INFO [QuorumController id=4] Replayed RemoveTopicRecord for topic crm-rx-6-x1 with ID DziF9nEXS7WO25kWc6M8Rw. (org.apache.kafka.controller.ReplicationControlManager)",
                topic="crm-rx-6-x1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:48:26,860] INFO [QuorumController id=1] Replayed RemoveTopicRecord for topic ads-rx-13-x1 with ID 0iOp7e7mTgCgj6LoMZQA_w. (org.apache.kafka.controller.ReplicationControlManager)",
                topic="ads-rx-13-x1",
            ),
        ),
        counter_samples=(_A_PARTITION,),
    ),
    Pattern(
        pattern_id="kraft.config_changed",
        kind="config_changed",
        loggers=_CONFIG_LOGGERS,
        contains=" which set configuration ",
        regex=_QUORUM
        + r"Replayed ConfigRecord for ConfigResource\(type=(?:TOPIC, name='(?P<topic>[\w.-]+)'|BROKER, name='(?P<node>\d*)')\) "
        r"which set configuration (?P<reason>[\w.-]+) to (?P<detail>.*)$",
        versions="3.6-4.2",
        source=f"{_PACKAGE}/ConfigurationControlManager.java replay",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:02:49,489] INFO [QuorumController id=4] Replayed ConfigRecord for ConfigResource(type=TOPIC, name='crm-risky-18') which set configuration unclean.leader.election.enable to true (org.apache.kafka.controller.ConfigurationControlManager)",
                topic="crm-risky-18",
                reason="unclean.leader.election.enable",
                detail="true",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:53,139] INFO [QuorumController id=1] Replayed ConfigRecord for ConfigResource(type=BROKER, name='') which set configuration min.insync.replicas to 1 (org.apache.kafka.controller.ConfigurationControlManager)",
                reason="min.insync.replicas",
                detail="1",
            ),
        ),
        counter_samples=(_A_REMOVED_CONFIG,),
    ),
)
