"""The loggers that show each kind of event. As long as one of them was never read, their silence proves nothing."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.codes import WitnessKind

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""The levels of log4j, the least first."""

NEEDED_LEVELS = frozenset(LEVELS[: LEVELS.index("INFO") + 1])
"""The levels of the lines that are judged: INFO, and a finer level has been read wherever INFO was."""


@dataclass(frozen=True)
class WitnessLoggers:
    """The loggers of one kind of event, by class. One alternative is enough: each stands for a design of Kafka's.

    Each logger of an alternative writes while a broker starts, or whenever such an event happens.
    `needs_controller`: what a broker does not know of itself while it stands still or is cut off, its controller says.
    `idle_logger` and `work_loggers`: where the first wrote, which is of the same package, and none of the others, there
    may have been nothing to which such an event could happen.
    """

    kind: WitnessKind
    alternatives: tuple[frozenset[str], ...]
    source: str
    needs_controller: bool = False
    idle_logger: str | None = None
    work_loggers: frozenset[str] = frozenset()


SERVICE_LOGGER = "GroupCoordinatorService"
"""The logger of the coordinator in Java that writes at each start, whether it will coordinate groups or not: the one of
CoordinatorRuntime writes when it loads a partition of __consumer_offsets. Source: GroupCoordinatorService.startup;
CoordinatorRuntime.CoordinatorContext.load, since 3.7."""

ISR_LOGGER = "Partition"
"""The logger in which a leader writes how it changes the in-sync replicas itself. Source: Partition.maybeShrinkIsr."""

WITNESSES: tuple[WitnessLoggers, ...] = (
    WitnessLoggers(
        WitnessKind.LIFE,
        (frozenset({"KafkaServer"}), frozenset({"BrokerServer", "BrokerLifecycleManager"})),
        "KafkaServer.startup and shutdown (1.0 to 3.9); BrokerServer.maybeChangeStatus, BrokerLifecycleManager (KRaft);"
        " a broker that is missed for less than its log shows: ClusterControlManager.replay, KafkaController",
        needs_controller=True,
    ),
    WitnessLoggers(
        WitnessKind.LEADERS,
        (frozenset({"state.change.logger"}),),
        "ReplicaManager.becomeLeaderOrFollower, makeLeaders, makeFollowers; ReplicaManager.applyDelta (KRaft). Since"
        " when a leader was missed, its controller alone knows",
        needs_controller=True,
    ),
    WitnessLoggers(
        WitnessKind.IN_SYNC,
        (frozenset({ISR_LOGGER, "state.change.logger"}),),
        "Partition.maybeShrinkIsr and maybeExpandIsr, in each version. What a controller takes out of the in-sync"
        " replicas, as it does with those of a dead broker, a leader says to the state change logger alone",
        needs_controller=True,
    ),
    WitnessLoggers(
        WitnessKind.CUTS,
        (frozenset({"Log"}), frozenset({"UnifiedLog"})),
        "Log.truncateTo (1.0 to 2.8), UnifiedLog.truncateTo (3.0 and later); both write when a partition is loaded too",
    ),
    WitnessLoggers(
        WitnessKind.GROUPS,
        (frozenset({"GroupCoordinator"}), frozenset({"CoordinatorRuntime", "GroupMetadataManager"})),
        "GroupCoordinator.startup and prepareRebalance (1.0 to 3.9); of the coordinator in Java (3.7 and later)"
        " CoordinatorRuntime, which loads partitions, and GroupMetadataManager, which writes at each rebalance",
        idle_logger=SERVICE_LOGGER,
        work_loggers=frozenset({"GroupCoordinator", "GroupMetadataManager"}),
    ),
)

QUORUM_LOGGER = "ClusterControlManager"
"""The logger of each controller of KRaft that registers and fences brokers: one node's lines are enough.
Source: ClusterControlManager.replay, on the active controller and on the others (2.8 and later)."""

ZOOKEEPER_LOGGER = "ControllerEventManager$ControllerEventThread"
"""The logger that each broker on ZooKeeper has to itself: any of them may be the controller, and writes what it does.
Source: ControllerEventManager.start (1.0 to 3.9)."""

AT_EACH_START = frozenset({
    QUORUM_LOGGER,
    ZOOKEEPER_LOGGER,
    "KafkaServer",
    "BrokerServer",
    "BrokerLifecycleManager",
    "state.change.logger",
    "Partition",
    "Log",
    "UnifiedLog",
    "GroupCoordinator",
    SERVICE_LOGGER,
})  # fmt: skip
"""The loggers of which a broker with replicas writes a line at each start. The others write at rebalances alone."""

FILES = {"state.change.logger": "state-change.log", QUORUM_LOGGER: "controller.log", ZOOKEEPER_LOGGER: "controller.log"}
"""The file in which a logger of a distribution writes, where it is not server.log. Source: config/log4j.properties
(up to 3.9), config/log4j2.yaml (4.0 and later); the root logger and its appender write server.log."""

LAST_PARTS = {"logger": "state.change.logger"}
"""Names of which a layout shows the last part alone, as that of Strimzi 4 does, and the logger that they stand for."""

BROKER_LOGGERS = frozenset({logger for w in WITNESSES for a in w.alternatives for logger in a} - {"Log", "UnifiedLog"})
"""Loggers of brokers alone: the metadata log of a controller is a log too."""
