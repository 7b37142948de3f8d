"""The life of a KRaft broker, as it tells it itself (Kafka 2.8-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import captured, made

_KRAFT_LOGGERS = ("kafka.server.BrokerServer",)
_LIFECYCLE_LOGGERS = ("kafka.server.BrokerLifecycleManager", "org.apache.kafka.server.BrokerLifecycleManager")
_KRAFT = r"^\[BrokerServer id=\d+\] "
_LIFECYCLE = r"^\[BrokerLifecycleManager id=\d+\] "
_KRAFT_SOURCE = "core/src/main/scala/kafka/server/BrokerServer.scala"
_LIFECYCLE_SOURCE = "core/src/main/scala/kafka/server/BrokerLifecycleManager.scala"

_A_KRAFT_START = "[2026-11-21 01:40:51,758] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)"
_A_KRAFT_BEGIN = "[2026-11-21 01:40:51,792] INFO [BrokerServer id=1] Starting broker (kafka.server.BrokerServer)"
_A_KRAFT_LEAVING = "[2026-11-21 01:51:07,842] INFO [BrokerServer id=1] Transition from STARTED to SHUTTING_DOWN (kafka.server.BrokerServer)"
_A_KRAFT_STOP = "[2026-11-21 01:51:10,059] INFO [BrokerServer id=1] Transition from SHUTTING_DOWN to SHUTDOWN (kafka.server.BrokerServer)"
_A_RECOVERY = "[2026-11-21 01:40:54,016] INFO [BrokerLifecycleManager id=1] The broker has caught up. Transitioning from STARTING to RECOVERY. (kafka.server.BrokerLifecycleManager)"
_A_PENDING = "[2026-11-21 01:51:07,867] INFO [BrokerLifecycleManager id=1] The broker is in PENDING_CONTROLLED_SHUTDOWN state, still waiting for the active controller. (kafka.server.BrokerLifecycleManager)"
_A_REFUSED_REGISTRATION = "[2026-11-21 01:51:15,103] INFO [BrokerLifecycleManager id=1] Unable to register broker 1 because the controller returned error DUPLICATE_BROKER_REGISTRATION (kafka.server.BrokerLifecycleManager)"


PATTERNS = (
    Pattern(
        pattern_id="kraft.broker_starting",
        kind="broker_starting",
        loggers=_KRAFT_LOGGERS,
        contains="Transition from SHUTDOWN to STARTING",
        regex=_KRAFT + "Transition from SHUTDOWN to STARTING$",
        versions="2.8-4.2",
        source=f"{_KRAFT_SOURCE} startup",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:46,019] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:51,758] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)",
            ),
        ),
        counter_samples=(_A_KRAFT_BEGIN, _A_KRAFT_STOP),
    ),
    Pattern(
        pattern_id="kraft.broker_started",
        kind="broker_started",
        loggers=_KRAFT_LOGGERS,
        contains="Transition from STARTING to STARTED",
        regex=_KRAFT + "Transition from STARTING to STARTED$",
        versions="2.8-4.2",
        source=f"{_KRAFT_SOURCE} startup",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:48,446] INFO [BrokerServer id=1] Transition from STARTING to STARTED (kafka.server.BrokerServer)",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:54,144] INFO [BrokerServer id=1] Transition from STARTING to STARTED (kafka.server.BrokerServer)",
            ),
        ),
        counter_samples=(_A_KRAFT_START, _A_KRAFT_LEAVING),
    ),
    Pattern(
        pattern_id="kraft.broker_shutdown_started",
        kind="broker_shutdown_started",
        loggers=_KRAFT_LOGGERS,
        contains="] shutting down",
        regex=_KRAFT + "shutting down$",
        versions="2.8-4.2",
        source=f"{_KRAFT_SOURCE} shutdown",
        samples=(
            captured(
                "3.9", "[2026-11-21 02:01:43,102] INFO [BrokerServer id=1] shutting down (kafka.server.BrokerServer)"
            ),
            captured(
                "4.1", "[2026-11-21 01:51:07,842] INFO [BrokerServer id=1] shutting down (kafka.server.BrokerServer)"
            ),
        ),
        counter_samples=(_A_KRAFT_LEAVING,),
    ),
    Pattern(
        pattern_id="kraft.broker_stopped",
        kind="broker_stopped",
        loggers=_KRAFT_LOGGERS,
        contains="shut down completed",
        regex=_KRAFT + "shut down completed$",
        versions="2.8-4.2",
        source=f"{_KRAFT_SOURCE} shutdown",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:43,572] INFO [BrokerServer id=1] shut down completed (kafka.server.BrokerServer)",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:10,059] INFO [BrokerServer id=1] shut down completed (kafka.server.BrokerServer)",
            ),
        ),
        counter_samples=(_A_KRAFT_STOP,),
    ),
    Pattern(
        pattern_id="kraft.controlled_shutdown_started",
        kind="controlled_shutdown_started",
        loggers=_LIFECYCLE_LOGGERS,
        contains="Beginning controlled shutdown.",
        regex=_LIFECYCLE + r"Beginning controlled shutdown\.$",
        versions="2.8-4.2",
        source=f"{_LIFECYCLE_SOURCE} BeginControlledShutdownEvent",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:43,110] INFO [BrokerLifecycleManager id=1] Beginning controlled shutdown. (kafka.server.BrokerLifecycleManager)",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:07,843] INFO [BrokerLifecycleManager id=1] Beginning controlled shutdown. (kafka.server.BrokerLifecycleManager)",
            ),
        ),
        counter_samples=(_A_PENDING,),
    ),
    Pattern(
        pattern_id="kraft.controlled_shutdown_done",
        kind="controlled_shutdown_done",
        loggers=_LIFECYCLE_LOGGERS,
        contains="The controller has asked us to exit controlled shutdown.",
        regex=_LIFECYCLE + r"The controller has asked us to exit controlled shutdown\.$",
        versions="2.8-4.2",
        source=f"{_LIFECYCLE_SOURCE} BrokerHeartbeatResponseEvent",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:43,147] INFO [BrokerLifecycleManager id=1] The controller has asked us to exit controlled shutdown. (kafka.server.BrokerLifecycleManager)",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:09,959] INFO [BrokerLifecycleManager id=1] The controller has asked us to exit controlled shutdown. (kafka.server.BrokerLifecycleManager)",
            ),
        ),
        counter_samples=(_A_PENDING,),
    ),
    Pattern(
        pattern_id="kraft.broker_registered",
        kind="broker_registered",
        loggers=_LIFECYCLE_LOGGERS,
        contains="Successfully registered broker ",
        regex=_LIFECYCLE + r"Successfully registered broker (?P<node>\d+) with broker epoch (?P<detail>\d+)$",
        versions="2.8-4.2",
        source=f"{_LIFECYCLE_SOURCE} BrokerRegistrationResponseEvent",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:48,095] INFO [BrokerLifecycleManager id=1] Successfully registered broker 1 with broker epoch 6 (kafka.server.BrokerLifecycleManager)",
                node="1",
                detail="6",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:53,206] INFO [BrokerLifecycleManager id=1] Successfully registered broker 1 with broker epoch 8 (kafka.server.BrokerLifecycleManager)",
                node="1",
                detail="8",
            ),
        ),
        counter_samples=(_A_REFUSED_REGISTRATION,),
    ),
    Pattern(
        pattern_id="kraft.broker_unfenced_self",
        kind="broker_unfenced_self",
        loggers=_LIFECYCLE_LOGGERS,
        contains="The broker has been unfenced.",
        regex=_LIFECYCLE + r"The broker has been unfenced\. Transitioning from RECOVERY to RUNNING\.$",
        versions="2.8-4.2",
        source=f"{_LIFECYCLE_SOURCE} BrokerHeartbeatResponseEvent",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:48,418] INFO [BrokerLifecycleManager id=1] The broker has been unfenced. Transitioning from RECOVERY to RUNNING. (kafka.server.BrokerLifecycleManager)",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:54,136] INFO [BrokerLifecycleManager id=1] The broker has been unfenced. Transitioning from RECOVERY to RUNNING. (kafka.server.BrokerLifecycleManager)",
            ),
        ),
        counter_samples=(_A_RECOVERY,),
    ),
    Pattern(
        pattern_id="kraft.broker_heartbeat_failed",
        kind="broker_heartbeat_failed",
        loggers=_LIFECYCLE_LOGGERS,
        contains=" a heartbeat ",
        regex=_LIFECYCLE
        + r"(?:Unable to send a heartbeat because .*|Broker \d+ sent a heartbeat request but received error (?P<error>\w+)\.)$",
        versions="2.8-4.2",
        source=f"{_LIFECYCLE_SOURCE} BrokerHeartbeatTimeoutEvent, BrokerHeartbeatResponseEvent",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:04:05,067] INFO [BrokerLifecycleManager id=1] Unable to send a heartbeat because the RPC got timed out before it could be sent. (kafka.server.BrokerLifecycleManager)",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:57,855] INFO [BrokerLifecycleManager id=2] Unable to send a heartbeat because the RPC got timed out before it could be sent. (kafka.server.BrokerLifecycleManager)",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:05,329] WARN [BrokerLifecycleManager id=1] Broker 1 sent a heartbeat request but received error STALE_BROKER_EPOCH. (kafka.server.BrokerLifecycleManager)",
                error="STALE_BROKER_EPOCH",
            ),
        ),
        counter_samples=(_A_REFUSED_REGISTRATION,),
    ),
)
