"""Clocks of brokers that run in different zones: shown by leader epochs that two brokers both wrote about.

A leader and its followers say within the second that a leader epoch began. Where what two brokers say lies whole
quarters of an hour apart, again and again, their clocks do. Nothing is reordered, and no zone is guessed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.shared import words

_QUARTER = 15 * 60
_NEAR = 60
"""Seconds by which what a leader and a follower say may differ from whole quarters."""

_FACTS, _ACTS = 5, 3
"""Leader epochs, and minutes in which they began, that are more than a broker that was away once."""

_SHARE = 0.9
_SHOWN = 3
_EPOCH = ("topic", "partition", "leader_epoch")


class Distance(NamedTuple):
    """How often a follower named a leader epoch so many quarters of an hour after its leader; null: at another time."""

    leader: int
    follower: int
    quarters: int | None
    facts: int
    acts: int


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
    return (
        pairs.where(F.col("lead.broker") != F.col("follow.broker"))
        .groupBy(
            F.col("lead.broker").alias("leader"),
            F.col("follow.broker").alias("follower"),
            F.when(F.abs(seconds - quarters * _QUARTER) <= _NEAR, quarters).alias("quarters"),
        )
        .agg(F.count(F.lit(1)).alias("facts"), F.countDistinct(F.date_trunc("minute", "lead.at")).alias("acts"))
    )


def apart(found: Iterable[Distance]) -> list[str]:
    """A sentence about each two brokers whose clocks lie whole quarters of an hour apart."""
    facts, acts = defaultdict[tuple[int, int], Counter[int | None]](Counter), Counter[tuple[int, int, int | None]]()
    for row in found:
        one, other = sorted((row.leader, row.follower))
        quarters = row.quarters if row.quarters is None or row.leader == one else -row.quarters
        facts[one, other][quarters] += row.facts
        acts[one, other, quarters] += row.acts
    sentences = [said for (one, other), told in sorted(facts.items()) for said in _apart(one, other, told, acts)]
    more = [f"{len(sentences) - _SHOWN} more pairs of brokers write times that lie apart so."]
    return sentences[:_SHOWN] + (more if len(sentences) > _SHOWN else [])


def _apart(
    one: int, other: int, told: Counter[int | None], acts: Counter[tuple[int, int, int | None]]
) -> Iterator[str]:
    (quarters, count), total = told.most_common(1)[0], told.total()
    if not quarters or count < max(_FACTS, _SHARE * total) or acts[one, other, quarters] < _ACTS:
        return
    later, earlier = (other, one) if quarters > 0 else (one, other)
    yield (
        f"The clocks of brokers {one} and {other} seem to run in different zones: in the log of broker {later} "
        f"{words.number(count)} of {words.counted(total, 'leader epoch')} begin"
        f" {words.duration(abs(quarters) * _QUARTER * 1_000)} later than in that of broker {earlier}. Their times are "
        "kept as they were written, so what spans both is wrong by as much. Needed: clocks of one zone, or a date with "
        "its zone in the layout. Compare TZ of both brokers with LOGS_TZ."
    )
