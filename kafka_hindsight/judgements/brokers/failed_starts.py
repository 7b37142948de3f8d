"""Which of a broker's lines show another start that failed, and which are of a second process beside the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import dropwhile

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.brokers.liveness import SHUTDOWN_LASTS, LivenessSignal, Signal
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.durations import CATCHING_UP, NEVER

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
    started = (e.happened_at for e in lines if e.kind in (Kind.BROKER_STARTING, Kind.BROKER_INCARNATED))
    return failure.happened_at - last > SHUTDOWN_LASTS or any(last < at for at in started)


_STARTS = (Signal.RESTARTED, Signal.IS_NEW)


def is_of_second(own: Iterable[LivenessSignal], is_active: Callable[[datetime, datetime], bool]) -> bool:
    """Whether a process of a broker starts while another one serves, and fails.

    Takes: the broker's own signals from that start, or its failure, on; whether a broker that serves wrote a line
    between two instants.
    Edge case: the lines of the process that goes on are told apart from those of the next one by the time between.
    """
    rest = list(dropwhile(lambda s: s.shows in _STARTS, own))
    after = list(dropwhile(lambda s: s.shows is Signal.FAILED, rest))
    failed = rest[: len(rest) - len(after)]
    until = after[0].at - CATCHING_UP if after else NEVER
    return bool(failed) and is_active(failed[-1].at + CATCHING_UP, until)


def _what(failure: Event) -> tuple[str, str | None]:
    """What a line says failed: a process says that of each of its servers once."""
    return failure.pattern_id, failure.detail
