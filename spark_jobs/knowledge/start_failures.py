"""Why the start of a broker fails, as its lines tell it, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class StartFailure:
    """One reason: the lines that tell it, the reason in words, and what to do."""

    told_by: re.Pattern[str]
    reason: str
    advice: str


START_FAILURES = (
    StartFailure(
        re.compile("unable to register with the controller quorum"),
        "the controller quorum did not answer",
        "Check that most controllers run, and that the broker reaches them as controller.quorum.voters or"
        " controller.quorum.bootstrap.servers names them.",
    ),
    StartFailure(
        re.compile(r"[Ss]hutdown broker because all log dirs|Halting because dir|Stopping serving logs in dir"),
        "a log directory failed",
        "Look at the disk of the directory that the broker names.",
    ),
    StartFailure(
        re.compile("Encountered fatal fault: "),
        "its process met a fatal fault",
        "Read the exception below the line that names the fault.",
    ),
    StartFailure(
        re.compile("Fatal error during |Exiting Kafka"),
        "its process ended with an exception",
        "Read the exception below the line of the failed start: it names a port that is taken, a setting that is wrong,"
        " memory that is too small, or a disk of another cluster.",
    ),
)
"""From the most telling one down. Sources: BrokerLifecycleManager, LogManager, ProcessTerminatingFaultHandler,
BrokerServer and KafkaServer.startup."""

STOPPED_EARLY = StartFailure(
    re.compile(""), "its process was stopped before it served", "Find out who or what stopped it."
)


def why_starts_failed(texts: Iterable[str]) -> StartFailure:
    """The most telling reason among the lines of a failed start."""
    lines = list(texts)
    told = (failure for failure in START_FAILURES if any(failure.told_by.search(line) for line in lines))
    return next(told, STOPPED_EARLY)
