"""Generations that members or records name and that the coordinator's lines do not show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.rebalances.model import Gap
from kafka_hindsight.judgements.rebalances.records import REACHED, STORED
from kafka_hindsight.knowledge.kinds import Kind

_NAMES_GENERATION = (
    Kind.CLIENT_JOINED,
    Kind.CLIENT_SYNCED,
    Kind.CLIENT_ASSIGNMENT_FINISHED,
    Kind.CLIENT_STATE_CHANGED,
    Kind.CLIENT_REVOKED,
    STORED,
    REACHED,
)
"""Members learn of a generation, or an epoch, after the group has reached it; what is stored has been reached."""


def find_generation_gaps(events: Sequence[Event], observed_to: datetime) -> list[Gap]:
    """The break at the end of a group's history, where no line of the coordinator follows that would show it.

    Takes: the group's events in order; `observed_to`, the end of the brokers' lines: what members saw later proves
    nothing. Gives: at most one, up to the highest generation that an event names.
    """
    last = max((e.generation for e in events if e.origin == Origin.BROKER and e.generation is not None), default=None)
    if last is None:
        return []
    beyond = [
        (e.generation, e)
        for e in events
        if e.kind in _NAMES_GENERATION and (e.generation or 0) > last and e.happened_at <= observed_to
    ]
    latest = max(beyond, key=lambda found: found[0] or 0, default=None)  # the first line that names it
    return [] if latest is None else [Gap(last, latest[0] or 0, latest[1].happened_at, None, latest[1])]
