"""The own logs of a group's clients: whose lines are whose, and the processes in each."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import groupby
from operator import attrgetter

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.knowledge import reasons
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Timeline, by_instant, timelines

_LEAVING_STATES = ("PREPARE_LEAVING", "LEAVING")
_STEPS = (Kind.CLIENT_JOINED, Kind.CLIENT_ASSIGNMENT_FINISHED)
"""The lines that a member logs once for each generation."""

_STARTS = (Kind.CLIENT_CONFIGURED, Kind.CLIENT_STARTED)

NEAR = timedelta(minutes=1)
"""Generations start again in a group that was removed: a line this far from the join phase is about another one."""

NO_LINES: Timeline[Event] = by_instant(())


class _ClientLines:
    """Lines of a client, to be looked up by instant, and by kind."""

    def __init__(self, lines: Sequence[Event]) -> None:
        self.lines = by_instant(lines)

    @cached_property
    def _by_kind(self) -> dict[str, Timeline[Event]]:
        return timelines(self.lines, attrgetter("kind"), attrgetter("happened_at"))

    def of_kind(self, kind: Kind) -> Timeline[Event]:
        """Those of one kind."""
        return self._by_kind.get(kind, NO_LINES)


class ClientProcess(_ClientLines):
    """One process of one client: the lines from its start to the start of the next one.

    `next_start` is the first line of the next process of that client. `has_starts`: the log names every start, as
    Java's does (librdkafka's names none); only then does the absence of a start prove anything.
    """

    def __init__(self, lines: Sequence[Event], next_start: Event | None, has_starts: bool) -> None:
        super().__init__(lines)
        self.next_start, self.has_starts = next_start, has_starts

    @property
    def poll_expiries(self) -> Timeline[Event]:
        """The lines which say that the process did not poll in time."""
        return self.of_kind(Kind.CLIENT_POLL_EXPIRED)

    @cached_property
    def closings(self) -> Timeline[Event]:
        """The lines in which the process closes its consumer, or leaves on purpose.

        A process whose poll limit ran out leaves as well; that does not count here.
        """
        expired = self.poll_expiries.values
        lines = self.lines.after(expired[-1].happened_at + timedelta(seconds=1)) if expired else self.lines.values
        return by_instant([e for e in lines if _closes(e)])


class ClientLog(_ClientLines):
    """The log of one client: its lines in order."""

    def __init__(self, lines: Sequence[Event] = ()) -> None:
        super().__init__(lines)
        self._processes: dict[int, ClientProcess] = {}

    @cached_property
    def _first_naming(self) -> dict[str | None, int]:
        """The place of the first line that names each member id."""
        return {e.member_id: n for n, e in reversed(list(enumerate(self.lines)))}

    @cached_property
    def _starts(self) -> Sequence[int]:
        """The places at which processes start."""
        return [n for n, e in enumerate(self.lines) if e.kind in _STARTS]

    @cached_property
    def _has_starts(self) -> bool:
        return len(self.of_kind(Kind.CLIENT_CONFIGURED)) > 0

    def process_of(self, member_id: str, at: datetime) -> ClientProcess:
        """The process that held a member at an instant.

        It is the one that names the member id; where no line does (librdkafka), the one that ran then.
        """
        place, starts, lines = self._place_of(member_id, at), self._starts, self.lines.values
        if place is None:
            return ClientProcess((), None, self._has_starts)
        number = bisect_right(starts, place)
        if number not in self._processes:
            first = starts[number - 1] if number else 0
            following = starts[number] if number < len(starts) else None
            next_start = None if following is None else lines[following]
            self._processes[number] = ClientProcess(lines[first:following], next_start, self._has_starts)
        return self._processes[number]

    def identity_of(self, member_id: str, at: datetime) -> Iterator[Event]:
        """The lines that show which process held a member: its start, and one that names the member or that time."""
        place = self._place_of(member_id, at)
        yield from (e for e in self.process_of(member_id, at).lines.values[:1] if e.kind in _STARTS)
        yield from () if place is None else (self.lines.values[place],)

    def _place_of(self, member_id: str, at: datetime) -> int | None:
        """The first line that names the member id; else the last one by then, unless it names another member.

        A log that names no starts is that of one process, also before its first line.
        """
        if member_id in self._first_naming:
            return self._first_naming[member_id]
        last = max(self.lines.count_until(at) - 1, -1 if self._starts or not len(self.lines) else 0)
        return None if last < 0 or self.lines.values[last].member_id else last


class ClientLogs:
    """The logs of a group's clients. Look-ups come after all lines are added, in order."""

    def __init__(self) -> None:
        self._lines: dict[str, list[Event]] = defaultdict(list)
        self._logs: dict[tuple[str, str], ClientLog] = {}
        self._sources: dict[str, str] = {}

    def add(self, client_id: str, line: Event) -> None:
        """Add the next line of a client's log."""
        self._lines[client_id].append(line)
        if line.member_id:
            self._sources.setdefault(line.member_id, line.source)

    def of(self, client_id: str) -> ClientLog:
        """The log of one client; empty where there is none."""
        if client_id not in self._lines:
            return NO_LOG
        if (client_id, "") not in self._logs:
            self._logs[client_id, ""] = ClientLog(self._lines[client_id])
        return self._logs[client_id, ""]

    def naming(self, client_id: str, member_id: str) -> ClientLog:
        """The client's lines in the log that names a member first; empty where none does.

        Two processes may write into one log: then a member is named again after another one, and only the lines that
        name the member itself are surely its own.
        """
        if member_id not in self._sources:
            return NO_LOG
        if (client_id, member_id) not in self._logs:
            lines = self._beside(client_id, member_id)
            member_lines = lines if _take_turns(lines) else [e for e in lines if e.member_id == member_id]
            self._logs[client_id, member_id] = ClientLog(member_lines)
        return self._logs[client_id, member_id]

    def beside(self, line: Event) -> ClientLog:
        """The lines of a line's client in the log that has it."""
        return ClientLog(self._in_source(line.client_id or "", line.source))

    def former_in(self, client_id: str, member_id: str, line: Event | None) -> Event | None:
        """The last line that names the client's former member in the log that names this one first.

        A member that no line names comes with `line`. None where the log names one of them after the other again: then
        two processes write into it.
        """
        source = line.source if line is not None else self._sources.get(member_id)
        lines = [e for e in self._in_source(client_id, source) if e.member_id]
        if line is None:
            place = next((n for n, e in enumerate(lines) if e.member_id == member_id), 0)
        else:
            place = sum(e.happened_at < line.happened_at for e in lines)
        return lines[place - 1] if place and _take_turns(lines) else None

    def _beside(self, client_id: str, member_id: str) -> list[Event]:
        """The client's lines in the log that names a member first."""
        return self._in_source(client_id, self._sources.get(member_id))

    def _in_source(self, client_id: str, source: str | None) -> list[Event]:
        return [e for e in self._lines.get(client_id, ()) if e.source == source]

    @cached_property
    def _by_generation(self) -> dict[tuple[str, int | None], Timeline[Event]]:
        steps = (e for lines in self._lines.values() for e in lines if e.kind in _STEPS)
        return timelines(steps, attrgetter("kind", "generation"), attrgetter("happened_at"))

    def first_steps(self, kind: Kind, generation: int | None, at: datetime) -> dict[str, Event]:
        """By client, its first line of a kind (of _STEPS) about a generation that was reached at that instant."""
        near = self._by_generation.get((kind, generation), NO_LINES).near(at, NEAR)
        return {str(line.client_id): line for line in reversed(near)}

    @cached_property
    def first_requests(self) -> Timeline[tuple[Event, int | None]]:
        """The first request of each process to join, and the generation that it reached by it."""
        requests, kinds = list[tuple[Event, int | None]](), (Kind.CLIENT_JOINED, Kind.CLIENT_SYNCED)
        for lines in self._lines.values():
            for log in grouped(lines, attrgetter("source")).values():
                request = None
                for n, line in enumerate(log):
                    if line.kind in _STARTS:
                        request = None
                    elif line.kind == Kind.CLIENT_JOINING and request is None:
                        request = line
                        requests.append((line, next((e.generation for e in log[n:] if e.kind in kinds), None)))
        return Timeline(requests, at=lambda pair: pair[0].happened_at)

    @cached_property
    def resubscriptions(self) -> Timeline[Event]:
        """The lines with which a process subscribes again; its first subscription does not count."""
        again = []
        for lines in self._lines.values():
            has_subscribed = False
            for line in lines:
                if line.kind == Kind.CLIENT_SUBSCRIBED and has_subscribed:
                    again.append(line)
                if line.kind in (Kind.CLIENT_CONFIGURED, Kind.CLIENT_SUBSCRIBED):
                    has_subscribed = line.kind == Kind.CLIENT_SUBSCRIBED
        return by_instant(again)


NO_LOG = ClientLog()


def _take_turns(lines: Iterable[Event]) -> bool:
    """Whether no member is named again after another one."""
    turns = [m for m, _ in groupby(e.member_id for e in lines if e.member_id)]
    return len(turns) == len({*turns})


def _closes(event: Event) -> bool:
    if event.kind == Kind.CLIENT_LEAVING:
        return "poll timeout" not in str(event.client_reason)
    if event.kind == Kind.CLIENT_GENERATION_RESET:
        return reasons.read_client_reason(event.reason) == reasons.LEFT_BEFORE
    if event.kind == Kind.CLIENT_STATE_CHANGED:
        return event.state in _LEAVING_STATES
    return event.kind in (Kind.CLIENT_CLOSED, Kind.CLIENT_RELEASING, Kind.CLIENT_STOPPING)
