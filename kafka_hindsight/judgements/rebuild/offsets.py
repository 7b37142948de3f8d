"""The judgement of the offsets of groups: where each went on elsewhere than where it had come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import FailoverKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.brokers.controllers import incarnations_begun
from kafka_hindsight.judgements.groups.coordinators import offsets_partition_of
from kafka_hindsight.judgements.offsets.jumps import offset_jumps
from kafka_hindsight.judgements.offsets.log_changes import LogChanges, log_changes
from kafka_hindsight.judgements.offsets.marks import OF_POSITIONS, OffsetWitnesses
from kafka_hindsight.judgements.offsets.moves import Removal
from kafka_hindsight.judgements.offsets.owner_endings import OF_SESSIONS
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.brokers import FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.events import EVENTS
from kafka_hindsight.judgements.rebuild.groups import GROUP_RECORDS, GROUPS, NAMES, with_names
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, lake_table, narrowed, where_among
from kafka_hindsight.shared.arrow_tables import FIRST, ends

_OF_LOGS = (Kind.LOG_START_MOVED, Kind.TOPIC_DELETED)
_REMOVALS = (Kind.GROUPS_DELETED, Kind.OFFSETS_DELETED, Kind.OFFSETS_EXPIRED)
_START_KEY = ("kind", "topic", "partition", "log_offset")


@dataclass(frozen=True)
class OffsetFacts:
    """The changes of the logs of a cluster, and the lines about committed offsets that were deleted."""

    logs: LogChanges
    removals: Sequence[rows.Event]


def leaders_lines(events: pa.Table) -> pa.Table:
    """Keep one line for each beginning of a log: that of the leader, which has the reason."""
    with_reason = events.filter(pc.is_valid(events["reason"]))
    parts = [ends(part, _START_KEY, ("happened_at", "source", "order"), (FIRST,)) for part in (with_reason, events)]
    return pa.concat_tables(parts)


def find_offset_facts(
    log_lines: list[rows.Event],
    removals: list[rows.Event],
    truncations: list[rows.Truncation],
    failovers: list[rows.Failover],
) -> OffsetFacts:
    """Find what became of logs and of committed offsets."""
    return OffsetFacts(log_changes(log_lines, truncations, failovers), removals)


OFFSET_FACTS = Judgement(
    "offset_facts",
    (find_offset_facts,),
    (),
    {
        "log_lines": narrowed(leaders_lines, where_among("kind", _OF_LOGS, EVENTS)),
        "removals": where_among("kind", _REMOVALS, EVENTS),
        "truncations": PARTITIONS.output("truncations"),
        "failovers": where_among("kind", (FailoverKind.UNCLEAN_ELECTION,), PARTITIONS.output("failovers")),
    },
)


@dataclass(frozen=True)
class GroupOffsets:
    """The jumps of a group's offsets."""

    jumps: list[rows.OffsetJump]


def judge_offsets(
    group_id: str,
    events: list[rows.Event],
    commits: list[rows.OffsetCommits],
    records: list[rows.GroupRecord],
    offsets: list[rows.OffsetSnapshot],
    readings: list[rows.GroupSnapshot],
    ownership: list[rows.Ownership],
    rebalances: list[rows.Rebalance],
    settings: list[rows.MemberSetting],
    scope: Scope,
    facts: WindowFacts,
    offset_facts: OffsetFacts,
) -> GroupOffsets:
    """Find where one group went on elsewhere than where it had come to."""
    witnesses = OffsetWitnesses(events, commits, records, offsets, readings, ownership)
    removals = [*_removals_of(group_id, offset_facts.removals, commits, facts.offsets_partitions)]
    begins = incarnations_begun(facts.context.controller_epochs)
    jumps = offset_jumps(
        (scope.cluster, group_id), witnesses, rebalances, offset_facts.logs, removals, settings, begins
    )
    return GroupOffsets([j for j in jumps if scope.window.holds(j.jumped_at)])


def _removals_of(
    group_id: str, events: Iterable[rows.Event], commits: Sequence[rows.OffsetCommits], partition_count: int | None
) -> Iterator[Removal]:
    """The lines about deleted offsets that may be the group's. An expiry names a partition of the topic, or nothing."""
    by_count = None if partition_count is None else offsets_partition_of(group_id, partition_count)
    own = commits[0].offsets_partition if commits else by_count
    for event in events:
        if event.kind == Kind.OFFSETS_EXPIRED:
            is_named = event.offsets_partition is not None and event.offsets_partition == own
            is_its = is_named or event.offsets_partition is None or own is None
        else:
            is_its = is_named = group_id in (event.group_id, *(event.detail or "").split(", "))
        if is_its:
            yield Removal(event.kind, event.happened_at, quote(event), is_named)


OFFSETS = Judgement(
    "offsets",
    (judge_offsets,),
    ("cluster", "group_id"),
    {
        "events": each(with_names, where_among("kind", (*OF_POSITIONS, *OF_SESSIONS), EVENTS)),
        "commits": lake_table("bronze.offset_commits"),
        "records": GROUP_RECORDS,
        "offsets": lake_table("bronze.offset_snapshots"),
        "readings": lake_table("bronze.group_snapshots"),
        "ownership": GROUPS.output("ownership"),
        "rebalances": GROUPS.output("rebalances"),
        "settings": GROUPS.output("settings"),
    },
    needs=(NAMES, FACTS, OFFSET_FACTS),
)
