"""The coordinator's lines of a group of which only members' logs are at hand, derived from their lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.knowledge.reasons import COORDINATOR_TROUBLE, FOLLOWS, GIVEN_MEMBER_ID, read_client_reason
from kafka_hindsight.shared.durations import LONG_AGO, MS, SAME_ACT
from kafka_hindsight.shared.grouping import grouped, runs
from kafka_hindsight.shared.timelines import Timeline, by_instant

_UNKNOWN_MEMBER = ("UNKNOWN_MEMBER_ID", "The coordinator is not aware of this member")
"""The error in Java's word, and in that of kafkajs (src/protocol/error.js)."""


_Holder = tuple[str | None, str | None]
"""A member by its id alone, else its client and its log."""


def as_coordinator(events: Sequence[Event]) -> list[Event]:
    """Turn the lines of members, in order, into those of their coordinator, each in the member's own words.

    A member prints the generation that it joined, why it leaves, and why it rejoins. The first of the leaves and of the
    new members since the last generation began the next one, else the first member with a reason of its own. Where one
    more generation lies between, the leaves began that one: a group whose last member leaves is empty in it. So they
    did where the generations begin again: the group was removed, and only a group without members is. A leave or a
    removal beside which no generation is known has no line but its own.
    Source: AbstractCoordinator.java JoinGroupResponseHandler, maybeLeaveGroup, requestRejoin; GroupCoordinator.scala: a
    join, a leave or a rejoin in a stable group begins a join phase, onCompleteJoin counts a generation without members.
    """
    leaves = _leaves(events)
    joins = _joins(events, leaves)
    join_lines, reason_lines = (_by_source(events, k) for k in (Kind.CLIENT_JOINING, Kind.CLIENT_JOIN_REQUESTED))
    syncs = by_instant(_of(events, Kind.CLIENT_SYNCED))
    lines, members, last_at, last_generation = list[Event](), set[_Holder](), LONG_AGO, 0
    for phase in runs(joins, lambda run, e: run[-1].generation == e.generation):
        joined, generation = phase[0], phase[0].generation or 0
        before = [e for e in leaves if e.happened_at <= joined.happened_at]
        leaves = leaves[len(before) :]
        begins_again = generation < last_generation
        members = set() if begins_again else members - {_holder(e) for e in before}
        new = [(_join_request(join_lines, e, last_at), e) for e in phase if _holder(e) not in members]
        departures = [*map(_leave, before)]
        if begins_again or generation == last_generation + 2:
            lines += [replace(e, generation=last_generation) for e in _first(departures)]
            departures = []
        starts = [*departures, *(_join(r, e) for r, e in new)]
        if not starts:
            requests = [(_join_request(join_lines, e, last_at), e) for e in phase]
            reasons = [(_last(reason_lines, request), request, e) for request, e in requests]
            starts = [_rejoin(why, r, e) for why, r, e in reasons if why and why.happened_at > last_at and _is_own(why)]
        lines += [replace(e, generation=generation - 1) for e in _first(starts)]
        lines += [*map(_departure, before), *(_arrival(r, e) for r, e in new if not e.member_id)]
        lines += [replace(joined, kind=Kind.JOIN_COMPLETED)]
        synced = syncs.first_since(joined.happened_at)
        lines += [replace(synced, kind=Kind.ASSIGNMENT_RECEIVED)] if synced and synced.generation == generation else []
        members |= {_holder(e) for e in phase}
        last_at, last_generation = phase[-1].happened_at, generation
    if joins:
        lines += [replace(e, generation=last_generation) for e in _first([*map(_leave, leaves)])]
    lines += [*map(_departure, leaves), *_removals(events)]
    return sorted(lines, key=lambda e: e.happened_at)


def _holder(event: Event) -> _Holder:
    return (event.member_id, None) if event.member_id else (event.client_id, event.source)


def _leaves(events: Sequence[Event]) -> list[Event]:
    """The lines in which members leave; that a poll limit was exceeded, where no request to leave follows.

    Source: Java's clients from 3.0 on write both; up to 2.8 one line has both, and librdkafka writes no request.
    """
    requests = [e for e in _of(events, Kind.CLIENT_LEAVING) if e.member_id]
    by_source = _by_source(requests, Kind.CLIENT_LEAVING)
    late = (e for e in _of(events, Kind.CLIENT_POLL_EXPIRED) if e.member_id or not _follows(by_source, e))
    return sorted([*requests, *late], key=lambda e: e.happened_at)


def _follows(by_source: Mapping[str, Timeline[Event]], event: Event) -> bool:
    lines = by_source[event.source].near(event.happened_at, SAME_ACT) if event.source in by_source else ()
    return any(e.client_id == event.client_id for e in lines)


def _joins(events: Sequence[Event], leaves: Iterable[Event]) -> list[Event]:
    """The lines in which members learnt their generation, each with the member id that its log names before it leaves.

    Source: until 2.5 the line that a member has joined follows its assignment, and names no member id; later ones write
    one for the join, and one for the assignment.
    """
    writers = {e.source for e in _of(events, Kind.CLIENT_JOINED)}
    joins = [
        e
        for e in events
        if e.generation and (e.kind == Kind.CLIENT_JOINED or (e.kind == Kind.CLIENT_SYNCED and e.source not in writers))
    ]
    member_ids: dict[_Holder, str | None] = {}
    by_line: dict[str, str | None] = {}
    for event in sorted([*joins, *leaves], key=lambda e: e.happened_at, reverse=True):
        consumer = event.client_id, event.source
        if event.kind in (Kind.CLIENT_LEAVING, Kind.CLIENT_POLL_EXPIRED):
            member_ids[consumer] = event.member_id
        else:
            by_line[event.line_id] = event.member_id or member_ids.get(consumer)
    return [replace(e, member_id=by_line[e.line_id]) for e in joins]


def _removals(events: Sequence[Event]) -> list[Event]:
    """The removals that members learnt of by a refused heartbeat, and after which no line shows them join again.

    Source: a coordinator answers UNKNOWN_MEMBER_ID to a member whose session ran out, or that was removed.
    """
    requests = _by_source(events, Kind.CLIENT_JOINING)
    joined = _by_source(events, Kind.CLIENT_JOINED), _by_source(events, Kind.CLIENT_SYNCED)
    refusals = [e for e in events if (e.kind == Kind.CLIENT_HEARTBEAT_REFUSED and e.error in _UNKNOWN_MEMBER)]
    last = [run[-1] for run in grouped(refusals, lambda e: (e.client_id, e.source)).values()]
    return [
        replace(e, kind=Kind.MEMBER_FAILED)
        for e in last
        if not any(e.source in lines and lines[e.source].first_after(e.happened_at) for lines in (requests, *joined))
    ]


def _of(events: Iterable[Event], kind: Kind) -> list[Event]:
    return [e for e in events if e.kind == kind]


def _by_source(events: Iterable[Event], kind: Kind) -> Mapping[str, Timeline[Event]]:
    return {source: by_instant(lines) for source, lines in grouped(_of(events, kind), lambda e: e.source).items()}


def _last(by_source: Mapping[str, Timeline[Event]], event: Event) -> Event | None:
    """The last line of these in an event's log up to it."""
    return by_source[event.source].last_until(event.happened_at) if event.source in by_source else None


def _join_request(join_lines: Mapping[str, Timeline[Event]], joined: Event, since: datetime) -> Event:
    """The request by which a member joined, after an instant.

    A member without a member id gets one, and asks again at once (KIP-394).
    """
    last = _last(join_lines, joined)
    if last is None or last.happened_at <= since:
        return joined
    return join_lines[joined.source].between(max(since + MS, last.happened_at - SAME_ACT), last.happened_at)[0]


def _is_own(why: Event) -> bool:
    """Whether a member rejoins for a reason of its own."""
    return read_client_reason(why.reason) not in (None, FOLLOWS, GIVEN_MEMBER_ID, COORDINATOR_TROUBLE)


def _first(events: Sequence[Event]) -> list[Event]:
    return sorted(events, key=lambda e: e.happened_at)[:1]


def _leave(event: Event) -> Event:
    if not event.member_id:  # its departure shows the cause
        return replace(event, kind=Kind.REBALANCE_STARTED)
    reason = f"Removing member {event.member_id} on LeaveGroup; client reason: {event.client_reason or ''}"
    return replace(event, kind=Kind.REBALANCE_STARTED, reason=reason)


def _departure(event: Event) -> Event:
    return replace(event, kind=Kind.MEMBER_LEFT)


def _rejoin(why: Event, request: Event, joined: Event) -> Event:
    reason = f"Updating metadata for member {joined.member_id}; client reason: {why.reason}"
    return replace(request, kind=Kind.REBALANCE_STARTED, reason=reason)


def _arrival(request: Event, joined: Event) -> Event:
    return replace(request, kind=Kind.MEMBER_ADDED, client_id=joined.client_id)


def _join(request: Event, joined: Event) -> Event:
    if not joined.member_id:  # its arrival shows the cause
        return replace(request, kind=Kind.REBALANCE_STARTED)
    reason = f"Adding new member {joined.member_id} with group instance id {joined.instance_id}"
    return replace(request, kind=Kind.REBALANCE_STARTED, reason=reason)
