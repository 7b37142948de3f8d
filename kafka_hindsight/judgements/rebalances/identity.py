"""The identity of members in one group: which member an id, an instance id, a client id and a host stand for, and when.

A member id is one process's, and an instance id one member's. A client id is a name that any process may use: it
identifies a member where no library chose it, and as long as no two members hold it at once. Different hosts mean
different members; the same host proves nothing.
Source: KIP-345, KIP-394; CommonClientConfigs client.id: nothing makes it unique.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.rebalances.client_logs import NO_LOG, ClientLog
from kafka_hindsight.judgements.rebalances.group_history import Change
from kafka_hindsight.judgements.rebalances.members import ARRIVALS, Member, MemberRegistry, Removal
from kafka_hindsight.knowledge.client_ids import is_default, is_of_one_process
from kafka_hindsight.knowledge.remedy_settings import SESSION_TIMEOUT_MS
from kafka_hindsight.shared.durations import LONG_AGO, LOOK_BACK, MS, RETURN_WITHIN, SAME_ACT
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline, instants

_SILENT = (Change.EXPIRED, Change.NOT_REJOINED, Change.NOT_SYNCED)


@dataclass(frozen=True)
class Arrival:
    """A member as it came, and when."""

    at: datetime
    member: Member


@dataclass(frozen=True)
class Departure:
    """A member as it went, and the first instant from which on it may have been silent.

    `is_bound`: no line shows how long its session was, so that it may have been heard later.
    """

    silent_since: datetime
    member: Member
    removal: Removal
    is_bound: bool


class Identity:
    """The identities of the members of one group."""

    def __init__(self, registry: MemberRegistry, group_id: str) -> None:
        self.registry = registry
        self.is_of_one_process = is_of_one_process(group_id)
        """Whether a process made the group for itself: no other one has its members, whoever chose their client ids."""
        self._by_name: dict[str, list[Member]] = defaultdict(list)
        """The members by each of their names; those without one under an empty one."""
        for member in registry.members.values():
            for name in {member.instance_id, member.client_id} - {None} or {""}:
                self._by_name[str(name)].append(member)
        self._overlaps: dict[str, Intervals[tuple[Member, Member]]] = {}
        self._comings: dict[str, Timeline[Arrival]] = {}
        self._goings: dict[str, Timeline[Departure]] = {}

    def identifies(self, member: Member, at: datetime) -> bool:
        """Whether the member's names stand for it alone, within the look-back before an instant and ten minutes after.

        A client id that the library chose does not identify, even where the group never had another member.
        """
        return bool(member.instance_id) or self._is_of_one(member.client_id, at)

    def _is_of_one(self, client_id: str | None, at: datetime) -> bool:
        """Whether one member at a time held a client id that no library chose, or that is in a group of one process."""
        if not client_id or (is_default(client_id) and not self.is_of_one_process):
            return False
        return not self._overlaps_around(client_id, at)

    def holders_at_once(self, member: Member, at: datetime) -> Sequence[Member]:
        """Two members that held its client id at once, so that it identifies none of them; none if no two did.

        Of several pairs it is the last one before the instant.
        """
        overlaps = self._overlaps_around(member.client_id, at) if member.client_id else ()
        before = [o for o in overlaps if o.start < at] or overlaps[:1]
        return before[-1].value if before else ()

    def _overlaps_around(self, client_id: str, at: datetime) -> Sequence[Interval[tuple[Member, Member]]]:
        """The times at which two members held a client id at once, as near to an instant as `identifies` looks."""
        if client_id not in self._overlaps:
            self._overlaps[client_id] = Intervals(self._find_overlaps(client_id))
        return self._overlaps[client_id].between(at - LOOK_BACK, at + RETURN_WITHIN)

    def _find_overlaps(self, client_id: str) -> Iterator[Interval[tuple[Member, Member]]]:
        """The times at which two members held a client id at once, with both.

        A dead member whose session has yet to expire is not a second holder. Neither is an id that was assigned and
        never used, where the coordinator names those that are. A member that was heard after the rebalance that let the
        other in is one.
        """
        holders = (m for m in self._by_name[client_id] if m.client_id == client_id and not m.instance_id)
        used = (m for m in holders if not (m.is_pending and self.registry.names_rejoins))
        spans = sorted((m.first_at, m.member_id, m) for m in used if m.first_at is not None)
        for (_, _, first), (second_at, _, second) in pairwise(spans):
            if not first.removals:
                yield Interval(second_at, None, (first, second))
            elif self._was_heard_beside(first, second_at):
                yield Interval(second_at, max(second_at, first.removals[-1].at), (first, second))

    def _was_heard_beside(self, member: Member, other_came_at: datetime) -> bool:
        """Whether a member lived when another one was in the group.

        The coordinator hears no member while it waits for the join phase, and from then on each one within its session.
        """
        last = member.removals[-1]
        if last.how not in _SILENT:
            return last.at > other_came_at + SAME_ACT
        settled = self.registry.settled.first_since(other_came_at)
        if settled is None or member.session_timeout_ms is None:
            return False
        return last.at - member.session_timeout_ms * MS > settled.happened_at + SAME_ACT

    def is_same(self, one: Member, other: Member, at: datetime) -> bool:
        """Whether two members surely are the same: one member id, or a name that identifies and no other host."""
        if one.member_id == other.member_id:
            return True
        if one.instance_id or other.instance_id:
            return one.instance_id == other.instance_id
        return one.client_id == other.client_id and self.identifies(one, at) and _may_share_host(one, other)

    def _may_be_same(self, one: Member, other: Member) -> bool:
        """Whether two dynamic members may be the same, by all that is known of them."""
        return (
            one.member_id != other.member_id
            and not one.instance_id
            and not other.instance_id
            and (not one.client_id or not other.client_id or one.client_id == other.client_id)
            and _may_share_host(one, other)
        )

    def _possible_names(self, member: Member) -> Sequence[str]:
        """The names of members that may be the same."""
        if member.instance_id:
            return (member.instance_id,)
        return (member.client_id, "") if member.client_id else (*self._by_name,)

    def took_static_place(self, member: Member) -> bool:
        """Whether it is a new process of a static member that was there before."""
        namesakes = self._by_name.get(member.instance_id, ()) if member.instance_id else ()
        return any(m.instance_id == member.instance_id and m.member_id != member.member_id for m in namesakes)

    def former_self(self, member: Member, at: datetime) -> Member | None:
        """The same member as it was in the group before `at`, removed or gone, within the look-back."""
        namesakes = self._members_by_first_line.get(member.instance_id or member.client_id or "")
        before = namesakes.until(at) if namesakes is not None else ()
        same_id = self.registry.members.get(member.member_id)
        if same_id is not None and not self.identifies(member, at):
            before = (same_id,)
        same = (m for m in reversed(before) if self.is_same(m, member, at))
        return next((m for m in same if self._was_there(m, member.member_id, at)), None)

    @cached_property
    def _members_by_first_line(self) -> dict[str, Timeline[Member]]:
        """The members by name, in the order in which they were first heard of."""
        members = {name: [m for m in namesakes if m.known_at is not None] for name, namesakes in self._by_name.items()}
        return {
            name: Timeline(sorted(namesakes, key=lambda m: m.member_id), at=lambda m: m.known_at or LONG_AGO)
            for name, namesakes in members.items()
        }

    def _was_there(self, one: Member, member_id: str, at: datetime) -> bool:
        """Whether a member was in the group before an instant; the one of that id only if it had gone or joined before.

        KIP-848 members keep their id, and the line of a leave may be lost.
        """
        removal, known_at = one.last_removal_until(at), one.known_at
        if one.member_id == member_id and not removal:
            joined_at = self._first_joins.get(member_id)
            if joined_at is None or joined_at >= at - SAME_ACT:
                return False
        if known_at is None:
            return False
        last_at = max(known_at, removal.at) if removal else known_at
        return (removal is not None or known_at < at - SAME_ACT) and last_at >= at - LOOK_BACK

    @cached_property
    def _first_joins(self) -> dict[str, datetime]:
        moves = self.registry.moves.items()
        joins = ((m, e) for m, events in moves for e in reversed(events) if e.kind == Kind.MEMBER_JOINED)
        return {m: e.happened_at for m, e in joins}

    def next_arrival(self, member: Member, at: datetime) -> Arrival | None:
        """The same member as it came back within ten minutes after `at`."""
        names = (member.instance_id or member.client_id or "",)
        return next((a for a in self._arrivals(names, at) if self.is_same(a.member, member, at)), None)

    def next_lookalike(self, member: Member, at: datetime) -> Arrival | None:
        """A member that may be the same, as it came within ten minutes after `at`."""
        names = self._possible_names(member)
        return next((a for a in self._arrivals(names, at) if self._may_be_same(a.member, member)), None)

    def _arrivals(self, names: Sequence[str], at: datetime) -> Iterator[Arrival]:
        """The arrivals under these names within ten minutes after an instant, in order."""
        arrivals: list[Arrival] = []
        for name in names:
            if name not in self._comings:
                moves = ((m, e) for m in self._by_name[name] for e in self.registry.moves[m.member_id])
                comings = (Arrival(e.happened_at, m) for m, e in moves if e.kind in ARRIVALS)
                self._comings[name] = Timeline(sorted(comings, key=lambda a: a.member.member_id), at=lambda a: a.at)
            arrivals += self._comings[name].between(at + timedelta.resolution, at + RETURN_WITHIN)
        yield from sorted(arrivals, key=lambda a: (a.at, a.member.member_id))

    def lookalike_departure(self, member: Member, at: datetime) -> Departure | None:
        """The last member that may be the same and was no longer heard when this one came.

        The coordinator may find a member silent only after the rebalance that let this one in.
        """
        settled = self.registry.settled.first_since(at)
        until = (at if settled is None else settled.happened_at) + SAME_ACT
        departures: list[Departure] = []
        for name in self._possible_names(member):
            if name not in self._goings:
                removals = ((m, r) for m in self._by_name[name] for r in m.removals)
                self._goings[name] = Timeline((self._departure(m, r) for m, r in removals), _since)
            recent = self._goings[name].between(at - LOOK_BACK, until)
            may_be = (d for d in reversed(recent) if self._may_be_same(d.member, member))
            departures += [d for d in may_be if _was_known(d, at)][:1]
        return max(departures, key=_since, default=None)

    def _departure(self, member: Member, removal: Removal) -> Departure:
        """A member as it went: it was heard when it joined, and one whose session expired not for as long as that."""
        if removal.how not in _SILENT:
            return Departure(removal.at, member, removal, is_bound=False)
        session = (member.session_timeout_ms or SESSION_TIMEOUT_MS) * MS
        joined = self.registry.last_join(member.member_id, removal.at)
        heard_at = joined.happened_at if joined else member.first_at or LONG_AGO
        since = max(removal.at - session, min(heard_at, removal.at))
        return Departure(since, member, removal, is_bound=member.session_timeout_ms is None)

    def present_lookalikes(self, member: Member, at: datetime) -> Sequence[Member]:
        """The members of the same client id, if any, that were in the group at an instant and may be the same."""
        others = self._by_name[member.client_id] if member.client_id else ()
        return [
            m
            for m in others
            if self._may_be_same(m, member) and m.first_at and m.first_at < at and not m.last_removal_until(at)
        ]

    def session_ms(self, member: Member) -> int | None:
        """How long a member's session is; where its own lines do not say it, the shortest of its client id."""
        like = self._by_name[member.client_id] if member.client_id else ()
        shortest = min((m.session_timeout_ms for m in like if m.session_timeout_ms), default=None)
        return member.session_timeout_ms or shortest

    def had_no_member(self, at: datetime) -> bool:
        """Whether no member is known to have been in the group within the look-back before an instant."""
        arrivals, departures = self._all_stays
        is_known_to_be_empty = arrivals.count_before(at - SAME_ACT) == departures.count_before(at - LOOK_BACK)
        return is_known_to_be_empty and not departures.between(at - LOOK_BACK, at)

    @cached_property
    def _all_stays(self) -> tuple[Timeline[datetime], Timeline[datetime]]:
        """The instants of each member's first line, and of the last removal of each that was removed."""
        members = [m for m in self.registry.members.values() if m.known_at is not None]
        return instants(m.known_at for m in members if m.known_at), instants(
            m.removals[-1].at for m in members if m.removals
        )

    def log_of(self, member: Member, at: datetime) -> ClientLog:
        """The member's own log: what its names identify, and else what names its member id."""
        logs, client_id = self.registry.logs, member.client_id
        if not client_id:
            return NO_LOG
        return logs.of(client_id) if self._is_of_one(client_id, at) else logs.naming(client_id, member.member_id)


def _may_share_host(one: Member, other: Member) -> bool:
    return one.host is None or other.host is None or one.host == other.host


def _was_known(departure: Departure, at: datetime) -> bool:
    """Whether a line named the member before another one came at an instant. The line that removes it is enough."""
    known_at, gone_at = departure.member.known_at, departure.removal.at
    return known_at is not None and (known_at < at - SAME_ACT or gone_at <= min(known_at, at))


def _since(departure: Departure) -> datetime:
    return departure.silent_since
