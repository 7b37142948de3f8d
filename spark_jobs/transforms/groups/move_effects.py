"""What the move of a coordinator did to its group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest

from spark_jobs.transforms.groups.outage_attribution import BROKER_INDUCED_CAUSES, OUTAGE_SHADOW
from spark_jobs.transforms.windows import OutRow, Row

_LOADING = timedelta(seconds=30)
"""A new coordinator may begin a rebalance while it still loads the group."""


def add_effects(moves: Iterable[Row], rebalances: Iterable[Row], observed_to: datetime) -> list[OutRow]:
    """Rows of gold.coordinator_moves of one group with what each move did to it.

    Takes: rows of gold.coordinator_moves and gold.rebalances of one group; until when brokers' lines reach.
    Gives: `cut_short` and the rebalance that the former coordinator could not finish; `rebalanced` and the one that the
    new coordinator began for a reason that brokers account for; `none` where nothing followed before a session could
    run out or the group moved on: of several moves the last one before a rebalance is behind it; null where the lines
    end before that.
    """
    ordered = sorted(moves, key=lambda m: m.moved_at)
    begun = sorted(rebalances, key=lambda r: (r.started_at, r.rebalance_id))
    return [
        {**move, **_effect(move, following.moved_at if following else None, begun, observed_to)}
        for move, following in zip_longest(ordered, ordered[1:])
    ]


def _effect(move: Row, next_at: datetime | None, rebalances: Sequence[Row], observed_to: datetime) -> OutRow:
    at = move.moved_at
    before = [r for r in rebalances if r.started_at < at and r.coordinator == move.broker_from]
    if before and _is_cut_short(before[-1], at):
        return {"effect": "cut_short", "rebalance_id": before[-1].rebalance_id}
    until = min(next_at or at + OUTAGE_SHADOW, at + OUTAGE_SHADOW)
    after = (
        r
        for r in rebalances
        if at - _LOADING <= r.started_at <= until
        and r.coordinator == move.broker_to
        and r.cause in BROKER_INDUCED_CAUSES
    )
    followed = next(after, None)
    if followed:
        return {"effect": "rebalanced", "rebalance_id": followed.rebalance_id}
    return {"effect": "none" if until <= observed_to else None, "rebalance_id": None}


def _is_cut_short(last: Row, moved_at: datetime) -> bool:
    """Whether the former coordinator's last rebalance was still under way: it ended with the move or after it."""
    is_open = last.outcome in ("interrupted", "unfinished")
    return is_open and (last.ended_at is None or last.ended_at >= moved_at - _LOADING)
