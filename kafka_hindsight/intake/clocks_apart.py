"""Clocks of brokers that differ: shown by leader epochs that two brokers both wrote about.

A leader and its followers say within the second that a leader epoch began. Where what two brokers say lies whole
quarters of an hour apart, again and again, they run in different zones. A follower that starts may be late by any time,
and none is early: where followers name epochs seconds before their leader does, again and again, its clock is ahead.
A log whose times go back by seconds shows that its clock was set back. Nothing is reordered, and no zone is guessed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import product
from statistics import median
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.engine.work import Engine, narrowed
from kafka_hindsight.lake.arrow_types import INSTANT
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import CLOCK_SKEW
from kafka_hindsight.shared.instants import of_micros

_QUARTER = 15 * 60
_MINUTE = 60_000_000
"""Microseconds of a minute."""

_NEAR = 60
"""Seconds by which what a leader and a follower say may differ from whole quarters."""

_FACTS, _ACTS = 5, 3
"""Leader epochs, and minutes in which they began, that are more than a broker that was away once."""

_EARLY_ACTS = 2
"""Minutes in which a leader was later than its followers: one that stood still when it was elected is so once."""

_SHARE = 0.9
_SHOWN = 3
_EPOCH = ("topic", "partition", "leader_epoch")


class Distance(NamedTuple):
    """How often a follower named a leader epoch so many quarters of an hour after its leader; null: at another time.

    `early`: how often it did so seconds before, beyond what clocks may differ by, `early_in`: in which minutes,
    `early_by`: by how many seconds, in the middle, `early_most`: at most.
    """

    leader: int
    follower: int
    quarters: int | None
    facts: int
    acts: int
    early: int = 0
    early_in: Sequence[datetime] = ()
    early_by: float | None = None
    early_most: float | None = None


class ClockError(NamedTuple):
    """By how much clocks differ, and a sentence about it."""

    by: timedelta
    sentence: str


_NAMINGS = pa.schema(
    [
        *((name, pa.string()) for name in ("topic", "kind")),
        *((name, pa.int32()) for name in ("partition", "leader_epoch", "broker")),
        ("happened_at", INSTANT),
    ]
)


def distances(engine: Engine, store: Store, part: Part) -> list[Distance]:
    """What two brokers wrote about the same leader epochs, in a part of silver.events: one for each distance."""
    epochs = defaultdict[tuple[Any, ...], tuple[dict[int, int], dict[int, int]]](lambda: ({}, {}))
    told = narrowed(engine, store, EVENTS, part, _NAMINGS.names, _namings, _NAMINGS)
    columns = (told[name].to_pylist() for name in (*_EPOCH, "kind", "broker"))
    for *epoch, kind, broker, at in zip(*columns, told["happened_at"].cast(pa.int64()).to_pylist(), strict=True):
        by_broker = epochs[tuple(epoch)][kind != "leader_started"]
        by_broker[broker] = min(at, by_broker.get(broker, at))
    pairs = defaultdict[tuple[int, int, int | None], list[tuple[float, int]]](list)
    for leads, follows in epochs.values():
        for (leader, began), (follower, at) in product(leads.items() if len(leads) == 1 else (), follows.items()):
            if leader != follower:
                seconds = at // 1_000 / 1_000 - began // 1_000 / 1_000
                pairs[leader, follower, _quarters(seconds)].append((seconds, began // _MINUTE))
    return [_distance(*pair, own) for pair, own in pairs.items()]


def _namings(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The events by which a broker names a leader epoch."""
    kinds = pa.array(["leader_started", "follower_started"])
    return (b.filter(pc.and_(pc.is_in(b["kind"], kinds), pc.is_valid(b["broker"]))) for b in batches)


def _quarters(seconds: float) -> int | None:
    quarters = int(abs(seconds) / _QUARTER + 0.5) * (1 if seconds > 0 else -1)
    return quarters if abs(seconds - quarters * _QUARTER) <= _NEAR else None


def _distance(leader: int, follower: int, quarters: int | None, told: Sequence[tuple[float, int]]) -> Distance:
    early = [(-seconds, minute) for seconds, minute in told if -_NEAR <= seconds <= -CLOCK_SKEW.total_seconds()]
    by = [seconds for seconds, _ in early]
    return Distance(
        leader,
        follower,
        quarters,
        facts=len(told),
        acts=len({minute for _, minute in told}),
        early=len(early),
        early_in=[of_micros(minute * _MINUTE) for minute in sorted({minute for _, minute in early})],
        early_by=median(by) if by else None,
        early_most=max(by, default=None),
    )


def ahead(found: Iterable[Distance]) -> list[ClockError]:
    """The brokers whose clocks are seconds ahead of others'."""
    by_leader = defaultdict[int, list[Distance]](list)
    for row in found:
        if row.early:
            by_leader[row.leader].append(row)
    return [error for leader, early in sorted(by_leader.items()) for error in _ahead(leader, early)]


def _ahead(leader: int, early: Sequence[Distance]) -> Iterator[ClockError]:
    count = sum(row.early for row in early)
    if count < _FACTS or len({minute for row in early for minute in row.early_in}) < _EARLY_ACTS:
        return
    followers = words.listed(sorted({f"broker {row.follower}" for row in early}))
    by = max(early, key=lambda row: row.early).early_by or 0
    most = timedelta(seconds=max(row.early_most or 0 for row in early))
    yield ClockError(
        most,
        f"The clock of broker {leader} seems to be {words.duration(by * 1_000)} ahead of that of {followers}, at least"
        f" for a time: {words.counted(count, 'leader epoch')} of broker {leader} began so much earlier in the logs of"
        f" its followers. Their times are kept as they were written. Verdicts allow for"
        f" {words.duration(CLOCK_SKEW.total_seconds() * 1_000)} between two brokers, so no verdict about brokers and"
        " leaders is certain, and times without a leader are given as bounds. Let all brokers keep time by NTP.",
    )


def set_back(by: Mapping[str, timedelta]) -> list[ClockError]:
    """The logs whose clock was set back by more than clocks may differ by. Takes: how far, by file."""
    if not (told := {name: far for name, far in by.items() if far > CLOCK_SKEW}):
        return []
    most = max(told.values())
    sentence = (
        f"A clock was set back by {words.duration(most)}, as the times in"
        f" {words.listed(sorted(told), _SHOWN)} show: times before or after that are wrong by as much. They are"
        " kept as they were written, so no verdict about brokers and leaders is certain, and times without a leader"
        " are given as bounds. Let all brokers keep time by NTP."
    )
    return [ClockError(most, sentence)]


def apart(found: Iterable[Distance]) -> list[ClockError]:
    """The pairs of brokers whose clocks lie whole quarters of an hour apart, the first of them by name."""
    facts, acts = defaultdict[tuple[int, int], Counter[int | None]](Counter), Counter[tuple[int, int, int | None]]()
    for row in found:
        one, other = sorted((row.leader, row.follower))
        quarters = row.quarters if row.quarters is None or row.leader == one else -row.quarters
        facts[one, other][quarters] += row.facts
        acts[one, other, quarters] += row.acts
    errors = [error for (one, other), told in sorted(facts.items()) for error in _apart(one, other, told, acts)]
    if len(errors) <= _SHOWN:
        return errors
    more = f"{len(errors) - _SHOWN} more pairs of brokers write times that lie apart so."
    return [*errors[:_SHOWN], ClockError(max(error.by for error in errors), more)]


def _apart(
    one: int, other: int, told: Counter[int | None], acts: Counter[tuple[int, int, int | None]]
) -> Iterator[ClockError]:
    (quarters, count), total = told.most_common(1)[0], told.total()
    if not quarters or count < max(_FACTS, _SHARE * total) or acts[one, other, quarters] < _ACTS:
        return
    later, earlier = (other, one) if quarters > 0 else (one, other)
    yield ClockError(
        timedelta(seconds=abs(quarters) * _QUARTER),
        f"The clocks of brokers {one} and {other} seem to run in different zones: in the log of broker {later} "
        f"{words.number(count)} of {words.counted(total, 'leader epoch')} begin"
        f" {words.duration(abs(quarters) * _QUARTER * 1_000)} later than in that of broker {earlier}. Their times are "
        "kept as they were written, so what spans both is wrong by as much. Needed: clocks of one zone, or a date with "
        "its zone in the layout. Compare TZ of both brokers with LOGS_TZ.",
    )
