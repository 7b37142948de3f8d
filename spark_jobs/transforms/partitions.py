"""Events of many topics, taken apart into the lives of single partitions."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import dropwhile

from spark_jobs.transforms.controllers import Term, speaks_for_cluster
from spark_jobs.transforms.windows import Row, in_order

Partition = tuple[str, str, int]

_TOLD_BY_EVERY_CONTROLLER = ("partition_created", "unclean_partition_change", "topic_deleted")
"""Kinds that standby controllers print too, and that every controller prints again when it starts."""


def lives_of(events: Iterable[Row], kinds: Collection[str], terms: Sequence[Term]) -> dict[Partition, list[list[Row]]]:
    """Each partition's events of the given kinds, in order, cut where its topic was deleted.

    Odd: epochs begin again at 0 in a topic that comes back under its old name. Where that happened, what a standby
    controller repeats is left out: it may speak of the former life.
    """
    told = in_order(e for e in events if e["topic"] is not None)
    deleted = deletions_of(told, terms)
    lines = (e for e in told if e["partition"] is not None and e["kind"] in kinds)
    return {key: _cut(some, deleted[key[:2]], terms) for key, some in sorted(by_partition(lines).items())}


def by_partition(rows: Iterable[Row], time: str | None = None) -> defaultdict[Partition, list[Row]]:
    """Rows by their partition, each partition's in order of an instant where one is named."""
    found: defaultdict[Partition, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda r: r[time]) if time else rows:
        found[row["cluster"], row["topic"], row["partition"]].append(row)
    return found


def deletions_of(events: Iterable[Row], terms: Sequence[Term]) -> defaultdict[tuple[str, str], list[datetime]]:
    """When each topic was deleted, by cluster and topic, in order, as the active controller tells it."""
    found: defaultdict[tuple[str, str], list[datetime]] = defaultdict(list)
    for event in events:
        if event["kind"] == "topic_deleted" and speaks_for_cluster(terms, event):
            insort(found[event["cluster"], event["topic"]], event["happened_at"])
    return found


def _cut(events: list[Row], deleted: list[datetime], terms: Sequence[Term]) -> list[list[Row]]:
    if not deleted or events[-1]["happened_at"] < deleted[0]:
        return [events]
    lives: dict[int, list[Row]] = defaultdict(list)
    for event in events:
        if event["kind"] not in _TOLD_BY_EVERY_CONTROLLER or speaks_for_cluster(terms, event):
            lives[bisect_right(deleted, event["happened_at"])].append(event)
    return [life for i in sorted(lives) if (life := _from_creation(lives[i]) if i else lives[i])]


def _from_creation(events: list[Row]) -> list[Row]:
    """A life from its creation on: what stands between a deletion and that still belongs to the deletion."""
    return list(dropwhile(lambda e: e["kind"] != "partition_created" and e["leader_epoch"] != 0, events))
