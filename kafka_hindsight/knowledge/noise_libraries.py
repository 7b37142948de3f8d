"""Lines of clients that are not Java's which carry nothing we use."""

from kafka_hindsight.knowledge.model import Noise, noise

NOISE: tuple[Noise, ...] = (
    *noise(
        ("org.apache.kafka.connect.runtime.distributed.WorkerCoordinator",),
        "Steps that the worker names again when they are done, and connections.",
        "] Rebalance started",
        "] Requesting disconnect from last known coordinator ",
        "] Close timed out with ",
    ),
    *noise(
        ("org.apache.kafka.connect.runtime.distributed.DistributedHerder",),
        "What a worker does with its connectors and tasks once it has its assignment.",
        "] Herder st",
        "] Start",
        "] Stopping connectors and tasks ",
        "] Finished ",
        "] Handling ",
        "] Current config state offset ",
        "] Catching up to assignment's config offset.",
        "] Session key updated",
    ),
    *noise(
        ("aiokafka.consumer.group_coordinator",),
        "What the leader of a group does in each join phase, and requests that are tried again.",
        "Elected group leader -- performing partition assignments using ",
        "Group Coordinator Request failed: ",
        "Error sending HeartbeatRequest to node ",
        "Heartbeat send request failed: ",
        " because group is initializing ",
        " due to a coordinator error ",
    ),
    *noise(
        ("aiokafka.consumer.group_coordinator",),
        "A failed commit again, without its group.",
        "Auto offset commit failed: ",
        "OffsetCommit failed before join, ignoring: ",
    ),
    *noise(
        ("kafka.coordinator", "kafka.coordinator.heartbeat"),
        "What the leader of a group does in each join phase, threads, and requests that are tried again.",
        "Elected group leader -- performing partition assignments using ",
        "Received member id ",
        "Attempt to join group ",
        "LeaveGroup request for group ",
        "Error sending ",
        "Stopping heartbeat thread",
        "Starting new heartbeat thread",
        " is either not started or not valid",
    ),
    *noise(
        ("kafka.coordinator.consumer",),
        "A failed commit again, without its group.",
        "ffset commit failed: This is likely to cause duplicate message delivery",
    ),
    *noise(
        ("kafka.consumer.subscription_state",),
        "The assignment, which the coordinator's logger names too.",
        "Updated partition assignment: ",
    ),
    *noise(
        ("node.kafkajs",),
        "The end of a loop, connections that are tried again, and a rebalance that the runner names too.",
        "[Runner] consumer not running, exiting; ",
        "[BrokerPool] ",
        "The group is rebalancing, so a rejoin is needed",
        "[Connection] Response GroupCoordinator(",
    ),
)
