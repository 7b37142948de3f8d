"""A group of which only members' logs are at hand: what its coordinator must have written, by their lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.reasoning.timelines import by_instant
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.grouping import grouped, runs


def as_coordinator(events: Sequence[Event]) -> list[Event]:
    """The lines of members as those of their coordinator, each in the member's own words.

    A member prints the generation that it joined, and why it leaves. The first of the leaves and of the new members
    since the last generation began the next one. Source: AbstractCoordinator.java JoinGroupResponseHandler,
    maybeLeaveGroup; GroupCoordinator.scala: a join or a leave in a stable group begins a join phase.

    Takes: the events of one group in order.
    """
    joins = [e for e in events if e.kind == Kind.CLIENT_JOINED and e.generation]
    leaves = [e for e in events if e.kind == Kind.CLIENT_LEAVING and e.member_id]
    asking = {s: by_instant(own) for s, own in grouped(_of(events, Kind.CLIENT_JOINING), lambda e: e.source).items()}
    syncs = by_instant(_of(events, Kind.CLIENT_SYNCED))
    found, known = list[Event](), set[str | None]()
    for own in runs(joins, lambda run, e: run[-1].generation == e.generation):
        joined, generation = own[0], own[0].generation or 0
        before = [e for e in leaves if e.happened_at <= joined.happened_at]
        leaves = leaves[len(before) :]
        new = (e for e in own if e.member_id and e.member_id not in known)
        asked = [(asking[e.source].last_until(e.happened_at) if e.source in asking else None, e) for e in new]
        starts = [*map(_leave, before), *(_join(request or e, e) for request, e in asked)]
        found += [replace(e, generation=generation - 1) for e in _first(starts)]
        found += [*map(_left, before), replace(joined, kind=Kind.JOIN_COMPLETED)]
        synced = syncs.first_since(joined.happened_at)
        found += [replace(synced, kind=Kind.ASSIGNMENT_RECEIVED)] if synced and synced.generation == generation else []
        known |= {e.member_id for e in own}
    if joins and leaves:
        found += [replace(e, generation=joins[-1].generation) for e in _first([*map(_leave, leaves)])]
        found += map(_left, leaves)
    return sorted(found, key=lambda e: e.happened_at)


def _of(events: Iterable[Event], kind: Kind) -> list[Event]:
    return [e for e in events if e.kind == kind]


def _first(events: Sequence[Event]) -> list[Event]:
    return sorted(events, key=lambda e: e.happened_at)[:1]


def _leave(event: Event) -> Event:
    reason = f"Removing member {event.member_id} on LeaveGroup; client reason: {event.client_reason or ''}"
    return replace(event, kind=Kind.REBALANCE_STARTED, reason=reason)


def _left(event: Event) -> Event:
    return replace(event, kind=Kind.MEMBER_LEFT)


def _join(request: Event, joined: Event) -> Event:
    reason = f"Adding new member {joined.member_id} with group instance id {joined.instance_id}"
    return replace(joined, kind=Kind.REBALANCE_STARTED, reason=reason, happened_at=request.happened_at)
