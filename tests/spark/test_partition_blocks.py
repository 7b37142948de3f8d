"""The rows of a topic in blocks of partitions, as Spark gives them to the judgement of partitions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pyspark.sql import SparkSession

from kafka_hindsight.catalog.rows.structs import TopicBlock
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.frames.partition_blocks import BLOCK, about_partitions, later_blocks
from tests.support.rows import AT, values

NAMES = ("orders", 'a "b"\\n', "{}")


def test_a_line_about_a_whole_topic_is_in_each_of_its_blocks(spark: SparkSession) -> None:
    def line(topic: str, kind: str, partition: int | None = None) -> dict[str, Any]:
        return values(EVENTS, topic=topic, partition=partition, kind=kind, origin="broker", happened_at=AT)

    lines = [line(name, "topic_deleted") for name in NAMES]
    lines += [line("orders", "leader_started", p) for p in (0, BLOCK - 1, BLOCK, 4 * BLOCK)]
    lines += [line(NAMES[1], "leader_started", 2 * BLOCK)]
    events = frame_of(spark, lines, EVENTS)
    settings = frame_of(spark, [line(name, "topic_configured") for name in NAMES], EVENTS)
    later = {TopicBlock(**found.asDict()) for found in events.agg(later_blocks()).first()[0]}  # type: ignore[index]
    facts: Any = SimpleNamespace(later_blocks=later)
    found = {
        (r["topic"], r["kind"], r["partition"], r["block"]) for r in about_partitions(events, settings, facts).collect()
    }
    whole = {"orders": (0, 1, 4), NAMES[1]: (0, 2), NAMES[2]: (0,)}
    told = {
        (topic, kind, None, n)
        for topic, own in whole.items()
        for n in own
        for kind in ("topic_deleted", "topic_configured")
    }
    led = {
        ("orders", 0, 0),
        ("orders", BLOCK - 1, 0),
        ("orders", BLOCK, 1),
        ("orders", 4 * BLOCK, 4),
        (NAMES[1], 2 * BLOCK, 2),
    }
    assert found == told | {(topic, "leader_started", partition, block) for topic, partition, block in led}
