"""Who is who in one group: which client has a member id, since when, and whether it was there before."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from spark_jobs.catalog.codes import Origin
from spark_jobs.catalog.rows import Event
from spark_jobs.knowledge.kinds import Kind
from spark_jobs.knowledge.reasons import name_in_member_id, option_value, read_coordinator_reason, split_members
from spark_jobs.transforms.durations import SAME_ACT
from spark_jobs.transforms.rebalances.model import Change
from spark_jobs.transforms.rebalances.records import RECORDED

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
_JOINS = {*_ARRIVALS, Kind.CLIENT_JOINED, Kind.CLIENT_SYNCED}
_NAMES_TOPICS = {SEEN, Kind.CLIENT_SUBSCRIBED, RECORDED}
_NAMES_GENERATION = {Kind.MEMBER_LOADED, Kind.CLIENT_JOINED, Kind.CLIENT_SYNCED, RECORDED}
_TOPIC = re.compile(r"[a-zA-Z0-9._-]+")


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
    its assignor is cooperative, and its poll limit.
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

    @property
    def known_at(self) -> datetime | None:
        """When it was first heard of: some are named only by the line that removes them."""
        return min((at for at in (self.first_at, *(r.at for r in self.removals)) if at is not None), default=None)

    @property
    def introduced_by(self) -> tuple[Event, ...]:
        """The lines that show who it is. A dynamic member's id itself begins with its client id."""
        says_itself = self.instance_id is None and self.client_id == name_in_member_id(self.member_id)
        return tuple(e for e in (None if says_itself else self.named_by, self.placed_by) if e is not None)

    def gone_before(self, at: datetime) -> Removal | None:
        """Its last removal no later than `at`; None where it was there all the time."""
        return max((r for r in self.removals if r.at <= at), default=None, key=lambda r: (r.at, r.how))


class MemberRegistry:
    """The members of one group, from coordinator lines, loaded groups, client logs, snapshots and records.

    Takes: all events of the group in order, client lines among them, and sightings (kind member_seen).
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.members: dict[str, Member] = {}
        self.logs: dict[str, list[Event]] = defaultdict(list)
        self.by_generation: dict[int, set[str]] = defaultdict(set)
        self.topics: set[str] = set()
        self._settings: dict[str, Event] = {}
        self._moves: dict[str, list[Event]] = defaultdict(list)
        self._joins: dict[str, list[Event]] = defaultdict(list)
        for event in events:
            self._read(event)
        self._name_members()
        self._by_name: dict[str, list[Member]] = defaultdict(list)
        for member in self.members.values():
            for name in {member.instance_id, member.client_id} - {None}:
                self._by_name[str(name)].append(member)
        self._is_shared: dict[str, bool] = {}

    def _read(self, event: Event) -> None:
        if event.origin == Origin.CLIENT and event.client_id:
            self.logs[event.client_id].append(event)
            if event.kind == Kind.CLIENT_CONFIGURED:
                self._settings[event.client_id] = event
        for member_id, instance_id in _namings(event):
            self._see(self._member(member_id), instance_id, event)
            if event.kind in _JOINS:
                self._joins[member_id].append(event)
        if event.kind in _NAMES_TOPICS and event.detail:
            self.topics.update(_TOPIC.findall(event.detail))
        for member_id, how in _dropped(event):
            self._member(member_id).removals.append(Removal(event.happened_at, how, event))
        if event.kind == Kind.STATIC_MEMBER_REPLACED and event.old_member_id:
            self._replace(self._member(event.old_member_id), event)
        elif event.kind in (Kind.GROUP_EMPTIED, Kind.GROUP_DEAD):
            self._empty(event)

    def _member(self, member_id: str) -> Member:
        return self.members.setdefault(member_id, Member(member_id))

    def _see(self, member: Member, instance_id: str | None, event: Event) -> None:
        """The first line that shows a field counts; of the assignor the last one."""
        if member.client_id is None and event.client_id:
            member.client_id, member.named_by = event.client_id, event
        if member.instance_id is None and instance_id:
            member.instance_id, member.placed_by = instance_id, event
        member.host = member.host or (event.host or "").lstrip("/") or None
        if event.assignor:
            member.is_cooperative, member.cooperative_by = "cooperative" in event.assignor, event
        _limit(member, event)
        self._date(member, event)

    def _date(self, member: Member, event: Event) -> None:
        """When the member came or went. A loaded group shows the past: not when its members came."""
        if event.kind in _NAMES_GENERATION and event.generation is not None:
            self.by_generation[event.generation].add(member.member_id)
            if member.first_generation is None or event.generation < member.first_generation:
                member.first_generation = event.generation
        if event.kind in _REMOVALS or event.kind in _ARRIVALS:
            self._moves[member.member_id].append(event)
        if event.kind in _REMOVALS:
            member.removals.append(Removal(event.happened_at, _REMOVALS[event.kind], event))
        elif event.kind != Kind.MEMBER_LOADED:
            member.first_at = min(event.happened_at, member.first_at or event.happened_at)

    def _replace(self, old: Member, event: Event) -> None:
        if old.instance_id is None and event.instance_id:
            old.instance_id, old.placed_by = option_value(event.instance_id), event
        old.removals.append(Removal(event.happened_at, Change.REPLACED, event))

    def _empty(self, event: Event) -> None:
        at = event.happened_at
        for member in self.members.values():
            if not member.removals and (member.first_at is None or member.first_at < at):
                member.removals.append(Removal(at, Change.LEFT, event))

    def _name_members(self) -> None:
        """The client in front of a dynamic member's uuid; a static member's client has to be shown by a line."""
        for member in self.members.values():
            if member.instance_id is None and member.client_id is None:
                member.client_id = name_in_member_id(member.member_id)
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
            return self.members.get(member_id) or Member(
                member_id, client_id=None if instance_id else name_in_member_id(member_id), instance_id=instance_id
            )
        held = [m for m in self.members.values() if instance_id and m.instance_id == instance_id]
        return max(held, key=lambda m: (m.first_at is not None, m.first_at, m.member_id), default=Member(""))

    def same_client(self, one: Member, other: Member) -> bool:
        """Whether two members are the same: the same instance id, else the same client id and, where known, host."""
        if one.member_id == other.member_id:
            return True
        if one.instance_id or other.instance_id:
            return one.instance_id == other.instance_id
        if not one.client_id or one.client_id != other.client_id or self.is_shared(one.client_id):
            return False
        return one.host is None or other.host is None or one.host == other.host

    def _same_clients(self, member: Member) -> list[Member]:
        """The members that are the same client, itself among them."""
        names = (member.instance_id, member.client_id)
        named = {m.member_id: m for name in names if name for m in self._by_name.get(name, ())}
        if member.member_id in self.members:
            named[member.member_id] = self.members[member.member_id]
        return [m for m in named.values() if self.same_client(m, member)]

    def is_shared(self, client_id: str) -> bool:
        """Whether several members held that client id at once, so that it identifies no member.

        Edge case: a dead member whose session has yet to expire is not a second holder.
        """
        if client_id not in self._is_shared:
            held = [m for m in self._by_name.get(client_id, ()) if m.client_id == client_id and not m.instance_id]
            spans = sorted((m.first_at, m.member_id, m) for m in held if m.first_at is not None)
            self._is_shared[client_id] = any(
                not first.removals
                or (first.removals[-1].how not in _SILENT and first.removals[-1].at > second_at + SAME_ACT)
                for (_, _, first), (second_at, _, _) in itertools.pairwise(spans)
            )
        return self._is_shared[client_id]

    def had_unnamed(self, before: datetime) -> bool:
        """Whether the group had members by then whose client is not known: any of them may be the same."""
        return any(
            m.client_id is None and m.instance_id is None and m.known_at is not None and m.known_at < before - SAME_ACT
            for m in self.members.values()
        )

    def count_at(self, at: datetime) -> int:
        """How many of the known members can have been in the group at that instant."""
        return sum(
            (m.first_at is None or m.first_at <= at + SAME_ACT) and m.gone_before(at) is None
            for m in self.members.values()
        )

    def earlier(self, member: Member, at: datetime, look_back: timedelta) -> Member | None:
        """The same client as it was in the group before `at`, removed or gone, within the look-back."""
        found = [
            m
            for m in self._same_clients(member)
            if (m.member_id != member.member_id or m.gone_before(at) or self._had_joined(m, at))
            and m.known_at is not None
            and (m.known_at < at - SAME_ACT or m.gone_before(at))
            and max([m.known_at, *(r.at for r in m.removals if r.at <= at)]) >= at - look_back
        ]
        return max(found, key=lambda m: (m.known_at, m.member_id), default=None)

    def _had_joined(self, member: Member, at: datetime) -> bool:
        """Whether it had joined under the same id: KIP-848 members keep theirs, and the line of a leave may be lost."""
        return any(
            e.kind == Kind.MEMBER_JOINED and e.happened_at < at - SAME_ACT for e in self._moves[member.member_id]
        )

    def later(self, member: Member, at: datetime, within: timedelta) -> tuple[Member, datetime] | None:
        """The same client as it came back after `at`, and when."""
        returns = [
            (e.happened_at, m.member_id, m)
            for m in self._same_clients(member)
            for e in self._moves[m.member_id]
            if e.kind in _ARRIVALS and at < e.happened_at <= at + within
        ]
        first = min(returns, default=None, key=lambda r: r[:2])
        return None if first is None else (first[2], first[0])

    def arrival(self, member_id: str, at: datetime) -> Event | None:
        """The line of the member's arrival at `at` that shows most: the one that starts the rebalance, if any."""
        lines = [
            e for e in self._moves[member_id] if e.kind in _ARRIVALS and at - SAME_ACT <= e.happened_at <= at + SAME_ACT
        ]
        return max(lines, default=None, key=lambda e: (e.kind == Kind.REBALANCE_STARTED, e.happened_at))

    def joined_last(self, member_id: str, before: datetime) -> Event | None:
        """The member's last joining before an instant, by its own log or by the lines that name its arrival."""
        own = [e for e in self._joins[member_id] if e.happened_at < before - SAME_ACT]
        return max(own, default=None, key=lambda e: e.happened_at)

    def first_line(self, member: Member) -> tuple[Event, ...]:
        """The first line that shows the member come or go."""
        return tuple(self._moves[member.member_id][:1])

    def is_cooperative(self, member: Member) -> Event | None:
        """The line that shows the member, or one of its group, with a cooperative assignor."""
        if member.is_cooperative is not None:
            return member.cooperative_by if member.is_cooperative else None
        return next((m.cooperative_by for _, m in sorted(self.members.items()) if m.is_cooperative), None)

    def log_of(self, member: Member) -> list[Event]:
        """The lines of the member's own log, in order; empty where there is no log or its client id is shared."""
        if not member.client_id or self.is_shared(member.client_id):
            return []
        return self.logs.get(member.client_id, [])


def _limit(member: Member, event: Event) -> None:
    """The member's time-outs, where the line is the first that shows them."""
    member.session_timeout_ms = member.session_timeout_ms or event.session_timeout_ms
    if member.rebalance_timeout_ms is None and event.rebalance_timeout_ms:
        member.rebalance_timeout_ms, member.limited_by = event.rebalance_timeout_ms, event


def _namings(event: Event) -> Iterator[tuple[str, str | None]]:
    """The members an event names, with the instance id where it names one: some stand only in a reason."""
    if event.kind == Kind.REBALANCE_STARTED:
        reason = read_coordinator_reason(event.reason)
        if reason.act == "joined":
            yield from ((m, reason.instance_id) for m in reason.members)
    elif event.member_id:
        yield event.member_id, option_value(event.instance_id)


def _dropped(event: Event) -> Iterator[tuple[str, Change]]:
    """The members that an event drops without a line of their own, and how they went."""
    if event.kind == Kind.MEMBERS_NOT_REJOINED:
        yield from ((m, Change.NOT_REJOINED) for m in split_members(event.members or ""))
    elif event.kind == Kind.REBALANCE_STARTED:
        reason = read_coordinator_reason(event.reason)
        if reason.act == "sync_expired":
            yield from ((m, Change.NOT_SYNCED) for m in reason.members)
