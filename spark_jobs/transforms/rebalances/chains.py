"""Rebalances that restart one another: each row names the one that it began anew."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from spark_jobs.transforms.rebalances.delays import HEARTBEAT_MS

IN_USE = timedelta(milliseconds=HEARTBEAT_MS)
"""A generation that is given up before its members have sent one heartbeat in it was of no use.
Source: heartbeat.interval.ms, default 3 s; a stable member hears of the next rebalance with its heartbeat."""


def link(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of one group in order of start, each with `follows`: the id of the rebalance that it restarted.

    Gives: null where the one before was done and in use. Keeps: a chain never leaves its group, and never forks.
    Odd: a cooperative follow-up restarts nothing: it is the second half. Epochs of KIP-848 overlap, and none waits
    for the one before.
    """
    first = [{**row, "follows": None} for row in rows[:1]]
    return first + [
        {**row, "follows": before["rebalance_id"] if _restarts(before, row) else None}
        for before, row in itertools.pairwise(rows)
    ]


def _restarts(before: dict[str, Any], row: dict[str, Any]) -> bool:
    if {before["protocol"], row["protocol"]} != {"classic"} or row["cause"] == "cooperative_followup":
        return False
    if before["outcome"] == "interrupted":
        return True
    return bool(before["outcome"] == "completed" and row["started_at"] - before["ended_at"] < IN_USE)
