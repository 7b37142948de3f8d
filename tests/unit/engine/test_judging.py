"""What a judgement is handed: the rows of each input as they were, those of one key at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, REBALANCES, UNAVAILABILITY
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    BrokerSnapshot,
    PartitionSnapshot,
    Quote,
    Rebalance,
    Unavailability,
)
from kafka_hindsight.engine.reduce import in_buckets, judged_tables, narrow
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, lake_table
from kafka_hindsight.shared.arrow_rows import rows_of
from kafka_hindsight.shared.arrow_tables import with_columns
from tests.support.clocks import clocks_apart
from tests.support.nights import WHOLE
from tests.support.rows import AT, QUOTE, as_table, row

SCOPE = Scope("c", WHOLE, WHOLE)


@dataclass(frozen=True)
class Echo:
    """What the judgement was given."""

    partitions: list[PartitionSnapshot]
    brokers: list[BrokerSnapshot]
    outages: list[BrokerOutage]


def give_back(
    broker: int | None,
    cluster: str,
    outages: list[BrokerOutage],
    brokers: list[BrokerSnapshot],
    partitions: list[PartitionSnapshot],
) -> Echo:
    assert {*(o.broker for o in outages), *(b.broker for b in brokers), *(p.leader for p in partitions)} == {broker}
    assert cluster == "c", "the key has all columns"
    return Echo(partitions, brokers, outages)


def of_leader(partitions: pa.Table) -> pa.Table:
    """The partitions of each broker that leads."""
    return with_columns(partitions, broker=partitions["leader"])


SAME = Judgement(
    "same",
    (give_back,),
    ("cluster", "broker"),
    {
        "partitions": each(of_leader, lake_table("bronze.partition_snapshots")),
        "brokers": lake_table("bronze.broker_snapshots"),
        "outages": lake_table("gold.broker_outages"),
    },
)


def test_judgement_receives_rows_of_each_input_unchanged() -> None:
    quote = Quote(line_id="1", source="a log", happened_at=AT, text="a line")
    inputs = {
        "partitions": [
            row(PARTITION_SNAPSHOTS, snapshot_id="s", snapshot_at=AT, topic="t", partition=n, leader=leader, isr=isr)
            for n, (leader, isr) in enumerate([(1, [1, None]), (2, []), (1, None), (None, None)])
        ],
        "brokers": [row(BROKER_SNAPSHOTS, snapshot_id="s", snapshot_at=AT, broker=1, host="h", rack=None)],
        "outages": [
            row(BROKER_OUTAGES, outage_id=i, broker=1, down_at=AT, up_at=AT + n * timedelta(days=1))
            for n, i in enumerate("ab")
        ],
    }
    inputs["outages"] += [row(BROKER_OUTAGES, outage_id="c", broker=3, down_at=AT, evidence=[quote])]
    tables = {"partitions": PARTITION_SNAPSHOTS, "brokers": BROKER_SNAPSHOTS, "outages": BROKER_OUTAGES}
    parts = {
        name: [narrow(functions, as_table(inputs[name][n:][:1], tables[name]), {}) for n in range(len(inputs[name]))]
        for name, source in SAME.reads.items()
        for _, functions in source.leaves()
    }
    judged = judged_tables(SAME, parts, {"scope": SCOPE})
    for name, rows in inputs.items():
        output = rows_of(judged[name].to_batches(), type(rows[0]))
        assert sorted(map(repr, output)) == sorted(map(repr, rows))


def test_an_input_without_a_part_is_an_empty_list() -> None:
    outages = as_table([row(BROKER_OUTAGES, broker=1)], BROKER_OUTAGES)
    judged = judged_tables(SAME, {"outages": [outages]}, {"scope": SCOPE})
    assert {name: rows.num_rows for name, rows in judged.items()} == {"partitions": 0, "brokers": 0, "outages": 1}


@dataclass(frozen=True)
class Verdicts:
    """Verdicts that compare the clocks of brokers, and others."""

    outages: list[BrokerOutage]
    rebalances: list[Rebalance]


def give_verdicts(scope: Scope) -> Verdicts:
    own = Quote.of(QUOTE)
    elsewhere = replace(own, source="broker-2/server.log", happened_at=own.happened_at + timedelta(seconds=20))
    return Verdicts(
        [row(BROKER_OUTAGES, confidence=c, evidence=[own, elsewhere]) for c in Confidence],
        [row(REBALANCES, confidence=c, evidence=[own]) for c in Confidence],
    )


@pytest.mark.parametrize(
    ("apart", "capped"),
    [
        (timedelta(0), [*Confidence]),
        (timedelta(seconds=7), ["likely", "likely", "possible", "unknown"]),
        (timedelta(hours=1), ["possible", "possible", "possible", "unknown"]),
    ],
)
def test_differing_clocks_cap_confidence_by_length_of_what_spans_them(apart: timedelta, capped: list[str]) -> None:
    scope = Scope("c", WHOLE, WHOLE, clocks_apart(apart, 1, sources=[str(QUOTE["source"])]))
    judged = judged_tables(Judgement("verdicts", (give_verdicts,), ("cluster",)), {}, {"scope": scope})
    assert judged["outages"]["confidence"].to_pylist() == capped
    assert judged["rebalances"]["confidence"].to_pylist() == [*Confidence], "no other broker's clock is behind them"


@dataclass(frozen=True)
class Intervals:
    """Intervals in which something could not be used."""

    unavailability: list[Unavailability]


def give_open_intervals(scope: Scope) -> Intervals:
    lengths = (3_600_000, 10_800_000)
    return Intervals(
        [row(UNAVAILABILITY, confidence="certain", ended_at=None, low_ms=ms, evidence=[QUOTE]) for ms in lengths]
    )


def test_what_is_not_over_lasts_by_the_clock_that_writes_last() -> None:
    scope = Scope("c", WHOLE, WHOLE, clocks_apart(timedelta(hours=1), 1, sources=["broker-1/other.log"]))
    judged = judged_tables(Judgement("intervals", (give_open_intervals,), ("cluster",)), {}, {"scope": scope})
    assert judged["unavailability"]["confidence"].to_pylist() == ["possible", "certain"], "an hour, and three"


def test_all_rows_of_a_key_are_in_one_bucket_and_no_row_is_lost() -> None:
    keys = [(topic, block) for topic in ("a", "b\x1f", "", None, *map(str, range(40))) for block in (0, None)]
    rows: dict[str, Any] = {"topic": [k[0] for k in keys], "block": pa.array([k[1] for k in keys], pa.int32())}
    doubled = pa.concat_tables([pa.table(rows)] * 2)
    buckets = {n: [(r["topic"], r["block"]) for r in part.to_pylist()] for n, part in in_buckets(doubled, [*rows], 7)}
    assert set(buckets) == set(range(7))
    assert Counter(key for own in buckets.values() for key in own) == Counter([*keys, *keys])
    assert all(Counter(own)[key] == 2 for own in buckets.values() for key in own)
    assert [*in_buckets(doubled.slice(0, 0), [*rows], 7)] == []
