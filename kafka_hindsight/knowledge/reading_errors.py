"""Why a reading of the cluster has no answer about a group, by the error that its client got."""

from __future__ import annotations

import re
from typing import NamedTuple


class ReadingError(NamedTuple):
    """One cause of missing answers: the errors that show it, what they mean, and what to do."""

    errors: re.Pattern[str]
    meaning: str
    advice: str
    source: str


def _errors(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


OTHER = ReadingError(
    errors=_errors(""),
    meaning="the errors differ",
    advice="Read the errors below: what did not answer concludes nothing.",
    source="docs/design.md section 7",
)

READING_ERRORS: tuple[ReadingError, ...] = (
    ReadingError(
        errors=_errors(r"NOT_COORDINATOR|not (?:the correct )?coordinator"),
        meaning="the broker that was asked is not their coordinator",
        advice="The groups had moved to another coordinator, and the client that reads still asked the former one."
        " Let a new client take each reading, as `hindsight snapshot` does. The groups themselves may have been well:"
        " the logs of their brokers and members show it.",
        source="Errors.java, NOT_COORDINATOR (16): a broker answers so for a group that another broker coordinates",
    ),
    ReadingError(
        errors=_errors(r"COORDINATOR_(?:NOT_AVAILABLE|LOAD)|coordinator (?:is )?(?:not available|load)"),
        meaning="their coordinator was not known yet, or was still loading them",
        advice="A broker that takes groups over loads them first. If it lasts, look at the broker that leads their"
        " partition of __consumer_offsets.",
        source="Errors.java, COORDINATOR_NOT_AVAILABLE (15) and COORDINATOR_LOAD_IN_PROGRESS (14)",
    ),
    ReadingError(
        errors=_errors(r"AUTHORIZATION_FAILED|not authorized"),
        meaning="the client that reads may not describe them",
        advice="Give it the right DESCRIBE of these groups: docs/live.md.",
        source="Errors.java, GROUP_AUTHORIZATION_FAILED (30)",
    ),
    ReadingError(
        errors=_errors(r"TIMED_OUT|timed out|TRANSPORT|timeout"),
        meaning="no answer came in time",
        advice="A broker was away, or it or the client that reads was slow: see the outages. A client that is often too"
        " late needs more time, or a quieter machine.",
        source="rd_kafka_err2str, _TIMED_OUT and _TRANSPORT",
    ),
)
"""The causes, the plainest first: the first whose errors match an error is its cause."""


def reading_error_of(error: str) -> ReadingError:
    """The cause of one missing answer."""
    return next((cause for cause in READING_ERRORS if cause.errors.search(error)), OTHER)
