"""Why the start of a broker fails, as its lines and the exceptions below them show it, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import StartFailure
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.knowledge.kinds import Kind

QUOTED = 200
"""Characters of an exception that a sentence quotes."""


@dataclass(frozen=True)
class StartReason:
    """One reason: its code, the lines and exceptions that show it, the reason in words, and what to do."""

    code: StartFailure
    shown_by: re.Pattern[str]
    reason: str
    advice: str


START_REASONS = (
    StartReason(
        StartFailure.NOT_AUTHENTICATED,
        re.compile("Unable to register broker .* because of an authentication exception"),
        "it could not authenticate with the controllers",
        "Renew the certificate or the password of the controller listener: openssl x509 -enddate shows when one ends.",
    ),
    StartReason(
        StartFailure.OTHER_CLUSTER,
        re.compile(r"Invalid cluster\.id in|InconsistentClusterIdException"),
        "its disk belongs to another cluster",
        "Compare cluster.id in the meta.properties of its log directories with the cluster's id: either the wrong disk"
        " is mounted, or the broker is pointed at the wrong controllers.",
    ),
    StartReason(
        StartFailure.DIRECTORY_LOCKED,
        re.compile(r"Failed to acquire lock on file \.lock in "),
        "another process of the broker still ran, and held its log directories",
        "Stop the process that runs before you start another one, or give the other one an id, directories and ports of"
        " its own.",
    ),
    StartReason(
        StartFailure.PORT_IN_USE,
        re.compile("BindException|failed to bind to"),
        "a port that it listens on was taken, or an address is not this host's",
        "Find the process that holds the port: it may be the former broker, which has not ended. Check listeners.",
    ),
    StartReason(
        StartFailure.OUT_OF_MEMORY,
        re.compile("OutOfMemoryError"),
        "its memory was too small",
        "Give it a larger heap (KAFKA_HEAP_OPTS), or its container more memory than the heap.",
    ),
    StartReason(
        StartFailure.ID_TAKEN,
        re.compile(
            "NodeExistsException|broker is already registered on|DUPLICATE_BROKER_REGISTRATION|DuplicateBrokerReg"
        ),
        "its id was registered already",
        "Where its former process has just ended, wait until its session is over (zookeeper.session.timeout.ms,"
        " broker.session.timeout.ms) and start it again. Else look whether it still runs, or another broker has the"
        " same id.",
    ),
    StartReason(
        StartFailure.NOT_REGISTERED,
        re.compile("unable to register with the controller quorum|ZooKeeperClientTimeoutException"),
        "no controller registered it in time, or ZooKeeper did not answer",
        "Check that most controllers run and take its certificate or password, and that the broker reaches them as"
        " controller.quorum.voters, controller.quorum.bootstrap.servers or zookeeper.connect names them.",
    ),
    StartReason(
        StartFailure.CONFIGURATION,
        re.compile(r"\bConfigException|(?:NoSuchFile|FileNotFound)Exception: \S*(?<!meta)\.properties"),
        "a setting was wrong, or the file of the settings was not found",
        "Correct the setting, or the path, that the exception names.",
    ),
    StartReason(
        StartFailure.LOG_DIR_FAILED,
        re.compile(
            "[Ss]hutdown broker because (?:all log dirs|none of the specified)|Halting (?:broker )?because dir"
            r"|Stopping serving logs in dir|meta\.properties|KafkaStorageException|No space left on device"
        ),
        "a log directory could not be used, or was not formatted",
        "Look at the disk of the directory: whether it is mounted, has room, and can be read and written. A new one"
        " is formatted with kafka-storage.sh.",
    ),
    StartReason(
        StartFailure.EXCEPTION,
        re.compile("Encountered fatal fault: |Fatal error during |Exiting Kafka"),
        "its process ended with an exception",
        "Read the exception below the line of the failed start.",
    ),
)
"""The most specific first; what a broker tries again is last. Sources: BrokerLifecycleManager, LogManager, KafkaConfig,
MetaPropertiesEnsemble, SocketServer, KafkaZkClient.registerBroker, ProcessTerminatingFaultHandler, KafkaServer."""

STOPPED_EARLY = StartReason(
    StartFailure.STOPPED, re.compile(""), "its process was stopped before it served", "Find out who or what stopped it."
)


def why_start_failed(lines: Sequence[Event]) -> tuple[StartReason, Event]:
    """The reason why one start failed, and the line that shows it, by its lines and the exceptions below them.

    A failure after a signal asked the process to stop is a result of the stop.

    Args:
        lines: The lines of the start in order, at least one.
    """
    signal = next((e for e in lines if e.kind == Kind.PROCESS_SIGNALLED), None)
    matches = ((reason, e) for reason in START_REASONS for e in lines if reason.shown_by.search(f"{e.text}\n{e.error}"))
    reason, line = next(matches, (STOPPED_EARLY, signal or lines[0]))
    is_stopped = signal is not None and signal.happened_at <= line.happened_at
    return (STOPPED_EARLY, signal) if signal and is_stopped else (reason, line)
