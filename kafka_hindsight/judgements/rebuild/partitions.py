"""The judgement of partitions, a block of one topic at a time."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.partitions.leaders.failovers import rebuild_leaders
from kafka_hindsight.judgements.partitions.partition_readings import TopicReadings
from kafka_hindsight.judgements.partitions.replicas.isr import rebuild_isr_changes
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import spans_of
from kafka_hindsight.judgements.partitions.replicas.replica_states import histories_of, rebuild_risks
from kafka_hindsight.judgements.partitions.replicas.truncations import rebuild_truncations
from kafka_hindsight.judgements.partitions.unavailability import rebuild_unavailability
from kafka_hindsight.judgements.rebuild.brokers import FACTS
from kafka_hindsight.judgements.rebuild.metadata import EVENTS
from kafka_hindsight.judgements.rebuild.partition_rows import (
    BLOCKS,
    about_partitions,
    commits_beyond_end,
    partition_states,
    states_together,
)
from kafka_hindsight.judgements.rebuild.scope import Scope, WindowFacts
from kafka_hindsight.judgements.rebuild.settings import SETTINGS_READ
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, narrowed, table, union


@dataclass(frozen=True)
class PartitionHistory:
    """The leaders, in-sync replicas, truncations and risks of the partitions of a block."""

    failovers: list[rows.Failover]
    leadership_gaps: list[rows.LeadershipGap]
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
    readings = TopicReadings(states, commits)
    changes = rebuild_isr_changes(events, readings, facts.context, scope.wide_window)
    leaders = rebuild_leaders(events, readings, facts.context, scope.wide_window)
    settings = facts.settings.with_topics(events)
    histories = histories_of(
        events, readings, leaders.leaders, leaders.leaderless, settings, facts.context, facts.observed_to
    )
    return PartitionHistory(
        leaders.failovers,
        leaders.gaps,
        rebuild_truncations(events, readings, leaders.failovers, facts.context.controller_epochs, scope.wide_window),
        changes,
        spans_of(changes),
        rebuild_risks(histories, leaders.failovers, facts.observed_to, scope.window),
        rebuild_unavailability(histories, facts.outages, changes, facts.observed_to, scope.wide_window),
    )


PARTITIONS = Judgement(
    "partitions",
    judge_partitions,
    ("cluster", "topic", "block"),
    {
        "events": each(about_partitions, union(EVENTS, SETTINGS_READ.output("settings"))),
        "states": narrowed(partition_states, table("bronze.partition_snapshots"), again=states_together),
        "commits": each(commits_beyond_end, table("bronze.offset_snapshots")),
    },
    needs=(BLOCKS, FACTS),
)
