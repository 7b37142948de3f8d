"""Which of a broker's lines show another start that failed."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.catalog.rows import Event
from spark_jobs.knowledge.kinds import Kind
from spark_jobs.transforms.brokers.liveness import SHUTDOWN_LASTS

_LAST_WORDS = (Kind.BROKER_START_FAILED, Kind.PROCESS_FAULTED)
_EXITS = ("process.start_aborted", "process.fatal_fault", "process.controller_start_failed")
"""What a process says once, when it exits: whatever fails afterwards is another one."""


def has_ended(lines: Sequence[Event], failures: Sequence[Event]) -> bool:
    """Whether the process before is known to have ended: what halts now is a new one, which has not served."""
    return bool(failures) or any(e.kind == Kind.BROKER_STOPPED for e in lines)


def is_another(lines: Sequence[Event], failures: Sequence[Event], failure: Event) -> bool:
    """Whether a line shows another failed start than those before it.

    Takes: the lines of the absence, and of these the ones that show failed starts.
    """
    if not failures:
        return True
    said = [e for e in failures if e.kind in _LAST_WORDS]
    if said and failure.kind in _LAST_WORDS and (said[-1].pattern_id in _EXITS or _what(said[-1]) == _what(failure)):
        return True
    last = failures[-1].happened_at
    started = (e.happened_at for e in lines if e.kind == Kind.BROKER_STARTING)
    return failure.happened_at - last > SHUTDOWN_LASTS or any(last < at for at in started)


def _what(failure: Event) -> tuple[str, str | None]:
    """What a line says failed: a process says that of each of its servers once."""
    return failure.pattern_id, failure.detail
