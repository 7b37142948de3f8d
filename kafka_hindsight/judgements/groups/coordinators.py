"""The broker that coordinated a group, each move to another one, and what the move did to the group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest

from kafka_hindsight.catalog.codes import MoveEffect, Outcome
from kafka_hindsight.catalog.rows import CoordinatorMove, Event, Failover, Rebalance
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.groups.group_incidents import BROKER_INDUCED_CAUSES
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.judgements.reasoning.proofs import Proof, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Likely, Ruling, decide
from kafka_hindsight.judgements.reasoning.timelines import Timeline, by_instant, timelines
from kafka_hindsight.knowledge.kinds import GROUP_KINDS, Kind
from kafka_hindsight.shared.durations import COORDINATOR_LOADING, OUTAGE_SHADOW
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window, in_order

OFFSETS_TOPIC = "__consumer_offsets"

_LOADED = (Kind.GROUP_LOADED, Kind.MEMBER_LOADED)


def java_string_hash(text: str) -> int:
    """java.lang.String.hashCode: over UTF-16 units, as a signed 32-bit number.

    Source: the Java language's String.hashCode.
    """
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for i in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[i : i + 2], "big")) & 0xFFFFFFFF
    return value - (1 << 32) if value & (1 << 31) else value


def offsets_partition_of(group_id: str, partition_count: int) -> int:
    """The partition of __consumer_offsets that keeps a group.

    The smallest integer has no absolute value, and counts as 0.
    Source: Utils.abs(groupId.hashCode) % offsets.topic.num.partitions (GroupMetadataManager.partitionFor).
    """
    value = java_string_hash(group_id)
    return (0 if value == -(1 << 31) else abs(value)) % partition_count


def losses_of_groups(
    group_ids: Iterable[str], failovers: Iterable[Failover], partition_count: int | None
) -> dict[str, list[tuple[datetime, str]]]:
    """The outages in which each group's partition of `__consumer_offsets` lost its leader: (happened_at, outage_id).

    Without a reading that shows the number of partitions, only a group's own lines name its partition.
    """
    if partition_count is None:
        return {}
    by_home = grouped((f for f in failovers if f.topic == OFFSETS_TOPIC), lambda f: f.partition)
    homes = ((g, offsets_partition_of(g, partition_count)) for g in sorted(set(group_ids)))
    return {g: sorted((f.happened_at, f.outage_id) for f in by_home.get(home, ()) if f.outage_id) for g, home in homes}


def rebuild_coordinator_moves(
    events: Iterable[Event], context: ClusterContext, partition_count: int | None, window: Window
) -> list[CoordinatorMove]:
    """Rows of gold.coordinator_moves: one for each time a group was loaded by another broker than had it before.

    One group's rows chain: the broker that one row goes to is the broker that the next one comes from. A broker that
    was paused acts for its groups until it learns that they were given away, and unloads them late: only loading makes
    a former coordinator the coordinator again. Where no line shows that a new one loaded the group, its first act does.
    """
    by_group: dict[tuple[str, str], list[tuple[int, Event]]] = defaultdict(list)
    for event in in_order(e for e in events if e.kind in GROUP_KINDS and e.kind != Kind.GROUP_UNLOADED):
        if event.group_id is not None and event.broker is not None:
            by_group[event.cluster, event.group_id].append((event.broker, event))
    rows = (_moves(*key, partition_count, lines, context) for key, lines in sorted(by_group.items()))
    return [row for moves in rows for row in moves if window.holds(row.moved_at)]


def _moves(
    cluster: str,
    group_id: str,
    partition_count: int | None,
    lines: Sequence[tuple[int, Event]],
    context: ClusterContext,
) -> Iterator[CoordinatorMove]:
    partition = next((e.offsets_partition for _, e in lines if e.offsets_partition is not None), None)
    if partition is None and partition_count:
        partition = offsets_partition_of(group_id, partition_count)
    loads = by_instant(e for _, e in lines if e.kind == Kind.GROUP_LOADED)
    coordinator: int | None = None
    former: set[int] = set()
    for broker, line in lines:
        if broker == coordinator or (broker in former and line.kind not in _LOADED):
            continue
        if coordinator is not None:
            proof = _end_of_load(line, loads) if line.kind in _LOADED else line
            at = proof.happened_at
            outage = context.outage_at(coordinator, at)
            yield CoordinatorMove(
                cluster=cluster,
                coordinator_move_id=row_id(cluster, "coordinator_move", group_id, coordinator, broker, at),
                group_id=group_id,
                offsets_partition=partition,
                moved_at=at,
                broker_from=coordinator,
                broker_to=broker,
                outage_id=outage.outage_id if outage else None,
                evidence=evidence_of([quote(line), quote(proof)]),
            )
            former.add(coordinator)
        coordinator = broker
        former.discard(broker)


def _end_of_load(line: Event, loads: Timeline[Event]) -> Event:
    """The line that ends one loading: the group's own, where there is one, else the first that shows the loading."""
    within = loads.between(line.happened_at, line.happened_at + COORDINATOR_LOADING)
    return next((e for e in within if e.broker == line.broker and in_order([line, e])[0] is line), line)


@dataclass(frozen=True)
class MoveCase:
    """One move of a coordinator, with the rebalances beside it.

    `until`: the end of the time in which it may have an effect. `before`: the former coordinator's last rebalance that
    began before the move; `after`: the new coordinator's first one within that time that a broker accounts for.
    `observed_to`: the end of the brokers' lines.
    """

    move: CoordinatorMove
    until: datetime
    observed_to: datetime
    before: Rebalance | None
    after: Rebalance | None


def it_interrupted_a_rebalance(case: MoveCase) -> Proof | None:
    """The former coordinator's last rebalance was under way, and ended with the move, after it, or not at all."""
    last = case.before
    if last is None or last.outcome not in (Outcome.INTERRUPTED, Outcome.UNFINISHED):
        return None
    is_open = last.ended_at is None or last.ended_at >= case.move.moved_at - COORDINATOR_LOADING
    return Proof(facts={"rebalance_id": last.rebalance_id}) if is_open else None


def the_new_coordinator_began_one(case: MoveCase) -> Proof | None:
    """The new coordinator began a rebalance that a broker accounts for before a session could run out."""
    return None if case.after is None else Proof(facts={"rebalance_id": case.after.rebalance_id})


def the_lines_reach_far_enough(case: MoveCase) -> Proof | None:
    """The brokers' lines reach to the next move, or until a session could have run out."""
    return proof_if(case.until <= case.observed_to)


_SOURCE = "GroupCoordinator.onElection and onResignation"

# fmt: off
MOVE_RULINGS: tuple[Ruling[MoveCase], ...] = (
    Likely(MoveEffect.CUT_SHORT, "The former coordinator did not finish the rebalance that ran.",
           proof=(it_interrupted_a_rebalance,), source=_SOURCE,
           cases=("made: a rebalance runs while the coordinator moves", "made: the new coordinator removes a member")),
    Likely(MoveEffect.REBALANCED, "The new coordinator started a rebalance that a broker event explains.",
           proof=(the_new_coordinator_began_one,), source=_SOURCE,
           cases=("made: the new coordinator removes a member", "made: a member joins after the move")),
    Likely(MoveEffect.NONE, "No rebalance followed from the move.",
           proof=(the_lines_reach_far_enough,), source=_SOURCE,
           cases=("night-4.1 audit-static-4 01:50:38.369", "made: the new coordinator removes a member")),
)
# fmt: on
"""None of them holds where the lines end too early: then the effect is not known."""


def add_effects(
    moves: Iterable[CoordinatorMove], rebalances: Iterable[Rebalance], observed_to: datetime
) -> list[CoordinatorMove]:
    """Rows of gold.coordinator_moves of one group with the effect of each move.

    `effect` follows MOVE_RULINGS, with the rebalance that shows it. Of several moves the last one before a rebalance
    began it.
    """
    ordered = sorted(moves, key=lambda m: m.moved_at)
    by_coordinator = _by_coordinator(sorted(rebalances, key=lambda r: r.rebalance_id))
    induced = _by_coordinator(r for rows in by_coordinator.values() for r in rows if r.cause in BROKER_INDUCED_CAUSES)
    none = Timeline[Rebalance]((), at=lambda r: r.started_at)
    rows = []
    for move, following in zip_longest(ordered, ordered[1:]):
        at = move.moved_at
        until = min(following.moved_at if following else at + OUTAGE_SHADOW, at + OUTAGE_SHADOW)
        before = by_coordinator.get(move.broker_from, none).last_before(at)
        after = [*induced.get(move.broker_to, none).between(at - COORDINATOR_LOADING, until)[:1], None][0]
        verdict = decide(MOVE_RULINGS, MoveCase(move, until, observed_to, before, after))
        effect = MoveEffect(verdict.code) if verdict else None
        rows.append(replace(move, effect=effect, rebalance_id=verdict.facts.get("rebalance_id") if verdict else None))
    return rows


def _by_coordinator(rebalances: Iterable[Rebalance]) -> Mapping[int | None, Timeline[Rebalance]]:
    return timelines(rebalances, lambda r: r.coordinator, lambda r: r.started_at)
