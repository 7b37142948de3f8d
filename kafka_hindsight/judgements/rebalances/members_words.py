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


def as_coordinator(events: Sequence[Event]) -> list[Event]:
    """Turn the lines of members, in order, into those of their coordinator, each in the member's own words.

    A member prints the generation that it joined, why it leaves, and why it rejoins. The first of the leaves and of the
    new members since the last generation began the next one, else the first member with a reason of its own. Where one
    more generation lies between, the leaves began that one: a group whose last member leaves is empty in it.
    Source: AbstractCoordinator.java JoinGroupResponseHandler, maybeLeaveGroup, requestRejoin; GroupCoordinator.scala: a
    join, a leave or a rejoin in a stable group begins a join phase, onCompleteJoin counts a generation without members.
    """
    joins = [e for e in events if e.kind == Kind.CLIENT_JOINED and e.generation]
    leaves = [e for e in events if e.kind == Kind.CLIENT_LEAVING and e.member_id]
    join_lines, reason_lines = (_by_source(events, k) for k in (Kind.CLIENT_JOINING, Kind.CLIENT_JOIN_REQUESTED))
    syncs = by_instant(_of(events, Kind.CLIENT_SYNCED))
    lines, members, last_at, last_generation = list[Event](), set[str | None](), LONG_AGO, 0
    for phase in runs(joins, lambda run, e: run[-1].generation == e.generation):
        joined, generation = phase[0], phase[0].generation or 0
        before = [e for e in leaves if e.happened_at <= joined.happened_at]
        leaves = leaves[len(before) :]
        requests = [(_join_request(join_lines, e, last_at), e) for e in phase if e.member_id]
        left = [*map(_leave, before)]
        if generation == last_generation + 2:
            lines += [replace(e, generation=last_generation) for e in _first(left)]
            left = []
        starts = [*left, *(_join(r, e) for r, e in requests if e.member_id not in members)]
        if not starts:
            reasons = [(_last(reason_lines, request), request, e) for request, e in requests]
            starts = [_rejoin(why, r, e) for why, r, e in reasons if why and why.happened_at > last_at and _is_own(why)]
        lines += [replace(e, generation=generation - 1) for e in _first(starts)]
        lines += [*map(_departure, before), replace(joined, kind=Kind.JOIN_COMPLETED)]
        synced = syncs.first_since(joined.happened_at)
        lines += [replace(synced, kind=Kind.ASSIGNMENT_RECEIVED)] if synced and synced.generation == generation else []
        members |= {e.member_id for e in phase}
        last_at, last_generation = phase[-1].happened_at, generation
    if joins and leaves:
        lines += [replace(e, generation=joins[-1].generation) for e in _first([*map(_leave, leaves)])]
        lines += map(_departure, leaves)
    return sorted(lines, key=lambda e: e.happened_at)


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
    reason = f"Removing member {event.member_id} on LeaveGroup; client reason: {event.client_reason or ''}"
    return replace(event, kind=Kind.REBALANCE_STARTED, reason=reason)


def _departure(event: Event) -> Event:
    return replace(event, kind=Kind.MEMBER_LEFT)


def _rejoin(why: Event, request: Event, joined: Event) -> Event:
    reason = f"Updating metadata for member {joined.member_id}; client reason: {why.reason}"
    return replace(request, kind=Kind.REBALANCE_STARTED, reason=reason)


def _join(request: Event, joined: Event) -> Event:
    reason = f"Adding new member {joined.member_id} with group instance id {joined.instance_id}"
    return replace(request, kind=Kind.REBALANCE_STARTED, reason=reason)
