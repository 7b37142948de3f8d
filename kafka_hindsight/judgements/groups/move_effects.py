"""The effect of each move of a coordinator on its group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest

from kafka_hindsight.catalog.codes import MoveEffect
from kafka_hindsight.catalog.rows import CoordinatorMove, Rebalance
from kafka_hindsight.judgements.groups.move_rulings import MOVE_RULINGS, Moved
from kafka_hindsight.judgements.groups.outage_attribution import BROKER_INDUCED_CAUSES
from kafka_hindsight.judgements.reasoning.rulings import decide
from kafka_hindsight.judgements.reasoning.timelines import Timeline, timelines
from kafka_hindsight.shared.durations import COORDINATOR_LOADING, OUTAGE_SHADOW

Begun = Mapping[int | None, Timeline[Rebalance]]


def add_effects(
    moves: Iterable[CoordinatorMove], rebalances: Iterable[Rebalance], observed_to: datetime
) -> list[CoordinatorMove]:
    """Rows of gold.coordinator_moves of one group with the effect of each move.

    Takes: rows of gold.coordinator_moves and gold.rebalances of one group; until when brokers' lines reach.
    Gives: `effect` by MOVE_RULINGS, with the rebalance that shows it. Of several moves the last one before a rebalance
    began it.
    """
    ordered = sorted(moves, key=lambda m: m.moved_at)
    begun = _by_coordinator(sorted(rebalances, key=lambda r: r.rebalance_id))
    induced = _by_coordinator(r for rows in begun.values() for r in rows if r.cause in BROKER_INDUCED_CAUSES)
    return [
        _with_effect(move, following.moved_at if following else None, begun, induced, observed_to)
        for move, following in zip_longest(ordered, ordered[1:])
    ]


def _by_coordinator(rebalances: Iterable[Rebalance]) -> Begun:
    return timelines(rebalances, lambda r: r.coordinator, lambda r: r.started_at)


def _with_effect(
    move: CoordinatorMove, next_at: datetime | None, begun: Begun, induced: Begun, observed_to: datetime
) -> CoordinatorMove:
    at, none = move.moved_at, Timeline[Rebalance]((), at=lambda r: r.started_at)
    until = min(next_at or at + OUTAGE_SHADOW, at + OUTAGE_SHADOW)
    before = begun.get(move.broker_from, none).last_before(at)
    after: Sequence[Rebalance] = induced.get(move.broker_to, none).between(at - COORDINATOR_LOADING, until)
    verdict = decide(MOVE_RULINGS, Moved(move, until, observed_to, before, after[0] if after else None))
    if verdict is None:
        return replace(move, effect=None, rebalance_id=None)
    return replace(move, effect=MoveEffect(verdict.code), rebalance_id=verdict.facts.get("rebalance_id"))
