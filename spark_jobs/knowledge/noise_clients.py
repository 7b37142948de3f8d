"""Lines of clients' loggers that matter which carry nothing we use."""

from spark_jobs.knowledge.model import Noise, noise

NOISE: tuple[Noise, ...] = (
    *noise(
        ("org.apache.kafka.clients.NetworkClient",),
        "Connections of brokers, controllers and other clients; the consumers' lost ones are read.",
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
        "Epochs as a client keeps them, and the cluster of a producer or an administrator: possibly not that of the consumers.",
        "] Cluster ID: ",
        "Resetting the last seen epoch of partition ",
    ),
    *noise(
        ("org.apache.kafka.common.config.AbstractConfig",),
        "Settings of anything but a consumer. The samples are cut.",
        "AbstractConfig values: ",
        "ProducerConfig values: ",
        "AdminClientConfig values: ",
    ),
    *noise(
        ("org.apache.kafka.common.utils.AppInfoParser",),
        "Which build runs; and the end of anything but a consumer.",
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
        "Where a consumer goes on reading.",
        "Found no committed offset for partition ",
        "Setting offset for partition ",
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
        ),
        "A join that came to nothing and is tried again, or a member that never got in: no generation is owed to it.",
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
        "Advice, not news.",
        "The consumer rebalance protocol (KIP-848) is production-ready!",
    ),
    *noise(
        ("org.apache.kafka.clients.consumer.internals.CommitRequestManager",),
        "The member left; its own lines say so.",
        "won't include epoch in following offset commit/fetch requests",
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
            "org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager",
        ),
        "The assignment again; what came and what went has lines of its own.",
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
        "The failed commit again.",
        "uto-commit of offsets ",
    ),
    *noise(
        ("org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",),
        "The lost coordinator, or the close, again.",
        "Requesting disconnect from last known coordinator ",
        "Close timed out with ",
    ),
)
