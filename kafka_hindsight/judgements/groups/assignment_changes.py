"""Rebalances as tables: who owned what before and after, and which witness is missing where that is not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kafka_hindsight.catalog.codes import Outcome
from kafka_hindsight.catalog.rows import AssignmentChange, Rebalance, TopicPartition
from kafka_hindsight.judgements.groups.assignments import Assignment
from kafka_hindsight.judgements.groups.costs import Stop
from kafka_hindsight.judgements.reasoning.evidence import evidence_of
from kafka_hindsight.judgements.rebalances.members import MemberRegistry
from kafka_hindsight.judgements.rebalances.records import PartitionKey
from kafka_hindsight.knowledge.assignors import OF_CONNECT
from kafka_hindsight.shared.words import listed


def with_assignments(rebalances: Sequence[Rebalance], stops: Mapping[str, Stop]) -> list[Rebalance]:
    """The rebalances with kind, assignor, what moved and what stayed, and what is not known of it."""
    return [_with_assignment(r, stops[r.rebalance_id]) for r in rebalances]


def _with_assignment(rebalance: Rebalance, stop: Stop) -> Rebalance:
    before, after = stop.before, stop.after
    moved_count = kept_count = None
    if before is not None and after is not None:
        owners = [(owner, after.owners.get(p)) for p, owner in before.owners.items()]
        kept_count = sum(was == now for was, now in owners)
        moved_count = sum(now not in (None, was) for was, now in owners)
    return replace(
        rebalance,
        kind=stop.kind,
        assignor=stop.assignor,
        partitions_moved=moved_count,
        partitions_kept=kept_count,
        partitions_ownerless=stop.partitions,
        not_known=" ".join(_unknowns(rebalance, stop)) or None,
    )


def _unknowns(rebalance: Rebalance, stop: Stop) -> Iterator[str]:
    """Yield a sentence for each thing that is not known of a rebalance, with the witnesses that would show it."""
    if stop.kind is None and stop.assignor is None:
        yield "The assignor is not known: a client's log, a record of the group or a reading would name it."
    elif stop.kind is None:
        yield f"It is not known whether the assignor '{stop.assignor}' is eager or cooperative."
    missing = [when for when, assignment in (("before", stop.before), ("after", stop.after)) if assignment is None]
    if not missing:
        return
    if stop.assignor in OF_CONNECT:
        yield "Workers of Kafka Connect share out connectors and tasks, not partitions."
        return
    if rebalance.outcome == Outcome.INTERRUPTED:
        yield "The next rebalance began before it had an assignment."
        missing.remove("after")
    if rebalance.outcome == Outcome.UNFINISHED:
        yield "No evidence shows that it ended with an assignment."
        missing.remove("after")
    if missing:
        yield f"Who owned what {' and '.join(missing)} is not known: {_witnesses(rebalance)} would show it."


def _witnesses(rebalance: Rebalance) -> str:
    """The witnesses of an assignment, of which a row without one has none."""
    records = "the group's records in __consumer_offsets"
    if rebalance.protocol.has_epochs:
        return records
    leader = rebalance.leader_client_id
    log = f"the log of its leader '{leader}'" if leader else "the log of the member that led the group"
    return listed([records, log, "a reading of the settled group"], last="or")


def changes_of(
    rebalances: Sequence[Rebalance], stops: Mapping[str, Stop], registry: MemberRegistry
) -> list[AssignmentChange]:
    """Rows of gold.assignment_changes of one group: each member of the assignments before and after a rebalance."""
    return [row for r in rebalances for row in _changes(r, stops[r.rebalance_id], registry)]


def _changes(rebalance: Rebalance, stop: Stop, registry: MemberRegistry) -> Iterator[AssignmentChange]:
    before, after = stop.before, stop.after
    for member_id in sorted((before.members if before else frozenset()) | (after.members if after else frozenset())):
        member = registry.get(member_id)
        owned = [_owned(before, member_id), _owned(after, member_id)]
        new_keys = former_keys = None
        if owned[0] is not None and owned[1] is not None:
            new_keys, former_keys = owned[1] - owned[0], owned[0] - owned[1]
        yield AssignmentChange(
            cluster=rebalance.cluster,
            rebalance_id=rebalance.rebalance_id,
            group_id=rebalance.group_id,
            started_at=rebalance.started_at,
            ended_at=rebalance.ended_at,
            member_id=member_id,
            client_id=member.client_id,
            host=member.host,
            was_member=None if before is None else member_id in before.members,
            is_member=None if after is None else member_id in after.members,
            before=_in_order(owned[0]),
            after=_in_order(owned[1]),
            gained=_in_order(new_keys),
            lost=_in_order(former_keys),
            evidence=evidence_of(stop.quotes),
        )


def _owned(assignment: Assignment | None, member_id: str) -> frozenset[PartitionKey] | None:
    if assignment is None:
        return None
    return frozenset(p for p, owner in assignment.owners.items() if owner == member_id)


def _in_order(partitions: frozenset[PartitionKey] | None) -> list[TopicPartition] | None:
    if partitions is None:
        return None
    return [TopicPartition(topic=topic, partition=number) for topic, number in sorted(partitions)]
