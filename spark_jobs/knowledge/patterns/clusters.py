"""Lines that tell the id of the cluster."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CONSUMER_HEAD, captured

_ZOOKEEPER_LOGGERS = ("kafka.server.KafkaServer",)
_LIFECYCLE_LOGGERS = ("kafka.server.BrokerLifecycleManager", "org.apache.kafka.server.BrokerLifecycleManager")
_LIFECYCLE = r"^\[BrokerLifecycleManager id=\d+\] "
_ZOOKEEPER_SOURCE = "core/src/main/scala/kafka/server/KafkaServer.scala"
_LIFECYCLE_SOURCE = "core/src/main/scala/kafka/server/BrokerLifecycleManager.scala"

_A_CONNECTION = "[2026-11-21 01:44:23,487] INFO Connecting to zookeeper on 127.0.0.1:20400 (kafka.server.KafkaServer)"
_A_RECOVERY = "[2026-11-21 01:40:54,016] INFO [BrokerLifecycleManager id=1] The broker has caught up. Transitioning from STARTING to RECOVERY. (kafka.server.BrokerLifecycleManager)"
_AN_ACTIVATION = "[2026-11-21 01:51:24,472] WARN [QuorumController id=1] Performing controller activation. (org.apache.kafka.controller.QuorumController)"

PATTERNS = (
    Pattern(
        pattern_id="zookeeper.cluster_named",
        kind="cluster_named",
        loggers=_ZOOKEEPER_LOGGERS,
        contains="Cluster ID = ",
        regex=r"^(?:\[KafkaServer id=\d+\] )?Cluster ID = (?P<detail>[\w-]+)$",
        versions="1.0-3.9",
        source=f"{_ZOOKEEPER_SOURCE} startup",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:23,913] INFO Cluster ID = MFyWfhVxSNOBAy-tm_oW-w (kafka.server.KafkaServer)",
                detail="MFyWfhVxSNOBAy-tm_oW-w",
            ),
        ),
        counter_samples=(_A_CONNECTION,),
    ),
    Pattern(
        pattern_id="kraft.cluster_named_by_controller",
        kind="cluster_named",
        loggers=("org.apache.kafka.controller.QuorumController",),
        contains="Creating new QuorumController with clusterId ",
        regex=r"^\[QuorumController id=\d+\] Creating new QuorumController with clusterId (?P<detail>[\w-]+)\.?(?: .*)?$",
        versions="3.0-4.2",
        source="metadata/src/main/java/org/apache/kafka/controller/QuorumController.java",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:47,553] INFO [QuorumController id=4] Creating new QuorumController with clusterId BwtpaCz4Sy6UPlZ5Dc6KGw. (org.apache.kafka.controller.QuorumController)",
                detail="BwtpaCz4Sy6UPlZ5Dc6KGw",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:51,438] INFO [QuorumController id=1] Creating new QuorumController with clusterId M3qSc9eLQMSD2A9RXcqTKA (org.apache.kafka.controller.QuorumController)",
                detail="M3qSc9eLQMSD2A9RXcqTKA",
            ),
        ),
        counter_samples=(_AN_ACTIVATION,),
    ),
    Pattern(
        pattern_id="kraft.cluster_named_by_broker",
        kind="cluster_named",
        loggers=_LIFECYCLE_LOGGERS,
        contains=" is now STARTING.",
        regex=_LIFECYCLE + r"Incarnation \S+ of broker \d+ in cluster (?P<detail>[\w-]+) is now STARTING\.$",
        versions="2.8-4.2",
        source=f"{_LIFECYCLE_SOURCE} StartupEvent",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:47,819] INFO [BrokerLifecycleManager id=1] Incarnation BmgCSZOsS-6RwV20Bg5DcA of broker 1 in cluster BwtpaCz4Sy6UPlZ5Dc6KGw is now STARTING. (kafka.server.BrokerLifecycleManager)",
                detail="BwtpaCz4Sy6UPlZ5Dc6KGw",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:52,949] INFO [BrokerLifecycleManager id=1] Incarnation VOYIHCdxTZGGacQHpNWssw of broker 1 in cluster M3qSc9eLQMSD2A9RXcqTKA is now STARTING. (kafka.server.BrokerLifecycleManager)",
                detail="M3qSc9eLQMSD2A9RXcqTKA",
            ),
        ),
        counter_samples=(_A_RECOVERY,),
    ),
    Pattern(
        pattern_id="client.cluster_named",
        kind="cluster_named",
        loggers=("org.apache.kafka.clients.Metadata",),
        contains="] Cluster ID: ",
        regex=CONSUMER_HEAD + r"Cluster ID: (?P<detail>[\w-]+)$",
        versions="2.0-4.2",
        source="clients/src/main/java/org/apache/kafka/clients/Metadata.java update",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:43,582] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Cluster ID: MFyWfhVxSNOBAy-tm_oW-w (org.apache.kafka.clients.Metadata)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
                detail="MFyWfhVxSNOBAy-tm_oW-w",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:56:11,985] INFO [Consumer instanceId=i1, clientId=mobile-static-7-a, groupId=mobile-static-7] Cluster ID: BwtpaCz4Sy6UPlZ5Dc6KGw (org.apache.kafka.clients.Metadata)",
                instance_id="i1",
                client_id="mobile-static-7-a",
                group_id="mobile-static-7",
                detail="BwtpaCz4Sy6UPlZ5Dc6KGw",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:59,632] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Cluster ID: M3qSc9eLQMSD2A9RXcqTKA (org.apache.kafka.clients.Metadata)",
                client_id="ads-etl-1-a",
                group_id="ads-etl-1",
                detail="M3qSc9eLQMSD2A9RXcqTKA",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:49:43,579] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Resetting the last seen epoch of partition shop-events-0 to 0 since the associated topicId changed from null to rhT09GxfRb-YO2neevTAyg (org.apache.kafka.clients.Metadata)",
        ),
    ),
)
