"""The rows of a topic in blocks of partitions, as the judgement of partitions gets them."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.rows import Event, PartitionState
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.engine.reduce import narrow
from kafka_hindsight.judgements.rebuild.partitions import (
    BLOCK,
    PARTITIONS,
    find_blocks,
    later_blocks,
    partition_states,
)
from kafka_hindsight.shared.arrow_rows import rows_of
from tests.support.partitions import states_of
from tests.support.rows import AT, as_table, row

NAMES = ("orders", 'a "b"\\n', "{}")


def line(topic: str, kind: str, partition: int | None = None) -> Event:
    made: Event = row(EVENTS, topic=topic, partition=partition, kind=kind, origin="broker", happened_at=AT)
    return made


def test_line_about_a_topic_is_in_each_block_of_its_partitions() -> None:
    lines = [line(name, "topic_deleted") for name in NAMES]
    lines += [line("orders", "leader_started", p) for p in (0, BLOCK - 1, BLOCK, 4 * BLOCK)]
    lines += [line(NAMES[1], "leader_started", 2 * BLOCK)]
    events = as_table(lines, EVENTS)
    settings = as_table([line(name, "topic_configured") for name in NAMES], EVENTS)
    readings = [row(PARTITION_SNAPSHOTS, topic="orders", partition=p) for p in (1, 3 * BLOCK)]
    blocks = find_blocks(later_blocks(events), later_blocks(as_table(readings, PARTITION_SNAPSHOTS)))
    (_, of_lines), *_ = PARTITIONS.reads["events"].leaves()
    kept = narrow(of_lines, pa.concat_tables([events, settings]), {"blocks": blocks}).to_pylist()
    whole = {"orders": (0, 1, 3, 4), NAMES[1]: (0, 2), NAMES[2]: (0,)}
    kinds = ("topic_configured", "topic_deleted")
    of_topic = {(topic, kind, None, n) for topic, own in whole.items() for n in own for kind in kinds}
    led = {
        ("orders", 0, 0),
        ("orders", BLOCK - 1, 0),
        ("orders", BLOCK, 1),
        ("orders", 4 * BLOCK, 4),
        (NAMES[1], 2 * BLOCK, 2),
    }
    placed = {(r["topic"], r["kind"], r["partition"], r["block"]) for r in kept}
    assert placed == of_topic | {(topic, "leader_started", partition, block) for topic, partition, block in led}


def test_partition_states_from_tables_equal_those_from_rows() -> None:
    """A partition that goes from state to state and back, with lists that look alike as text, and with none."""
    states = [(1, [1, 2]), (1, [12]), (2, [2, None]), (1, [1, 2]), (None, []), (None, None), (None, [])]
    readings = [
        row(
            PARTITION_SNAPSHOTS,
            topic="orders",
            partition=partition,
            leader=leader,
            isr=isr,
            replicas=[1, 2, 12],
            end_offset=None if n % 2 else n,
            snapshot_id=str(n),
            snapshot_at=AT + timedelta(minutes=n),
        )
        for partition in (0, BLOCK)
        for n, (leader, isr) in enumerate(states)
    ]
    states_table = partition_states(as_table(readings[::-1], PARTITION_SNAPSHOTS))
    assert sorted(map(repr, rows_of(states_table.to_batches(), PartitionState))) == sorted(
        map(repr, states_of(readings))
    )
    assert {(r["partition"], r["block"]) for r in states_table.to_pylist()} == {(0, 0), (BLOCK, 1)}
