"""Which members of a group a line names, and which it drops without a line of their own."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.rebalances.model import Change
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.reasons import option_value, read_coordinator_reason, split_members


def namings(event: Event) -> Iterator[tuple[str, str | None]]:
    """The members an event names, with the instance id where it names one: some stand only in a reason."""
    if event.kind == Kind.REBALANCE_STARTED:
        reason = read_coordinator_reason(event.reason)
        if reason.act == "joined":
            yield from ((m, reason.instance_id) for m in reason.members)
    elif event.member_id:
        yield event.member_id, option_value(event.instance_id)


def dropped(event: Event) -> Iterator[tuple[str, Change]]:
    """The members that an event drops without a line of their own, and how they went."""
    if event.kind == Kind.MEMBERS_NOT_REJOINED:
        yield from ((m, Change.NOT_REJOINED) for m in split_members(event.members or ""))
    elif event.kind == Kind.REBALANCE_STARTED:
        reason = read_coordinator_reason(event.reason)
        if reason.act == "sync_expired":
            yield from ((m, Change.NOT_SYNCED) for m in reason.members)
