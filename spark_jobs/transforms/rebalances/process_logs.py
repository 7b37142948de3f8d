"""What a member's own log shows: one process of one client, cut out of the log by the lines that start and end it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from spark_jobs.catalog.rows import Event
from spark_jobs.knowledge.kinds import Kind
from spark_jobs.knowledge.reasons import LEFT_BEFORE, read_client_reason
from spark_jobs.transforms.rebalances.members import Member, MemberRegistry
from spark_jobs.transforms.timelines import Timeline

_LEAVING_STATES = ("PREPARE_LEAVING", "LEAVING")


@dataclass(frozen=True)
class ProcessLog:
    """The lines of the process that held one member id: from its start to the start of the next one.

    `named` is the line that shows whose log it is: it names the member id, or was written while the member was there.
    `next_start` is the first line of the next process of that client. `has_starts`: the log names starts at all
    (librdkafka's names none); only then does the absence of a start prove anything.
    """

    lines: Timeline[Event]
    next_start: Event | None
    has_starts: bool
    named: Event | None = None

    @property
    def identity(self) -> tuple[Event, ...]:
        """The lines that show which process of which member it is."""
        first = next(iter(self.lines), None)
        started = first if first is not None and first.kind == Kind.CLIENT_CONFIGURED else None
        return tuple(e for e in (started, self.named) if e is not None)

    @property
    def poll_expiries(self) -> Timeline[Event]:
        """The lines which say that the process did not poll in time."""
        return Timeline((e for e in self.lines if e.kind == Kind.CLIENT_POLL_EXPIRED), at=_happened_at)

    @property
    def closings(self) -> Timeline[Event]:
        """The lines which say that the process closes its consumer, or leaves on purpose.

        Edge case: a process whose poll limit ran out leaves as well; that is not counted here.
        """
        expired = self.poll_expiries.values
        lines = self.lines.after(expired[-1].happened_at + timedelta(seconds=1)) if expired else self.lines.values
        return Timeline((e for e in lines if _closes(e)), at=_happened_at)


def process_log(registry: MemberRegistry, member: Member, at: datetime) -> ProcessLog:
    """The log of the process that held `member` at `at`.

    The process is the one that names the member id; where no line does (librdkafka), the one that ran at `at`.
    """
    log = registry.log_of(member)
    starts = [n for n, e in enumerate(log) if e.kind == Kind.CLIENT_CONFIGURED]
    place = _place_of(log, member.member_id, at)
    if place is None:
        return ProcessLog(_timeline(()), None, bool(starts))
    first = max((n for n in starts if n <= place), default=0)
    following = next((n for n in starts if n > place), None)
    next_start = None if following is None else log[following]
    return ProcessLog(_timeline(log[first:following]), next_start, bool(starts), log[place])


def _place_of(log: Sequence[Event], member_id: str, at: datetime) -> int | None:
    """The first line that names the member id; else the last one by then, unless it names another member."""
    named = next((n for n, e in enumerate(log) if e.member_id == member_id), None)
    if named is not None:
        return named
    last = max((n for n, e in enumerate(log) if e.happened_at <= at), default=None)
    return None if last is None or log[last].member_id else last


def _timeline(lines: Sequence[Event]) -> Timeline[Event]:
    return Timeline(lines, at=_happened_at)


def _happened_at(event: Event) -> datetime:
    return event.happened_at


def _closes(event: Event) -> bool:
    if event.kind == Kind.CLIENT_LEAVING:
        return "poll timeout" not in str(event.client_reason)
    if event.kind == Kind.CLIENT_GENERATION_RESET:
        return read_client_reason(event.reason) == LEFT_BEFORE
    if event.kind == Kind.CLIENT_STATE_CHANGED:
        return event.state in _LEAVING_STATES
    return event.kind in (Kind.CLIENT_CLOSED, Kind.CLIENT_RELEASING)
