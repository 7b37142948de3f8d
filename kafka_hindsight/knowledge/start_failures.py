"""Why the start of a broker fails, as its lines and the exceptions below them tell it, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import StartFailure


@dataclass(frozen=True)
class StartReason:
    """One reason: its code, the lines and exceptions that tell it, the reason in words, and what to do."""

    code: StartFailure
    told_by: re.Pattern[str]
    reason: str
    advice: str


START_REASONS = (
    StartReason(
        StartFailure.QUORUM_UNREACHABLE,
        re.compile("unable to register with the controller quorum|ZooKeeperClientTimeoutException"),
        "the controller quorum did not answer",
        "Check that most controllers run, and that the broker reaches them as controller.quorum.voters,"
        " controller.quorum.bootstrap.servers or zookeeper.connect names them.",
    ),
    StartReason(
        StartFailure.OTHER_CLUSTER,
        re.compile(r"Invalid cluster\.id in|InconsistentClusterIdException"),
        "its disk belongs to another cluster",
        "Compare cluster.id in the meta.properties of its log directories with the cluster's id: either the wrong disk"
        " is mounted, or the broker is pointed at the wrong controllers.",
    ),
    StartReason(
        StartFailure.PORT_IN_USE,
        re.compile("BindException|failed to bind to"),
        "a port that it listens on was taken, or an address is not this host's",
        "Find the process that holds the port: it may be the former broker, which has not ended. Check listeners.",
    ),
    StartReason(
        StartFailure.ID_TAKEN,
        re.compile("NodeExistsException"),
        "ZooKeeper had its id registered already",
        "Where its former process has just ended, wait until zookeeper.session.timeout.ms is over and start it again."
        " Else look whether it still runs, or another broker has the same broker.id.",
    ),
    StartReason(
        StartFailure.OUT_OF_MEMORY,
        re.compile("OutOfMemoryError"),
        "its memory was too small",
        "Give it a larger heap (KAFKA_HEAP_OPTS), or its container more memory than the heap.",
    ),
    StartReason(
        StartFailure.CONFIGURATION,
        re.compile(r"\bConfigException"),
        "a setting was wrong",
        "Correct the setting that the exception names.",
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
"""From the most telling one down. Sources: BrokerLifecycleManager, LogManager, MetaPropertiesEnsemble, SocketServer,
KafkaZkClient.registerBroker, KafkaConfig, ProcessTerminatingFaultHandler, BrokerServer and KafkaServer.startup."""

STOPPED_EARLY = StartReason(
    StartFailure.STOPPED, re.compile(""), "its process was stopped before it served", "Find out who or what stopped it."
)


def why_starts_failed(told: Iterable[str]) -> StartReason:
    """The most telling reason among the lines of failed starts and the exceptions below them."""
    lines = list(told)
    found = (reason for reason in START_REASONS if any(reason.told_by.search(line) for line in lines))
    return next(found, STOPPED_EARLY)
