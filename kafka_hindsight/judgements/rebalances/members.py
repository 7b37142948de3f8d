"""Who is who in one group: which client has a member id, since when, whether it was there before, and its own log."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from operator import attrgetter

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.reasoning.timelines import Timeline, by_instant, instants, timelines
from kafka_hindsight.judgements.rebalances.model import Change
from kafka_hindsight.judgements.rebalances.records import RECORDED
from kafka_hindsight.knowledge import reasons
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.durations import LONG_AGO, SAME_ACT

_LEAVING_STATES = ("PREPARE_LEAVING", "LEAVING")
_STEPS = (Kind.CLIENT_JOINED, Kind.CLIENT_ASSIGNMENT_FINISHED)
"""What a member logs once for each generation."""

_STARTS = (Kind.CLIENT_CONFIGURED, Kind.CLIENT_STARTED)

_NEAR = timedelta(minutes=1)
"""Generations start again in a group that was removed: a line this far from the join phase is about another one."""


class _Lines:
    """Lines of a client, to be looked up by instant, and by kind."""

    def __init__(self, lines: Sequence[Event]) -> None:
        self.lines = by_instant(lines)

    @cached_property
    def _by_kind(self) -> dict[str, Timeline[Event]]:
        return timelines(self.lines, attrgetter("kind"), attrgetter("happened_at"))

    def of_kind(self, kind: str) -> Timeline[Event]:
        """Those of one kind."""
        return self._by_kind.get(kind, NO_LINES)


class Process(_Lines):
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
        """The lines which say that the process closes its consumer, or leaves on purpose.

        Edge case: a process whose poll limit ran out leaves as well; that is not counted here.
        """
        expired = self.poll_expiries.values
        lines = self.lines.after(expired[-1].happened_at + timedelta(seconds=1)) if expired else self.lines.values
        return by_instant([e for e in lines if _closes(e)])


@dataclass(frozen=True)
class ProcessLog:
    """The process that held one member id.

    `named` is the line that shows whose log it is: it names the member id, or was written while the member was there.
    """

    process: Process
    named: Event | None = None

    @property
    def identity(self) -> tuple[Event, ...]:
        """The lines that show which process of which member it is."""
        started = (e for e in self.process.lines.values[:1] if e.kind in _STARTS)
        return (*started, *([self.named] if self.named else []))


class ClientLog(_Lines):
    """The log of one client. Takes: its lines in order."""

    def __init__(self, lines: Sequence[Event] = ()) -> None:
        super().__init__(lines)
        self._processes: dict[int, Process] = {}

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

    def process_of(self, member_id: str, at: datetime) -> ProcessLog:
        """The process that held a member at an instant.

        It is the one that names the member id; where no line does (librdkafka), the one that ran then.
        """
        place, starts, lines = self._place_of(member_id, at), self._starts, self.lines.values
        if place is None:
            return ProcessLog(Process((), None, self._has_starts))
        number = bisect_right(starts, place)
        if number not in self._processes:
            first = starts[number - 1] if number else 0
            following = starts[number] if number < len(starts) else None
            next_start = None if following is None else lines[following]
            self._processes[number] = Process(lines[first:following], next_start, self._has_starts)
        return ProcessLog(self._processes[number], lines[place])

    def _place_of(self, member_id: str, at: datetime) -> int | None:
        """The first line that names the member id; else the last one by then, unless it names another member.

        Edge case: a log that names no starts is that of one process, also before its first line.
        """
        if member_id in self._first_naming:
            return self._first_naming[member_id]
        last = max(self.lines.count_until(at) - 1, -1 if self._starts or not len(self.lines) else 0)
        return None if last < 0 or self.lines.values[last].member_id else last


class ClientLogs:
    """The logs of a group's clients. Look-ups come after all lines are added, in order."""

    def __init__(self) -> None:
        self._lines: dict[str, list[Event]] = defaultdict(list)
        self._logs: dict[str, ClientLog] = {}

    def add(self, client_id: str, line: Event) -> None:
        """Adds the next line of a client's log."""
        self._lines[client_id].append(line)

    def of(self, client_id: str) -> ClientLog:
        """The log of one client; empty where there is none."""
        if client_id not in self._lines:
            return NO_LOG
        if client_id not in self._logs:
            self._logs[client_id] = ClientLog(self._lines[client_id])
        return self._logs[client_id]

    @cached_property
    def _by_generation(self) -> dict[tuple[str, int | None], Timeline[Event]]:
        steps = (e for lines in self._lines.values() for e in lines if e.kind in _STEPS)
        return timelines(steps, attrgetter("kind", "generation"), attrgetter("happened_at"))

    def first_steps(self, kind: str, generation: int | None, at: datetime) -> dict[str, Event]:
        """By client, its first line of a kind (of _STEPS) about a generation that was reached at that instant."""
        near = self._by_generation.get((kind, generation), NO_LINES).near(at, _NEAR)
        return {str(line.client_id): line for line in reversed(near)}

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


NO_LINES: Timeline[Event] = by_instant(())
NO_LOG = ClientLog()


def _closes(event: Event) -> bool:
    if event.kind == Kind.CLIENT_LEAVING:
        return "poll timeout" not in str(event.client_reason)
    if event.kind == Kind.CLIENT_GENERATION_RESET:
        return reasons.read_client_reason(event.reason) == reasons.LEFT_BEFORE
    if event.kind == Kind.CLIENT_STATE_CHANGED:
        return event.state in _LEAVING_STATES
    return event.kind in (Kind.CLIENT_CLOSED, Kind.CLIENT_RELEASING)


SEEN = "member_seen"
"""A member that a snapshot shows."""

_REMOVALS: dict[str, Change] = {
    Kind.MEMBER_LEFT: Change.LEFT,
    Kind.MEMBER_FAILED: Change.EXPIRED,
    Kind.MEMBER_FENCED: Change.EXPIRED,
}
_SILENT = (Change.EXPIRED, Change.NOT_REJOINED, Change.NOT_SYNCED)
_ARRIVALS = {
    Kind.MEMBER_JOINED,
    Kind.MEMBER_ID_ASSIGNED,
    Kind.MEMBER_ADDED,
    Kind.MEMBER_REJOINED_PENDING,
    Kind.REBALANCE_STARTED,
}
_PENDING = {Kind.MEMBER_ID_ASSIGNED, Kind.PENDING_MEMBER_REMOVED, Kind.PENDING_MEMBER_LEFT}
_JOINS = {*_ARRIVALS, Kind.CLIENT_JOINED, Kind.CLIENT_SYNCED}
_NAMES_TOPICS = {SEEN, Kind.CLIENT_SUBSCRIBED, RECORDED}
_NAMES_GENERATION = {Kind.MEMBER_LOADED, Kind.CLIENT_JOINED, Kind.CLIENT_SYNCED, RECORDED}
_TOPIC = re.compile(r"[a-zA-Z0-9._-]+")
_BY_PATTERN = "Subscribed to pattern: "


@dataclass(frozen=True)
class Removal:
    """How a member went, and the line that shows it."""

    at: datetime
    how: Change
    event: Event


@dataclass
class Member:
    """One member id of one group.

    `named_by`, `placed_by`, `cooperative_by`, `limited_by`: the lines that show its client id, its instance id, that
    its assignor is cooperative, and its poll limit. `is_pending`: its id was assigned, and no line shows it used.
    """

    member_id: str
    client_id: str | None = None
    instance_id: str | None = None
    host: str | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    is_cooperative: bool | None = None
    first_at: datetime | None = None
    first_generation: int | None = None
    named_by: Event | None = None
    placed_by: Event | None = None
    cooperative_by: Event | None = None
    limited_by: Event | None = None
    removals: list[Removal] = field(default_factory=list)
    is_pending: bool = True

    @cached_property
    def known_at(self) -> datetime | None:
        """When it was first heard of: some are named only by the line that removes them."""
        return min((at for at in (self.first_at, *(r.at for r in self.removals)) if at is not None), default=None)

    @property
    def introduced_by(self) -> tuple[Event, ...]:
        """The lines that show who it is. A dynamic member's id itself begins with its client id."""
        says_itself = self.instance_id is None and self.client_id == reasons.name_in_member_id(self.member_id)
        return tuple(e for e in (None if says_itself else self.named_by, self.placed_by) if e is not None)

    def gone_before(self, at: datetime) -> Removal | None:
        """Its last removal no later than `at`; None where it was there all the time."""
        return self._removals.last_until(at)

    @cached_property
    def _removals(self) -> Timeline[Removal]:
        """Of two that are the same the one read first stands last."""
        newest_first = self.removals[::-1]
        return Timeline(sorted(newest_first, key=lambda r: (r.at, r.how)), at=lambda r: r.at)


class MemberRegistry:
    """The members of one group, from coordinator lines, loaded groups, client logs, snapshots and records.

    Takes: all events of the group in order, client lines among them, and sightings (kind member_seen).
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.members: dict[str, Member] = {}
        self.logs = ClientLogs()
        self.by_generation: dict[int, set[str]] = defaultdict(set)
        self.topics: set[str] = set()
        self._names_rejoins = False
        self._settings: dict[str, Event] = {}
        self._there: dict[str, Member] = {}
        self._moves: dict[str, list[Event]] = defaultdict(list)
        self._joins: dict[str, list[Event]] = defaultdict(list)
        settled = []
        self._reads_by_pattern = False
        for event in events:
            self._read(event)
            if event.kind == Kind.JOIN_COMPLETED:
                settled.append(event)
        self._moves_by_time = {member_id: by_instant(moves) for member_id, moves in self._moves.items()}
        self._joins_by_time = {member_id: by_instant(joins) for member_id, joins in self._joins.items()}
        self._settled_by_time = by_instant(settled)
        self._name_members()
        self._by_name: dict[str, list[Member]] = defaultdict(list)
        for member in self.members.values():
            for name in {member.instance_id, member.client_id} - {None}:
                self._by_name[str(name)].append(member)
        self._is_shared: dict[str, bool] = {}
        self._namesakes: dict[tuple[str, str], Timeline[Member]] = {}
        self._arrivals: dict[tuple[str, str], Timeline[tuple[datetime, str]]] = {}
        self._holders: dict[str, Member] = {}

    def may_read(self, topic: str) -> bool:
        """Whether the group can read a topic: any one, where its topics are not known or a pattern chooses them."""
        return not self.topics or self._reads_by_pattern or topic in self.topics

    def _read(self, event: Event) -> None:
        if event.origin == Origin.CLIENT and event.client_id:
            self.logs.add(event.client_id, event)
            if event.kind == Kind.CLIENT_CONFIGURED:
                self._settings[event.client_id] = event
        for member_id, instance_id in namings(event):
            self._see(self._member(member_id), instance_id, event)
            if event.kind in _JOINS:
                self._joins[member_id].append(event)
        if event.kind in _NAMES_TOPICS and event.detail:
            if _BY_PATTERN in event.text:
                self._reads_by_pattern = True
            else:
                self.topics.update(_TOPIC.findall(event.detail))
        for member_id, how in dropped(event):
            self._remove(self._member(member_id), how, event)
        if event.kind == Kind.STATIC_MEMBER_REPLACED and event.old_member_id:
            old = self._member(event.old_member_id)
            if old.instance_id is None and event.instance_id:
                old.instance_id, old.placed_by = reasons.option_value(event.instance_id), event
            self._remove(old, Change.REPLACED, event)
        elif event.kind in (Kind.GROUP_EMPTIED, Kind.GROUP_DEAD):
            for member in list(self._there.values()):
                if member.first_at is None or member.first_at < event.happened_at:
                    self._remove(member, Change.LEFT, event)

    def _member(self, member_id: str) -> Member:
        if member_id not in self.members:
            self.members[member_id] = self._there[member_id] = Member(member_id)
        return self.members[member_id]

    def _remove(self, member: Member, how: Change, event: Event) -> None:
        self._there.pop(member.member_id, None)
        member.removals.append(Removal(event.happened_at, how, event))

    def _see(self, member: Member, instance_id: str | None, event: Event) -> None:
        """The first line that shows a field counts; of the assignor the last one."""
        member.is_pending &= event.kind in _PENDING
        self._names_rejoins |= event.kind == Kind.MEMBER_REJOINED_PENDING
        if member.client_id is None and event.client_id:
            member.client_id, member.named_by = event.client_id, event
        if member.instance_id is None and instance_id:
            member.instance_id, member.placed_by = instance_id, event
        member.host = member.host or (event.host or "").lstrip("/") or None
        if event.assignor:
            member.is_cooperative, member.cooperative_by = "cooperative" in event.assignor, event
        _limit(member, event)
        if event.kind in _NAMES_GENERATION and event.generation is not None:
            self.by_generation[event.generation].add(member.member_id)
            if member.first_generation is None or event.generation < member.first_generation:
                member.first_generation = event.generation
        if event.kind in _REMOVALS or event.kind in _ARRIVALS:
            self._moves[member.member_id].append(event)
        if event.kind in _REMOVALS:
            self._remove(member, _REMOVALS[event.kind], event)
        elif event.kind != Kind.MEMBER_LOADED:  # a loaded group shows the past: not when its members came
            member.first_at = min(event.happened_at, member.first_at or event.happened_at)

    def _name_members(self) -> None:
        """The client in front of a dynamic member's uuid; a static member's client has to be shown by a line."""
        for member in self.members.values():
            if member.instance_id is None and member.client_id is None:
                member.client_id = reasons.name_in_member_id(member.member_id)
            settings = self._settings.get(member.client_id or "")
            if settings is not None:
                _limit(member, settings)
        clients = {m.instance_id: m for m in self.members.values() if m.instance_id and m.client_id}
        for member in self.members.values():
            same = clients.get(member.instance_id or "")
            if same is not None and member.client_id is None:
                member.client_id, member.named_by = same.client_id, same.named_by

    def get(self, member_id: str | None, instance_id: str | None = None) -> Member:
        """The member of that id; where the line named none, the last holder of the instance id, else one without id."""
        if member_id is not None:
            client_id = None if instance_id else reasons.name_in_member_id(member_id)
            return self.members.get(member_id) or Member(member_id, client_id, instance_id)
        if not instance_id:
            return Member("")
        if instance_id not in self._holders:
            holders = (m for m in self._by_name.get(instance_id, ()) if m.instance_id == instance_id)
            last = max(holders, key=lambda m: (m.first_at is not None, m.first_at, m.member_id), default=Member(""))
            self._holders[instance_id] = last
        return self._holders[instance_id]

    def took_static_place(self, member: Member) -> bool:
        """Whether it is a new process of a static member that was there before."""
        named = self._by_name.get(member.instance_id, ()) if member.instance_id else ()
        return any(m.instance_id == member.instance_id and m.member_id != member.member_id for m in named)

    def same_client(self, one: Member, other: Member) -> bool:
        """Whether two members are the same: the same instance id, else the same client id and, where known, host."""
        if one.member_id == other.member_id:
            return True
        if one.instance_id or other.instance_id:
            return one.instance_id == other.instance_id
        if not one.client_id or one.client_id != other.client_id or self.is_shared(one.client_id):
            return False
        return one.host is None or other.host is None or one.host == other.host

    def _like(self, member: Member) -> tuple[tuple[str, str], Sequence[Member]]:
        """The members that may be the same client, itself among them, under what they share: a name, or the id.

        A member with an instance id is only ever the same as one with that instance id.
        """
        name = member.instance_id or member.client_id
        if name in self._by_name and (member.instance_id or not self.is_shared(name)):
            return (name, ""), self._by_name[name]
        own = self.members.get(member.member_id)
        return ("", member.member_id), (own,) if own else ()

    def is_shared(self, client_id: str) -> bool:
        """Whether several members held that client id at once, so that it identifies no member.

        Edge case: a dead member whose session has yet to expire is not a second holder; nor is an id that was assigned
        and never used, where the coordinator names those that are. One that was heard after the rebalance that let the
        other in is one.
        """
        if client_id not in self._is_shared:
            named = (m for m in self._by_name.get(client_id, ()) if m.client_id == client_id and not m.instance_id)
            used = (m for m in named if not (m.is_pending and self._names_rejoins))
            spans = sorted((m.first_at, m.member_id, m) for m in used if m.first_at is not None)
            self._is_shared[client_id] = any(
                self._outlived(first, second_at) for (_, _, first), (second_at, _, _) in itertools.pairwise(spans)
            )
        return self._is_shared[client_id]

    def _outlived(self, member: Member, other_came_at: datetime) -> bool:
        """Whether a member lived when another one was in the group.

        The coordinator hears no member while it waits for the join phase, and from then on each one within its session.
        """
        if not member.removals:
            return True
        last = member.removals[-1]
        if last.how not in _SILENT:
            return last.at > other_came_at + SAME_ACT
        settled = self._settled_by_time.first_since(other_came_at)
        if settled is None or member.session_timeout_ms is None:
            return False
        return last.at - timedelta(milliseconds=member.session_timeout_ms) > settled.happened_at + SAME_ACT

    def had_unnamed(self, before: datetime) -> bool:
        """Whether the group had members by then whose client is not known: any of them may be the same."""
        return self._first_unnamed is not None and self._first_unnamed < before - SAME_ACT

    @cached_property
    def _first_unnamed(self) -> datetime | None:
        unnamed = (m.known_at for m in self.members.values() if m.client_id is None and m.instance_id is None)
        return min((at for at in unnamed if at is not None), default=None)

    def count_at(self, at: datetime) -> int:
        """How many of the known members can have been in the group at that instant."""
        came, went = self._stays
        return came.count_until(at) - went.count_until(at)

    @cached_property
    def _stays(self) -> tuple[Timeline[datetime], Timeline[datetime]]:
        """From when on each member can have been there, and from when on it had come and was gone."""
        came, went = [], []
        for member in self.members.values():
            since = LONG_AGO if member.first_at is None else member.first_at - SAME_ACT
            came.append(since)
            if member.removals:
                went.append(max(since, min(r.at for r in member.removals)))
        return instants(came), instants(went)

    def earlier(self, member: Member, at: datetime, look_back: timedelta) -> Member | None:
        """The same client as it was in the group before `at`, removed or gone, within the look-back."""
        name, like = self._like(member)
        if name not in self._namesakes:
            known = sorted((m.known_at, m.member_id) for m in like if m.known_at is not None)
            self._namesakes[name] = Timeline((self.members[m] for _, m in known), at=lambda m: m.known_at or LONG_AGO)
        namesakes = self._namesakes[name]
        places = range(namesakes.count_until(at) - 1, -1, -1)
        candidates = (m for n in places if self.same_client(m := namesakes.values[n], member))
        return next((m for m in candidates if self._was_there(m, member.member_id, at, look_back)), None)

    def _was_there(self, one: Member, member_id: str, at: datetime, look_back: timedelta) -> bool:
        """Whether a member was in the group before an instant: the one of that id only if it had gone or joined.

        KIP-848 members keep their id, and the line of a leave may be lost.
        """
        gone, known_at = one.gone_before(at), one.known_at
        if one.member_id == member_id and not gone:
            joined_at = self._first_joined.get(member_id)
            if joined_at is None or joined_at >= at - SAME_ACT:
                return False
        if known_at is None:
            return False
        last_at = max(known_at, gone.at) if gone else known_at
        return (gone is not None or known_at < at - SAME_ACT) and last_at >= at - look_back

    @cached_property
    def _first_joined(self) -> dict[str, datetime]:
        joined = ((m, e) for m, moves in self._moves.items() for e in reversed(moves) if e.kind == Kind.MEMBER_JOINED)
        return {m: e.happened_at for m, e in joined}

    def later(self, member: Member, at: datetime, within: timedelta) -> tuple[Member, datetime] | None:
        """The same client as it came back after `at`, and when."""
        name, like = self._like(member)
        if name not in self._arrivals:
            came = ((m.member_id, e) for m in like for e in self._moves[m.member_id] if e.kind in _ARRIVALS)
            self._arrivals[name] = Timeline(sorted((e.happened_at, m) for m, e in came), at=lambda arrival: arrival[0])
        for came_at, member_id in self._arrivals[name].between(at, at + within):
            if at < came_at and self.same_client(self.members[member_id], member):
                return self.members[member_id], came_at
        return None

    def arrival(self, member_id: str, at: datetime) -> Event | None:
        """The line of the member's arrival at `at` that shows most: the one that starts the rebalance, if any."""
        moves = self._moves_by_time.get(member_id, NO_LINES)
        lines = [e for e in moves.near(at, SAME_ACT) if e.kind in _ARRIVALS]
        return max(lines, default=None, key=lambda e: (e.kind == Kind.REBALANCE_STARTED, e.happened_at))

    def joined_last(self, member_id: str, before: datetime) -> Event | None:
        """The member's last joining before an instant, by its own log or by the lines that name its arrival."""
        joins = self._joins_by_time.get(member_id, NO_LINES)
        last = joins.last_before(before - SAME_ACT)
        return None if last is None else joins.first_since(last.happened_at)

    def first_line(self, member: Member) -> tuple[Event, ...]:
        """The first line that shows the member come or go."""
        return tuple(self._moves[member.member_id][:1])

    def is_cooperative(self, member: Member) -> Event | None:
        """The line that shows the member, or one of its group, with a cooperative assignor."""
        if member.is_cooperative is not None:
            return member.cooperative_by if member.is_cooperative else None
        return self._cooperative_by

    @cached_property
    def _cooperative_by(self) -> Event | None:
        return next((m.cooperative_by for _, m in sorted(self.members.items()) if m.is_cooperative), None)

    def log_of(self, member: Member) -> ClientLog:
        """The member's own log; empty where there is no log or its client id is shared."""
        if not member.client_id or self.is_shared(member.client_id):
            return NO_LOG
        return self.logs.of(member.client_id)


def _limit(member: Member, event: Event) -> None:
    """The member's time-outs, where the line is the first that shows them."""
    member.session_timeout_ms = member.session_timeout_ms or event.session_timeout_ms
    if member.rebalance_timeout_ms is None and event.rebalance_timeout_ms:
        member.rebalance_timeout_ms, member.limited_by = event.rebalance_timeout_ms, event


def namings(event: Event) -> Iterator[tuple[str, str | None]]:
    """The members an event names, with the instance id where it names one: some stand only in a reason."""
    if event.kind == Kind.REBALANCE_STARTED:
        reason = reasons.read_coordinator_reason(event.reason)
        if reason.act == "joined":
            yield from ((m, reason.instance_id) for m in reason.members)
    elif event.member_id:
        yield event.member_id, reasons.option_value(event.instance_id)


def dropped(event: Event) -> Iterator[tuple[str, Change]]:
    """The members that an event drops without a line of their own, and how they went."""
    if event.kind == Kind.MEMBERS_NOT_REJOINED:
        yield from ((m, Change.NOT_REJOINED) for m in reasons.split_members(event.members or ""))
    elif event.kind == Kind.REBALANCE_STARTED:
        reason = reasons.read_coordinator_reason(event.reason)
        if reason.act == "sync_expired":
            yield from ((m, Change.NOT_SYNCED) for m in reason.members)
