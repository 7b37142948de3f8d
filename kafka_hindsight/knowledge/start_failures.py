"""Why the start of a broker fails, as its lines and the exceptions below them show it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafka_hindsight.catalog.codes import StartFailure
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event

QUOTED = 200
"""Characters of an exception that a sentence quotes."""


START_PATTERNS: tuple[tuple[StartFailure, re.Pattern[str]], ...] = (
    (StartFailure.NOT_AUTHENTICATED, re.compile("Unable to register broker .* because of an authentication exception")),
    (StartFailure.OTHER_CLUSTER, re.compile(r"Invalid cluster\.id in|InconsistentClusterIdException")),
    (StartFailure.DIRECTORY_LOCKED, re.compile(r"Failed to acquire lock on file \.lock in ")),
    (StartFailure.PORT_IN_USE, re.compile("BindException|failed to bind to")),
    (StartFailure.OUT_OF_MEMORY, re.compile("OutOfMemoryError")),
    (
        StartFailure.ID_TAKEN,
        re.compile(
            "NodeExistsException|broker is already registered on|DUPLICATE_BROKER_REGISTRATION|DuplicateBrokerReg"
        ),
    ),
    (
        StartFailure.NOT_REGISTERED,
        re.compile("unable to register with the controller quorum|ZooKeeperClientTimeoutException"),
    ),
    (
        StartFailure.CONFIGURATION,
        re.compile(r"\bConfigException|(?:NoSuchFile|FileNotFound)Exception: \S*(?<!meta)\.properties"),
    ),
    (
        StartFailure.LOG_DIR_FAILED,
        re.compile(
            "[Ss]hutdown broker because (?:all log dirs|none of the specified)|Halting (?:broker )?because dir"
            r"|Stopping serving logs in dir|meta\.properties|KafkaStorageException|No space left on device"
        ),
    ),
    (StartFailure.EXCEPTION, re.compile("Encountered fatal fault: |Fatal error during |Exiting Kafka")),
)
"""What shows each failure in lines and exceptions. The most specific first; what a broker tries again is last.

Sources: BrokerLifecycleManager, LogManager, KafkaConfig, MetaPropertiesEnsemble, SocketServer,
KafkaZkClient.registerBroker, ProcessTerminatingFaultHandler, KafkaServer.
"""


def why_start_failed(lines: Sequence[Event]) -> tuple[StartFailure, Event]:
    """The reason why one start failed, and the line that shows it, by its lines and the exceptions below them.

    A failure after a signal asked the process to stop is a result of the stop.

    Args:
        lines: The lines of the start in order, at least one.
    """
    signal = next((e for e in lines if e.kind == Kind.PROCESS_SIGNALLED), None)
    matches = (
        (reason, e) for reason, shown_by in START_PATTERNS for e in lines if shown_by.search(f"{e.text}\n{e.error}")
    )
    reason, line = next(matches, (StartFailure.STOPPED, signal or lines[0]))
    is_stopped = signal is not None and signal.happened_at <= line.happened_at
    return (StartFailure.STOPPED, signal) if signal and is_stopped else (reason, line)
