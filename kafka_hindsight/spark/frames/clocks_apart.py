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
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import CLOCK_SKEW

_QUARTER = 15 * 60
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


def distances(events: DataFrame) -> DataFrame:
    """What two brokers wrote about the same leader epochs: a row for each distance, as `Distance` has it."""
    told = events.where(F.col("kind").isin("leader_started", "follower_started") & F.col("broker").isNotNull())
    first = told.groupBy(*_EPOCH, "kind", "broker").agg(F.min("happened_at").alias("at"))
    leads = F.collect_list(F.when(F.col("kind") == "leader_started", F.struct("broker", "at")))
    follows = F.collect_list(F.when(F.col("kind") == "follower_started", F.struct("broker", "at")))
    epochs = first.groupBy(*_EPOCH).agg(leads.alias("leads"), follows.alias("follows")).where(F.size("leads") == 1)
    pairs = epochs.select(F.col("leads")[0].alias("lead"), F.explode("follows").alias("follow"))
    seconds = F.unix_millis("follow.at") / 1_000 - F.unix_millis("lead.at") / 1_000
    quarters = F.round(seconds / _QUARTER).cast("int")
    minute = F.date_trunc("minute", "lead.at")
    is_early = seconds.between(-_NEAR, -CLOCK_SKEW.total_seconds())
    return (
        pairs.where(F.col("lead.broker") != F.col("follow.broker"))
        .groupBy(
            F.col("lead.broker").alias("leader"),
            F.col("follow.broker").alias("follower"),
            F.when(F.abs(seconds - quarters * _QUARTER) <= _NEAR, quarters).alias("quarters"),
        )
        .agg(
            F.count(F.lit(1)).alias("facts"),
            F.countDistinct(minute).alias("acts"),
            F.count_if(is_early).alias("early"),
            F.collect_set(F.when(is_early, minute)).alias("early_in"),
            F.median(F.when(is_early, -seconds)).alias("early_by"),
            F.max(F.when(is_early, -seconds)).alias("early_most"),
        )
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
