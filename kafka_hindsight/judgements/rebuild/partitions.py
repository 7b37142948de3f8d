"""The judgement of partitions, a block of one topic at a time, and that of one reading of all partitions.

A verdict on a partition needs only the rows of the partition and the few rows about its topic as a whole: its settings
and its deletions, which every block gets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.brokers.settings_at import SETTING_KINDS
from kafka_hindsight.judgements.partitions.incarnations import ABOUT_PARTITIONS, incarnations_of
from kafka_hindsight.judgements.partitions.leaders.failovers import rebuild_leaders
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_imbalance
from kafka_hindsight.judgements.partitions.partition_readings import STATE, readings_by_partition
from kafka_hindsight.judgements.partitions.replicas.isr import rebuild_isr_changes
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import count_out_of_sync, shrink_spans
from kafka_hindsight.judgements.partitions.replicas.replica_states import bound_shrinks, histories_of, rebuild_risks
from kafka_hindsight.judgements.partitions.replicas.truncations import rebuild_truncations
from kafka_hindsight.judgements.partitions.unavailability import rebuild_unavailability
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.brokers import FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.events import EVENTS, SETTINGS_READ
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, lake_table, narrowed, union, where_among
from kafka_hindsight.shared.arrow_tables import distinct, repeated, with_columns

BLOCK = 25
"""The number of partitions that are judged together. Our choice: no topic has more lines than `__consumer_offsets`,
which is two blocks."""

LEADER_KINDS = frozenset({*ABOUT_PARTITIONS, *SETTING_KINDS, Kind.TOPIC_DELETED})

Blocks = Mapping[str, Sequence[int]]
"""The blocks of each topic that has more than the first."""

_LISTS = {"snapshot_at": "snapshot_ats", "snapshot_id": "snapshot_ids", "end_offset": "end_offsets"}
"""The columns in which readings of one state differ, and the lists that hold them."""


def block_of(partitions: pa.ChunkedArray) -> pa.ChunkedArray:
    """The block that each partition belongs to; null for a row about a whole topic."""
    return pc.divide(partitions, pa.scalar(BLOCK, pa.int32()))


def later_blocks(rows: pa.Table) -> pa.Table:
    """The blocks after the first in which partitions lie: topic, block; each once. Most topics have none."""
    blocks = pa.Table.from_pydict({"topic": rows["topic"], "block": block_of(rows["partition"])})
    return distinct(blocks.filter(pc.greater(blocks["block"], 0)))


def find_blocks(of_events: pa.Table, of_readings: pa.Table) -> Blocks:
    """The blocks of topics that have more than one."""
    blocks = defaultdict[str, set[int]](lambda: {0})
    for row in (*of_events.to_pylist(), *of_readings.to_pylist()):
        blocks[row["topic"]].add(row["block"])
    return {topic: sorted(numbers) for topic, numbers in blocks.items()}


BLOCKS = Judgement(
    "blocks",
    (find_blocks,),
    (),
    {
        "of_events": narrowed(later_blocks, EVENTS, again=distinct),
        "of_readings": narrowed(later_blocks, lake_table("bronze.partition_snapshots"), again=distinct),
    },
)
"""The topics with more than one block: few rows."""


def about_partitions(events: pa.Table, blocks: Blocks) -> pa.Table:
    """Keep the events that name a topic, each with its block; those about a topic as a whole in each of its blocks."""
    about = events.filter(pc.is_valid(events["topic"]))
    places = zip(about["topic"].to_pylist(), block_of(about["partition"]).to_pylist(), strict=True)
    of_rows = [blocks.get(topic, (0,)) if block is None else (block,) for topic, block in places]
    numbers = pa.array([block for blocks_of_row in of_rows for block in blocks_of_row], pa.int32())
    return with_columns(repeated(about, [len(blocks_of_row) for blocks_of_row in of_rows]), block=numbers)


def partition_states(readings: pa.Table) -> pa.Table:
    """The states of partitions, each with the readings that show it, in order: internal.partition_states, block."""
    ordered = with_columns(readings, end_offset=pc.fill_null(readings["end_offset"], -1)).sort_by(
        [("snapshot_at", "ascending"), ("snapshot_id", "ascending")]
    )
    words = {
        f"{name} as text": pc.binary_join(ordered[name].cast(pa.list_(pa.string())), ",")
        for name in ("replicas", "isr")
    }
    ordered = with_columns(ordered, **words, rank=pa.array(np.arange(ordered.num_rows)))
    by = [f"{name} as text" if f"{name} as text" in words else name for name in STATE]
    lists = [("rank", "min"), *((name, "list") for name in _LISTS)]
    groups = ordered.group_by(by, use_threads=False).aggregate(lists)
    states = ordered.select(STATE).take(groups["rank_min"])
    return with_columns(
        states,
        block=block_of(states["partition"]),
        **{plural: groups[f"{name}_list"] for name, plural in _LISTS.items()},
    )


def states_together(states: pa.Table) -> pa.Table:
    """Each state once, with the readings of all parts that show it."""
    counts = pc.list_value_length(states["snapshot_ats"]).to_pylist()
    readings = repeated(states.select(STATE), counts)
    return partition_states(
        with_columns(readings, **{name: pc.list_flatten(states[plural]) for name, plural in _LISTS.items()})
    )


def commits_beyond_end(offsets: pa.Table) -> pa.Table:
    """Keep committed offsets above the end of their log: the log was cut, or read before the commit."""
    beyond = offsets.filter(pc.greater(offsets["committed_offset"], pc.fill_null(offsets["end_offset"], -1)))
    return with_columns(beyond, block=block_of(beyond["partition"]))


@dataclass(frozen=True)
class PartitionHistory:
    """The leaders, in-sync replicas, truncations and risks of the partitions of a block."""

    failovers: list[rows.Failover]
    leadership_gaps: list[rows.LeadershipGap]
    leader_spans: list[rows.LeaderSpan]
    truncations: list[rows.Truncation]
    isr_changes: list[rows.IsrChange]
    isr_spans: list[rows.IsrSpan]
    risks: list[rows.PartitionRisk]
    unavailability: list[rows.Unavailability]


def judge_partitions(
    events: list[rows.Event],
    states: list[rows.PartitionState],
    commits: list[rows.OffsetSnapshot],
    scope: Scope,
    facts: WindowFacts,
) -> PartitionHistory:
    """The history of a block of one topic's partitions: each depends on its own rows and those of the whole topic."""
    context, window, logs_end = facts.context, scope.wide_window, facts.groups.observed_to
    readings = readings_by_partition(states, commits)
    incarnations = incarnations_of(events, readings, context.controller_epochs, facts.groups.topic_changes)
    leaders = rebuild_leaders(incarnations, context, window)
    settings = facts.settings.with_topics(events)
    histories = histories_of(incarnations, leaders.leaders, leaders.leaderless, settings, logs_end, context)
    changes = bound_shrinks(rebuild_isr_changes(incarnations, context, window), histories, logs_end)
    return PartitionHistory(
        leaders.failovers,
        leaders.gaps,
        leaders.spans,
        rebuild_truncations(incarnations, leaders.failovers, window),
        changes,
        shrink_spans(changes),
        rebuild_risks(histories, leaders.failovers, logs_end, scope.window, context.read_times),
        rebuild_unavailability(
            histories, facts.groups.outages, changes, logs_end, window, context.clocks, context.read_times
        ),
    )


PARTITIONS = Judgement(
    "partitions",
    (judge_partitions,),
    ("cluster", "topic", "block"),
    {
        "events": each(
            about_partitions, union(where_among("kind", LEADER_KINDS, EVENTS), SETTINGS_READ.output("settings"))
        ),
        "states": narrowed(partition_states, lake_table("bronze.partition_snapshots"), again=states_together),
        "commits": each(commits_beyond_end, lake_table("bronze.offset_snapshots")),
    },
    needs=(BLOCKS, FACTS),
)


@dataclass(frozen=True)
class ReadingTables:
    """The imbalance of leaders and the replicas out of sync in one reading."""

    imbalance: list[rows.LeaderImbalance]
    out_of_sync: list[rows.OutOfSyncCount]


def judge_readings(partitions: list[rows.PartitionSnapshot], brokers: list[rows.BrokerSnapshot]) -> ReadingTables:
    """Judge which leaders of one reading are not the preferred ones, and which replicas are not in sync."""
    return ReadingTables(rebuild_imbalance(partitions, brokers), count_out_of_sync(partitions))


READINGS = Judgement(
    "readings",
    (judge_readings,),
    ("cluster", "snapshot_id"),
    {
        "partitions": lake_table("bronze.partition_snapshots", span="window"),
        "brokers": lake_table("bronze.broker_snapshots", span="window"),
    },
)
