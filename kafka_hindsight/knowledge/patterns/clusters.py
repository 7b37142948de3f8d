"""Lines that name the cluster id."""

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER_HEAD, LIFECYCLE_HEAD, QUORUM_HEAD

_ZOOKEEPER_LOGGERS = ("kafka.server.KafkaServer",)
_LIFECYCLE_LOGGERS = ("kafka.server.BrokerLifecycleManager", "org.apache.kafka.server.BrokerLifecycleManager")
_ZOOKEEPER_SOURCE = "core/src/main/scala/kafka/server/KafkaServer.scala"
_LIFECYCLE_SOURCE = "core/src/main/scala/kafka/server/BrokerLifecycleManager.scala"


PATTERNS = (
    Pattern(
        pattern_id="zookeeper.cluster_named",
        kind=Kind.CLUSTER_NAMED,
        loggers=_ZOOKEEPER_LOGGERS,
        regex=r"^(?:\[KafkaServer id=\d+\] )?Cluster ID = (?P<detail>[\w-]+)$",
        versions="1.0-3.9",
        source=f"{_ZOOKEEPER_SOURCE} startup",
    ),
    Pattern(
        pattern_id="kraft.cluster_named_by_controller",
        kind=Kind.CLUSTER_NAMED,
        loggers=("org.apache.kafka.controller.QuorumController",),
        regex=QUORUM_HEAD + r"Creating new QuorumController with clusterId (?P<detail>[\w-]+)\.?(?:,? .*)?$",
        versions="3.0-4.2",
        source="metadata/src/main/java/org/apache/kafka/controller/QuorumController.java",
    ),
    Pattern(
        pattern_id="kraft.cluster_named_by_broker",
        kind=Kind.CLUSTER_NAMED,
        head=LIFECYCLE_HEAD,
        loggers=_LIFECYCLE_LOGGERS,
        regex=r"Incarnation \S+ of broker \d+ in cluster (?P<detail>[\w-]+) is now STARTING\.$",
        versions="2.8-4.2",
        source=f"{_LIFECYCLE_SOURCE} StartupEvent",
    ),
    Pattern(
        pattern_id="client.cluster_named",
        kind=Kind.CLUSTER_NAMED,
        loggers=("org.apache.kafka.clients.Metadata",),
        regex=CONSUMER_HEAD + r"Cluster ID: (?P<detail>[\w-]+)$",
        versions="2.0-4.2",
        source="clients/src/main/java/org/apache/kafka/clients/Metadata.java update",
    ),
)
