"""Lines of clients' loggers that matter which carry nothing we use."""

from spark_jobs.knowledge.model import Noise, noise

NOISE: tuple[Noise, ...] = (
    *noise(
        ("org.apache.kafka.clients.NetworkClient",),
        "Connections of brokers, controllers and other clients; the lost connections of consumers are read.",
        "] Bootstrap broker ",
        " disconnected.",
        " could not be established.",
        " due to request timeout.",
        "Cancelled in-flight ",
        "Client requested ",
        "Attempting to close NetworkClient ",
    ),
    *noise(
        ("org.apache.kafka.clients.Metadata",),
        "Epochs that a client remembers; the cluster id of a producer or an admin client, maybe of another cluster.",
        "] Cluster ID: ",
        "Resetting the last seen epoch of partition ",
    ),
    *noise(
        ("org.apache.kafka.common.config.AbstractConfig",),
        "Settings of clients that are not consumers.",
        "AbstractConfig values: ",
        "ProducerConfig values: ",
        "AdminClientConfig values: ",
    ),
    *noise(
        ("org.apache.kafka.common.utils.AppInfoParser",),
        "The build that runs, and the end of processes that are not consumers.",
        "Kafka version: ",
        "Kafka commitId: ",
        "Kafka startTimeMs: ",
        "App info ",
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
            "org.apache.kafka.clients.consumer.internals.CommitRequestManager",
        ),
        "The offset at which a consumer continues.",
        "Found no committed offset for partition ",
        "Setting offset for partition ",
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
        ),
        "A join that failed and is tried again, or a member that never joined: it caused no generation.",
        "] JoinGroup failed: ",
        "] Rebalance failed.",
        "] SyncGroup failed: ",
        "Attempt to heartbeat failed since coordinator ",
        " failed with error: The coordinator is not aware of this member.",
        "JoinGroup failed due to fatal error: ",
        "Generation data was cleared by heartbeat thread to ",
    ),
    *noise(
        ("org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer",),
        "Advice to the user.",
        "The consumer rebalance protocol (KIP-848) is production-ready!",
    ),
    *noise(
        ("org.apache.kafka.clients.consumer.internals.CommitRequestManager",),
        "Repeats that the member left; its own lines are read.",
        "won't include epoch in following offset commit/fetch requests",
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
            "org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager",
        ),
        "Repeats the assignment; added and revoked partitions have their own lines.",
        "Notifying assignor about the new Assignment",
        "Updating assignment with",
        "Reconciling assignment with local epoch ",
        "Giving away all assigned partitions as lost ",
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
            "org.apache.kafka.clients.consumer.internals.CommitRequestManager",
        ),
        "Repeats the failed commit.",
        "uto-commit of offsets ",
    ),
    *noise(
        ("org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",),
        "Repeats the lost coordinator or the close.",
        "Requesting disconnect from last known coordinator ",
        "Close timed out with ",
    ),
)
