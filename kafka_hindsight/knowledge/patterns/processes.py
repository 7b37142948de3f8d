"""How the start of a broker fails, and how its process ends, by its own lines (Kafka 0.10-4.4)."""

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import LIFECYCLE_HEAD

_SERVERS = "core/src/main/scala/kafka/server"
_LIFECYCLE_LOGGERS = ("kafka.server.BrokerLifecycleManager", "org.apache.kafka.server.BrokerLifecycleManager")
_CAUSE = r"(?:\n(?:.*\nCaused by: )?(?P<error>[^\n]*).*)?$"
"""The exception below a line: its last cause, else itself."""
_FAULT_LOGGERS = (
    "org.apache.kafka.server.fault.ProcessTerminatingFaultHandler",
    "org.apache.kafka.server.fault.ProcessExitingFaultHandler",
)
_LOG_MANAGER = ("kafka.log.LogManager",)
_LOADS_LOGS = "core/src/main/scala/kafka/log/LogManager.scala loadLogs"


PATTERNS = (
    Pattern(
        pattern_id="process.version",
        kind=Kind.SOFTWARE_VERSION,
        loggers=("org.apache.kafka.common.utils.AppInfoParser",),
        regex=r"^Kafka version ?: (?P<detail>\S+)$",
        versions="0.10-4.4",
        source="clients/src/main/java/org/apache/kafka/common/utils/AppInfoParser.java AppInfo; with a blank before the"
        " colon until 2.1",
    ),
    Pattern(
        pattern_id="process.logs_clean",
        kind=Kind.LOGS_CLEAN,
        loggers=_LOG_MANAGER,
        regex=r"^Skipping recovery (?:for all logs in|of \d+ logs from) (?P<detail>.+) since clean shutdown file was found$",
        versions="2.6-4.4",
        source=f"{_LOADS_LOGS}; LogManager.shutdown writes the file of a directory whose logs it has flushed",
    ),
    Pattern(
        pattern_id="process.logs_unclean",
        kind=Kind.LOGS_UNCLEAN,
        loggers=_LOG_MANAGER,
        regex=r"^(?:Attempting recovery for all logs in|Recovering \d+ logs from) (?P<detail>.+) since no clean shutdown file was found$",
        versions="2.6-4.4",
        source=_LOADS_LOGS,
    ),
    Pattern(
        pattern_id="process.logs_recovered",
        kind=Kind.LOGS_UNCLEAN,
        loggers=_LOG_MANAGER,
        regex=r"^Loaded \d+ logs in \d+ms \(unclean log dirs = (?P<detail>.+)\)$",
        versions="3.0-4.4",
        source=f"{_LOADS_LOGS}: where it is over, of the directories without a clean shutdown file",
    ),
    Pattern(
        pattern_id="process.segment_recovering",
        kind=Kind.LOGS_UNCLEAN,
        loggers=("kafka.log.Log",),
        regex=r"^\[Log partition=[^,]+, dir=(?P<detail>[^\]]+)\] Recovering unflushed segment \d+.*$",
        versions="1.1-2.8",
        source="core/src/main/scala/kafka/log/Log.scala recoverLog: only where no clean shutdown file was found",
    ),
    Pattern(
        pattern_id="process.start_failed",
        kind=Kind.BROKER_START_FAILED,
        loggers=("kafka.server.KafkaServer", "kafka.server.BrokerServer", "kafka.server.ControllerServer"),
        regex=r"^(?:\[\w+ id=\d+\] |\[Kafka Server \d+\], )?Fatal error during (?P<detail>KafkaServer|broker|controller) startup\. Prepare to shutdown"
        + _CAUSE,
        reads_trace=True,
        versions="0.10-4.4",
        source=f"{_SERVERS}/KafkaServer.scala, BrokerServer.scala, ControllerServer.scala (until 3.4) startup",
    ),
    Pattern(
        pattern_id="process.start_aborted",
        kind=Kind.BROKER_START_FAILED,
        loggers=("kafka.Kafka$", "kafka.server.KafkaServerStartable"),
        regex=r"^(?P<detail>Exiting Kafka|Fatal error during KafkaServerStartable startup)"
        r"(?:\.| due to fatal exception(?: during startup\.)?)(?: Prepare to shutdown)?" + _CAUSE,
        reads_trace=True,
        versions="0.10-4.4",
        source="core/src/main/scala/kafka/Kafka.scala main; KafkaServerStartable.scala startup (until 2.7)",
    ),
    Pattern(
        pattern_id="kraft.registration_abandoned",
        kind=Kind.BROKER_START_FAILED,
        loggers=_LIFECYCLE_LOGGERS,
        regex=LIFECYCLE_HEAD
        + r"Shutting down because we were (?P<detail>unable to register with the controller quorum)\.$",
        versions="2.8-4.4",
        source=f"{_SERVERS}/BrokerLifecycleManager.scala RegistrationTimeoutEvent",
    ),
    Pattern(
        pattern_id="kraft.start_abandoned",
        kind=Kind.BROKER_START_ABANDONED,
        head=LIFECYCLE_HEAD,
        loggers=_LIFECYCLE_LOGGERS,
        regex=r"Transitioning from (?P<previous_state>NOT_RUNNING|STARTING|RECOVERY) to SHUTTING_DOWN\.$",
        versions="2.8-4.4",
        source=f"{_SERVERS}/BrokerLifecycleManager.scala ShutdownEvent",
    ),
    Pattern(
        pattern_id="process.signalled",
        kind=Kind.PROCESS_SIGNALLED,
        loggers=("org.apache.kafka.common.utils.LoggingSignalHandler", "kafka.Kafka$"),
        regex=r"^Terminating process due to signal (?P<detail>\w+)$",
        versions="1.0-4.4",
        source="clients/src/main/java/org/apache/kafka/common/utils/LoggingSignalHandler.java; kafka/Kafka.scala in 1.0",
    ),
    Pattern(
        pattern_id="process.controller_start_failed",
        kind=Kind.BROKER_START_FAILED,
        loggers=_FAULT_LOGGERS,
        regex=r"^Encountered fatal fault: (?P<detail>caught exception)" + _CAUSE,
        reads_trace=True,
        versions="3.4-4.4",
        source=f"{_SERVERS}/ControllerServer.scala startup; SharedServer.controllerStartupFaultHandler says this alone",
    ),
    Pattern(
        pattern_id="process.truncation_refused",
        kind=Kind.PROCESS_FAULTED,
        loggers=("kafka.server.ReplicaFetcherThread",),
        regex=r"^\[[^\]]+\]:? (?P<detail>Exiting because log truncation is not allowed for partition [\w.-]+), .*$",
        versions="0.9-2.0",
        source=f"{_SERVERS}/ReplicaFetcherThread.scala handleOffsetOutOfRange throws FatalExitError, which ends the process",
    ),
    Pattern(
        pattern_id="process.fatal_fault",
        kind=Kind.PROCESS_FAULTED,
        loggers=_FAULT_LOGGERS,
        regex=r"^Encountered fatal fault: (?!caught exception(?:\n|$))(?P<detail>[^\n]*)" + _CAUSE,
        reads_trace=True,
        versions="3.3-4.4",
        source="server-common/src/main/java/org/apache/kafka/server/fault/ProcessTerminatingFaultHandler.java handleFault",
    ),
)
