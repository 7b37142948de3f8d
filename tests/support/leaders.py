"""Whether failovers form a chain, and where they do not."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

from spark_jobs.transforms.brokers.outages import rebuild_outages
from spark_jobs.transforms.cluster import context_of
from spark_jobs.transforms.leaders.failovers import LeaderHistory, rebuild_leaders
from spark_jobs.transforms.windows import Window

Row = dict[str, Any]


def leaders(found: list[Row], readings: list[Row], window: Window) -> LeaderHistory:
    """The leaders that these events and readings tell of."""
    return rebuild_leaders(found, readings, context_of(found, rebuild_outages(found, [], window)), window)


def unmarked_breaks(history: LeaderHistory) -> list[tuple[Row, Row | None]]:
    """Each failover that does not follow the one before it, or skips an epoch, and that no row marks."""
    marks = {(*_place(g), g["next_epoch"]) for g in history.gaps}
    chains: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for f in history.failovers:
        chains[_place(f)].append(f)
    broken: list[tuple[Row, Row | None]] = []
    for place, chain in chains.items():
        broken += [
            (f, None) for f in chain if f["epoch_to"] != f["epoch_from"] + 1 and (*place, f["epoch_to"]) not in marks
        ]
        for before, after in pairwise(chain):
            follows = before["leader_to"] == after["leader_from"] or (*place, after["epoch_from"]) in marks
            in_order = before["epoch_to"] <= after["epoch_from"] and before["happened_at"] <= after["happened_at"]
            broken += [] if follows and in_order else [(before, after)]
    return broken


def _place(row: Row) -> tuple[Any, ...]:
    return row["topic"], row["partition"], row["topic_incarnation"]
