"""The judgement of partitions, a block of one topic at a time."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.catalog import rows
from spark_jobs.transforms.judgement import Judgement, made, table
from spark_jobs.transforms.judgements import partition_blocks as blocks
from spark_jobs.transforms.judgements.brokers import FACTS
from spark_jobs.transforms.judgements.shared_sources import EVENTS, SETTINGS
from spark_jobs.transforms.leaders.failovers import rebuild_leaders
from spark_jobs.transforms.partition_readings import TopicReadings
from spark_jobs.transforms.replicas.isr import rebuild_isr_changes
from spark_jobs.transforms.replicas.out_of_sync_periods import spans_of
from spark_jobs.transforms.replicas.risks import rebuild_risks
from spark_jobs.transforms.replicas.truncations import rebuild_truncations
from spark_jobs.transforms.scope import Scope, WindowFacts


@dataclass(frozen=True)
class PartitionHistory:
    """Who led the partitions of a block, who was in sync, who cut its log, and what each partition risked."""

    failovers: list[rows.Failover]
    leadership_gaps: list[rows.LeadershipGap]
    truncations: list[rows.Truncation]
    isr_changes: list[rows.IsrChange]
    isr_spans: list[rows.IsrSpan]
    risks: list[rows.PartitionRisk]


def judge_partitions(
    events: list[rows.Event],
    states: list[rows.PartitionState],
    commits: list[rows.OffsetSnapshot],
    scope: Scope,
    facts: WindowFacts,
) -> PartitionHistory:
    """The history of a block of one topic's partitions: each rests on its own rows and on those of the whole topic."""
    readings = TopicReadings(states, commits)
    changes = rebuild_isr_changes(events, readings, facts.context, scope.seen)
    leaders = rebuild_leaders(events, readings, facts.context, scope.seen)
    settings = facts.settings.with_topics(events)
    return PartitionHistory(
        leaders.failovers,
        leaders.gaps,
        rebuild_truncations(events, readings, leaders.failovers, facts.context.controller_epochs, scope.seen),
        changes,
        spans_of(changes),
        rebuild_risks(events, readings, leaders.failovers, settings, facts.context, facts.observed_to, scope.window),
    )


PARTITIONS = Judgement(
    "partitions",
    judge_partitions,
    ("cluster", "topic", "block"),
    {
        "events": made(blocks.about_partitions, EVENTS, SETTINGS),
        "states": made(blocks.partition_states, table("bronze.partition_snapshots")),
        "commits": made(blocks.commits_beyond_end, table("bronze.offset_snapshots")),
    },
    needs=(FACTS,),
)
