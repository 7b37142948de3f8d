"""Rebalances that restart one another: each row names the one that it restarted."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from kafka_hindsight.catalog.codes import Cause, Outcome, Protocol
from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.shared.durations import HEARTBEAT_INTERVAL


def link(rows: Sequence[Rebalance]) -> list[Rebalance]:
    """The rows of one group in order of start, each with `follows`: the id of the rebalance that it restarted.

    Gives: null where the one before was done and in use. Keeps: a chain never leaves its group, and never forks.
    Edge case: a cooperative follow-up restarts nothing: it is the second half. Epochs of KIP-848 overlap, and none
    waits for the one before.
    """
    return [
        *rows[:1],
        *(
            replace(row, follows=before.rebalance_id) if _restarts(before, row) else row
            for before, row in itertools.pairwise(rows)
        ),
    ]


def _restarts(before: Rebalance, row: Rebalance) -> bool:
    """A generation that is given up before its members have sent one heartbeat in it was of no use."""
    if {before.protocol, row.protocol} != {Protocol.CLASSIC} or row.cause == Cause.COOPERATIVE_FOLLOWUP:
        return False
    if before.outcome == Outcome.INTERRUPTED:
        return True
    is_done = before.outcome == Outcome.COMPLETED and before.ended_at is not None
    return is_done and before.ended_at is not None and row.started_at - before.ended_at < HEARTBEAT_INTERVAL
