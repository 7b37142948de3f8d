"""What Spark hands a judgement: the rows of each input as they were, whatever other inputs there are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from pyspark.sql import SparkSession

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, BrokerSnapshot, PartitionSnapshot, Quote
from kafka_hindsight.spark.apply import Judgement, apply_by_key, collect_rows, select_output
from kafka_hindsight.spark.conform import frame_of
from tests.support.rows import AT, row


@dataclass(frozen=True)
class Given:
    """What the judgement was given."""

    partitions: list[PartitionSnapshot]
    brokers: list[BrokerSnapshot]
    outages: list[BrokerOutage]


def give_back(outages: list[BrokerOutage], brokers: list[BrokerSnapshot], partitions: list[PartitionSnapshot]) -> Given:
    return Given(partitions, brokers, outages)


def test_inputs_share_columns_and_each_gets_its_own_back(spark: SparkSession) -> None:
    quote = Quote(line_id="1", source="a log", happened_at=AT, text="a line")
    given = {
        "partitions": [
            row(PARTITION_SNAPSHOTS, cluster="c", snapshot_id="s", snapshot_at=AT, topic="t", partition=n, isr=isr)
            for n, isr in enumerate(([1, None], [], None))
        ],
        "brokers": [row(BROKER_SNAPSHOTS, cluster="c", snapshot_id="s", snapshot_at=AT, broker=1, host="h", rack=None)],
        "outages": [
            row(BROKER_OUTAGES, cluster="c", outage_id=i, broker=1, down_at=AT, up_at=AT + n * timedelta(days=1))
            for n, i in enumerate("ab")
        ],
    }
    given["outages"] += [row(BROKER_OUTAGES, cluster="other", outage_id="c", broker=2, down_at=AT, evidence=[quote])]
    tables = {"partitions": PARTITION_SNAPSHOTS, "brokers": BROKER_SNAPSHOTS, "outages": BROKER_OUTAGES}
    frames = {name: frame_of(spark, [r.as_dict() for r in given[name]], table) for name, table in tables.items()}
    judged = apply_by_key(Judgement("same", give_back, ("cluster",)), frames, {}).cache()
    for name, rows in given.items():
        found = collect_rows(select_output(judged, name), type(rows[0]))
        assert sorted(map(repr, found)) == sorted(map(repr, rows))
