"""The members of one group, as its lines show them: their names, limits, arrivals and removals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from operator import attrgetter

from kafka_hindsight.catalog.codes import Origin, Protocol
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, MemberSnapshot
from kafka_hindsight.judgements.reasoning.reading_events import event_of_reading
from kafka_hindsight.judgements.rebalances.client_logs import NO_LINES, ClientLogs
from kafka_hindsight.judgements.rebalances.group_history import Change
from kafka_hindsight.knowledge import reasons
from kafka_hindsight.knowledge.assignors import assignor_names
from kafka_hindsight.shared.durations import LONG_AGO, MS, SAME_ACT
from kafka_hindsight.shared.instants import earliest
from kafka_hindsight.shared.timelines import Timeline, by_instant, instants, timelines

_REMOVALS: dict[str, Change] = {
    Kind.MEMBER_LEFT: Change.LEFT,
    Kind.MEMBER_FAILED: Change.EXPIRED,
    Kind.MEMBER_FENCED: Change.EXPIRED,
}
ARRIVALS = {
    Kind.MEMBER_JOINED,
    Kind.MEMBER_ID_ASSIGNED,
    Kind.MEMBER_ADDED,
    Kind.MEMBER_REJOINED_PENDING,
    Kind.REBALANCE_STARTED,
}
_PENDING = {Kind.MEMBER_ID_ASSIGNED, Kind.PENDING_MEMBER_REMOVED, Kind.PENDING_MEMBER_LEFT}
_JOINS = {*ARRIVALS, Kind.CLIENT_JOINED, Kind.CLIENT_SYNCED}
_NAMES_TOPICS = {Kind.MEMBER_SEEN, Kind.CLIENT_SUBSCRIBED, Kind.MEMBER_RECORDED}
_NAMES_GENERATION = {Kind.MEMBER_LOADED, Kind.CLIENT_JOINED, Kind.CLIENT_SYNCED, Kind.MEMBER_RECORDED}
_NAMES_OLD_GENERATION = {Kind.REBALANCE_STARTED, Kind.GROUP_LOADED, Kind.GROUP_UNLOADED, Kind.GROUP_DEAD}
_SETTLES = {Kind.JOIN_COMPLETED, Kind.EPOCH_BUMPED}
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

    `named_by`, `placed_by`, `assigned_by`, `limited_by`: the lines that show its client id, its instance id, that
    its assignor is cooperative, and its poll limit. `described_by`: the first line but those of removals, which would
    show an instance id. `is_pending`: its id was assigned, and no line shows it used.
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
    assigned_by: Event | None = None
    limited_by: Event | None = None
    described_by: Event | None = None
    removals: list[Removal] = field(default_factory=list)
    is_pending: bool = True

    @cached_property
    def known_at(self) -> datetime | None:
        """The instant of the first line that names it: some are named only by the line that removes them."""
        return earliest(self.first_at, *(r.at for r in self.removals))

    @property
    def introduced_by(self) -> tuple[Event, ...]:
        """The lines that show who it is. A dynamic member's id itself begins with its client id."""
        says_itself = self.instance_id is None and self.client_id == reasons.name_in_member_id(self.member_id)
        return tuple(e for e in (None if says_itself else self.named_by, self.placed_by) if e is not None)

    def last_removal_until(self, at: datetime) -> Removal | None:
        """Its last removal no later than `at`; None where no line shows one."""
        return self._removals.last_until(at)

    @cached_property
    def _removals(self) -> Timeline[Removal]:
        """The removals in order of time; of two that are the same the one read first stands last."""
        newest_first = self.removals[::-1]
        return Timeline(sorted(newest_first, key=lambda r: (r.at, r.how)), at=lambda r: r.at)


class MemberRegistry:
    """The members of one group, from coordinator lines, loaded groups, client logs, snapshots and records.

    `events` are all events of the group in order, with client lines and sightings (kind member_seen).
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.members: dict[str, Member] = {}
        self.logs = ClientLogs()
        self.by_generation: dict[int, set[str]] = defaultdict(set)
        self.topics: set[str] = set()
        self.assignors: set[str] = set()
        """The assignors that its members offer or use, by the names that the protocol has for them."""
        self._patterns: dict[str, set[str]] = defaultdict(set)
        self.names_rejoins = False
        """Whether the coordinator names the members that join with the id which it assigned."""
        self._settings: dict[str, Event] = {}
        self._last_reached_at = LONG_AGO
        self._present: dict[str, Member] = {}
        self.moves: dict[str, list[Event]] = defaultdict(list)
        """The lines that show each member come or go."""
        self._joins: dict[str, list[Event]] = defaultdict(list)
        self._reads_by_pattern = False
        for event in events:
            self._feed(event)
        self.denials = by_instant(e for e in events if e.kind == Kind.GROUP_DENIED)
        """The lines in which the authorizer denies clients the group."""
        self.generations = by_instant(e for e in events if e.kind in _NAMES_OLD_GENERATION)
        """The coordinator's lines that name the generation which the group had had."""
        self._moves_by_time = {member_id: by_instant(moves) for member_id, moves in self.moves.items()}
        self._joins_by_time = {member_id: by_instant(joins) for member_id, joins in self._joins.items()}
        self.settled = by_instant(e for e in events if e.kind in _SETTLES)
        """The lines in which a change of the members is settled: a group of KIP-848 waits for no member."""
        closings = (e for e in events if e.kind == Kind.STATIC_MEMBER_CLOSED)
        self.closings = timelines(closings, attrgetter("member_id"), attrgetter("happened_at"))
        """The coordinator's lines in which static members close and keep their place, by member id."""
        self.stops = by_instant(e for e in events if e.kind == Kind.CLIENT_STOPPING)
        """The lines in which processes stop whose logs name the group."""
        self.task_kills = by_instant(e for e in events if e.kind == Kind.CLIENT_TASK_KILLED)
        """The lines in which Kafka Connect kills tasks of the group's connector."""
        self._name_members()

    def may_read(self, topic: str) -> bool:
        """Whether the group can read a topic: any one, where its topics are not known or a pattern chooses them."""
        return not self.topics or self._reads_by_pattern or topic in self.topics

    def _feed(self, event: Event) -> None:
        if event.origin == Origin.CLIENT and event.client_id:
            self.logs.add(event.client_id, event)
            self._patterns[event.client_id].add(event.pattern_id)
            if event.kind == Kind.CLIENT_CONFIGURED:
                self._settings[event.client_id] = event
        if event.assignor:
            self.assignors.update(assignor_names(event.assignor))
        for member_id, instance_id in namings(event):
            self._see(self._member(member_id), instance_id, event)
            if event.kind in _JOINS:
                self._joins[member_id].append(event)
        if event.kind in _NAMES_TOPICS and event.detail:
            if _BY_PATTERN in event.text:
                self._reads_by_pattern = True
            else:
                self.topics.update(_TOPIC.findall(event.detail))
        for member_id, how in removals_in(event):
            self._remove(self._member(member_id), how, event)
        if event.kind == Kind.STATIC_MEMBER_REPLACED and event.old_member_id:
            old = self._member(event.old_member_id)
            if old.instance_id is None and event.instance_id:
                old.instance_id, old.placed_by = reasons.option_value(event.instance_id), event
            self._remove(old, Change.REPLACED, event)
        elif event.kind in (Kind.GROUP_EMPTIED, Kind.GROUP_DEAD):
            for member in list(self._present.values()):
                if member.first_at is None or member.first_at < event.happened_at:
                    self._remove(member, Change.LEFT, event)
        elif event.kind == Kind.REBALANCE_STARTED and event.generation == 0:
            for member in list(self._present.values()):
                if member.first_at is not None and member.first_at <= self._last_reached_at:
                    self._remove(member, Change.FORGOTTEN, event, self._last_reached_at + MS)
        if event.origin == Origin.BROKER and event.generation:
            self._last_reached_at = event.happened_at

    def patterns_of(self, client_id: str | None) -> Collection[str]:
        """The patterns that read lines of a client's own log."""
        return self._patterns.get(client_id or "", ())

    def heartbeat_of(self, client_id: str | None) -> int | None:
        """The heartbeat.interval.ms that a client's own log shows."""
        settings = self._settings.get(client_id or "")
        return settings.heartbeat_interval_ms if settings else None

    def _member(self, member_id: str) -> Member:
        if member_id not in self.members:
            self.members[member_id] = self._present[member_id] = Member(member_id)
        return self.members[member_id]

    def _remove(self, member: Member, how: Change, event: Event, at: datetime | None = None) -> None:
        self._present.pop(member.member_id, None)
        member.removals.append(Removal(at or event.happened_at, how, event))

    def _see(self, member: Member, instance_id: str | None, event: Event) -> None:
        """Note what a line shows of a member: the first line of each field counts, of the assignor the last."""
        member.is_pending &= event.kind in _PENDING
        self.names_rejoins |= event.kind == Kind.MEMBER_REJOINED_PENDING
        if member.client_id is None and event.client_id:
            member.client_id, member.named_by = event.client_id, event
        if member.instance_id is None and instance_id:
            member.instance_id, member.placed_by = instance_id, event
        member.host = member.host or (event.host or "").lstrip("/") or None
        if event.assignor:
            member.is_cooperative, member.assigned_by = "cooperative" in event.assignor, event
        _limit(member, event)
        if event.kind in _NAMES_GENERATION and event.generation is not None:
            self.by_generation[event.generation].add(member.member_id)
            if member.first_generation is None or event.generation < member.first_generation:
                member.first_generation = event.generation
        if event.kind in _REMOVALS or event.kind in ARRIVALS:
            self.moves[member.member_id].append(event)
        if event.kind not in _REMOVALS:
            member.described_by = member.described_by or event
        if event.kind in _REMOVALS:
            self._remove(member, _REMOVALS[event.kind], event)
        elif event.kind != Kind.MEMBER_LOADED:  # a loaded group shows the past: not when its members came
            member.first_at = min(event.happened_at, member.first_at or event.happened_at)

    def _name_members(self) -> None:
        """Name dynamic members by the client in front of their uuid, and static ones by a line that shows it."""
        static = {m.instance_id for m in self.members.values() if m.instance_id}
        for member in self.members.values():
            name = reasons.name_in_member_id(member.member_id)
            if member.instance_id is None and name in static:
                member.instance_id = name
            if member.instance_id is None and member.client_id is None:
                member.client_id = name
            settings = self._settings.get(member.client_id or "")
            if settings is not None:
                _limit(member, settings)
        clients = {m.instance_id: m for m in self.members.values() if m.instance_id and m.client_id}
        for member in self.members.values():
            same = clients.get(member.instance_id or "")
            if same is not None and member.client_id is None:
                member.client_id, member.named_by = same.client_id, same.named_by

    def get(self, member_id: str | None, instance_id: str | None = None) -> Member:
        """The member of that id; without an id the last holder of the instance id, else an unknown member."""
        if member_id is not None:
            client_id = None if instance_id else reasons.name_in_member_id(member_id)
            return self.members.get(member_id) or Member(member_id, client_id, instance_id)
        return self._holders.get(instance_id or "", Member(""))

    @cached_property
    def _holders(self) -> dict[str, Member]:
        """The last holder of each instance id."""
        ordered = sorted(self.members.values(), key=lambda m: (m.first_at or LONG_AGO, m.member_id))
        return {m.instance_id: m for m in ordered if m.instance_id}

    def count_at(self, at: datetime) -> int:
        """How many of the known members can have been in the group at that instant."""
        arrivals, departures = self._stays
        return arrivals.count_until(at) - departures.count_until(at)

    @cached_property
    def _stays(self) -> tuple[Timeline[datetime], Timeline[datetime]]:
        """The instants from which on each member can have been there, and was gone."""
        arrivals, departures = [], []
        for member in self.members.values():
            since = LONG_AGO if member.first_at is None else member.first_at - SAME_ACT
            arrivals.append(since)
            if member.removals:
                departures.append(max(since, min(r.at for r in member.removals)))
        return instants(arrivals), instants(departures)

    def arrival(self, member_id: str, at: datetime) -> Event | None:
        """The line of the member's arrival at `at` that shows most: the one that starts the rebalance, if any."""
        moves = self._moves_by_time.get(member_id, NO_LINES)
        lines = [e for e in moves.near(at, SAME_ACT) if e.kind in ARRIVALS]
        return max(lines, default=None, key=lambda e: (e.kind == Kind.REBALANCE_STARTED, e.happened_at))

    def last_join(self, member_id: str, before: datetime) -> Event | None:
        """The member's last joining before an instant, by its own log or by the lines that name its arrival."""
        joins = self._joins_by_time.get(member_id, NO_LINES)
        last = joins.last_before(before - SAME_ACT)
        return None if last is None else joins.first_since(last.happened_at)

    def first_line(self, member: Member) -> tuple[Event, ...]:
        """The first line that shows the member come or go."""
        return tuple(self.moves[member.member_id][:1])

    def is_cooperative(self, member: Member) -> Event | None:
        """The line that shows the member, or one of its group, with a cooperative assignor."""
        if member.is_cooperative is not None:
            return member.assigned_by if member.is_cooperative else None
        return self._cooperative_by

    @cached_property
    def _cooperative_by(self) -> Event | None:
        return next((m.assigned_by for _, m in sorted(self.members.items()) if m.is_cooperative), None)


def _limit(member: Member, event: Event) -> None:
    """Set the member's time-outs, where the line is the first that shows them.

    Under KIP-848 a member ignores its own session.timeout.ms: the session is a setting of brokers and groups. Source:
    ConsumerConfig.checkUnsupportedConfigsPostProcess; GroupCoordinatorConfig.
    """
    if event.kind != Kind.CLIENT_CONFIGURED or event.protocol != Protocol.CONSUMER:
        member.session_timeout_ms = member.session_timeout_ms or event.session_timeout_ms
    if member.rebalance_timeout_ms is None and event.rebalance_timeout_ms:
        member.rebalance_timeout_ms, member.limited_by = event.rebalance_timeout_ms, event


def sighting_of(readings: Sequence[MemberSnapshot]) -> Event:
    """The event of a member's first reading, with its ids and the topics that it owns in any reading."""
    first = readings[0]
    return event_of_reading(
        first,
        Kind.MEMBER_SEEN,
        f"member {first.member_id} of group {first.group_id}",
        group_id=first.group_id,
        member_id=first.member_id,
        client_id=first.client_id,
        host=first.host,
        instance_id=first.instance_id,
        detail=" ".join(sorted({p.topic for m in readings for p in m.assignment or () if p.topic is not None})),
    )


def namings(event: Event) -> Iterator[tuple[str, str | None]]:
    """The members that an event names, with their instance id if it names one: some stand only in a reason."""
    if event.kind == Kind.REBALANCE_STARTED:
        reason = reasons.read_coordinator_reason(event.reason)
        if reason.act == "joined":
            yield from ((m, reason.instance_id) for m in reason.members)
    elif event.member_id:
        yield event.member_id, reasons.option_value(event.instance_id)


def removals_in(event: Event) -> Iterator[tuple[str, Change]]:
    """The members that an event removes without a line of their own, and how."""
    if event.kind == Kind.MEMBERS_NOT_REJOINED:
        yield from ((m, Change.NOT_REJOINED) for m in reasons.split_members(event.members or ""))
    elif event.kind == Kind.REBALANCE_STARTED:
        reason = reasons.read_coordinator_reason(event.reason)
        if reason.act == "sync_expired":
            yield from ((m, Change.NOT_SYNCED) for m in reason.members)
