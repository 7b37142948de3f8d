"""The cost of losing each broker or rack, from one reading of the cluster and the settings in force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import cached_property

from kafka_hindsight.catalog.codes import LossScope
from kafka_hindsight.catalog.rows import BrokerSnapshot, LossSimulation, PartitionSnapshot
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings
from kafka_hindsight.judgements.groups.coordinators import OFFSETS_TOPIC, offsets_partition_of
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_snapshot
from kafka_hindsight.knowledge.broker_settings import MIN_ISR, UNCLEAN
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import counted

MAX_NAMED = 20
"""More names than a reader follows up add nothing."""

_MAX_QUOTED = 5


class Fate(Enum):
    """The effect of the loss on one partition, in the words of the explanation; the worst first."""

    OFFLINE = "would have no leader"
    UNCLEAN = "would elect one uncleanly and lose records"
    UNWRITABLE = "could not take writes with acks=all"
    UNJUDGED = "would lose a replica in sync (min.insync.replicas is unknown)"


@dataclass(frozen=True)
class Scope:
    """The brokers of one simulated loss: one broker, or all brokers of a rack."""

    kind: LossScope
    name: str
    brokers: frozenset[int]


@dataclass(frozen=True)
class Reading:
    """The last reading of the cluster; () where it shows none.

    `partitions` are rows of bronze.partition_snapshots in order of topic and partition, `brokers` of broker_snapshots.
    """

    partitions: Sequence[PartitionSnapshot] = ()
    brokers: Sequence[BrokerSnapshot] = ()
    group_ids: Sequence[str] = ()
    settings: BrokerSettings = field(default_factory=BrokerSettings)

    @property
    def at(self) -> datetime:
        return self.partitions[0].snapshot_at

    @cached_property
    def alive(self) -> frozenset[int]:
        return frozenset(b.broker for b in self.brokers)

    def scopes(self) -> list[Scope]:
        """Each broker that is alive or in sync anywhere, by id, and each rack, by name."""
        racks = grouped((b for b in self.brokers if b.rack), lambda b: str(b.rack))
        brokers = self.alive | {b for p in self.partitions for b in p.isr or ()}
        return [
            *(Scope(LossScope.BROKER, str(b), frozenset({b})) for b in sorted(brokers)),
            *(Scope(LossScope.RACK, rack, frozenset(b.broker for b in own)) for rack, own in sorted(racks.items())),
        ]

    @cached_property
    def hosted(self) -> Mapping[int, Sequence[PartitionSnapshot]]:
        partitions_of: defaultdict[int, list[PartitionSnapshot]] = defaultdict(list)
        for partition in self.partitions:
            for broker in {*(partition.replicas or ()), *(partition.isr or ())}:
                partitions_of[broker].append(partition)
        return partitions_of

    @cached_property
    def limits(self) -> Mapping[str, tuple[int | None, bool]]:
        """Each topic's min.insync.replicas, and whether unclean elections are known to be enabled."""
        limits = {}
        for topic in {p.topic for p in self.partitions}:
            minimum = self.settings.of_topic(topic, MIN_ISR, self.at)
            unclean = self.settings.of_topic(topic, UNCLEAN, self.at)
            limits[topic] = (minimum.number if minimum else None, bool(unclean and unclean.is_on))
        return limits

    @cached_property
    def offsets_leaders(self) -> Mapping[int, int | None]:
        """The leader of each partition of __consumer_offsets: the coordinator of the groups there."""
        return {p.partition: p.leader for p in self.partitions if p.topic == OFFSETS_TOPIC}

    @cached_property
    def offsets_partitions(self) -> Mapping[str, int]:
        """Each group's partition of __consumer_offsets; none where the reading does not show them."""
        count = len(self.offsets_leaders)
        return {g: offsets_partition_of(g, count) for g in sorted(set(self.group_ids))} if count else {}


def simulate_losses(reading: Reading) -> list[LossSimulation]:
    """Rows of gold.loss_simulations: one for each broker, by id, and for each rack, by name.

    A partition is offline, unclean, unwritable, unjudged or none of these, never two. What is offline or below its
    minimum already is not counted again: the loss does not cost it.
    """
    return [_row(reading, scope) for scope in reading.scopes()] if reading.partitions else []


def _row(reading: Reading, scope: Scope) -> LossSimulation:
    hosted_by = {(p.topic, p.partition): p for b in scope.brokers for p in reading.hosted.get(b, ())}
    hosted = [hosted_by[key] for key in sorted(hosted_by)]
    by_fate: dict[Fate, list[PartitionSnapshot]] = {fate: [] for fate in Fate}
    for partition in hosted:
        fate = _fate(partition, scope.brokers, reading.alive, reading.limits[partition.topic])
        if fate is not None:
            by_fate[fate].append(partition)
    worst = [p for fate, own in by_fate.items() if fate is not Fate.UNJUDGED for p in own]
    to_move = sum(p.leader in scope.brokers for p in hosted)
    to_move -= sum(p.leader in scope.brokers for p in by_fate[Fate.OFFLINE])
    homes, groups, stranded = reading.offsets_partitions, None, None
    if homes:
        offline = {p.partition for p in by_fate[Fate.OFFLINE] if p.topic == OFFSETS_TOPIC}
        groups = [g for g, home in homes.items() if reading.offsets_leaders.get(home) in scope.brokers]
        stranded = [g for g in groups if homes[g] in offline]
    summary = f"{scope.kind} '{scope.name}' holds replicas of {len(hosted)} partitions"
    quotes = [
        quote_snapshot(p, f"{p.topic}-{p.partition}: leader {p.leader}, isr {p.isr}, replicas {p.replicas}")
        for p in worst[:_MAX_QUOTED]
    ]
    return LossSimulation(
        cluster=reading.partitions[0].cluster,
        snapshot_at=reading.at,
        scope_kind=scope.kind,
        scope=scope.name,
        broker_ids=sorted(scope.brokers),
        partitions_hosted=len(hosted),
        partitions_offline=len(by_fate[Fate.OFFLINE]),
        partitions_unclean=len(by_fate[Fate.UNCLEAN]),
        partitions_unwritable=len(by_fate[Fate.UNWRITABLE]),
        partitions_unjudged=len(by_fate[Fate.UNJUDGED]),
        leaders_to_move=to_move,
        group_ids=groups,
        stranded_group_ids=stranded,
        worst_partitions=[f"{p.topic}-{p.partition}" for p in worst[:MAX_NAMED]],
        explanation=_explanation(scope, by_fate, to_move, groups, stranded),
        evidence=evidence_of([quote_snapshot(reading.partitions[0], summary), *quotes]),
    )


def _explanation(
    scope: Scope,
    by_fate: Mapping[Fate, Sequence[PartitionSnapshot]],
    to_move: int,
    groups: Sequence[str] | None,
    stranded: Sequence[str] | None,
) -> str:
    costs = [f"{counted(len(own), 'partition')} {fate.value}" for fate, own in by_fate.items() if own]
    cost = ", ".join(costs) or "every partition with a leader keeps one and takes writes"
    coordinators = "; the reading does not show the groups that it coordinates"
    if groups is not None:
        coordinators = f" and {counted(len(groups), 'group')} would lose the coordinator"
    nowhere = f", {len(stranded)} of them without another to take over" if stranded else ""
    name = scope.name if scope.kind == "broker" else f"'{scope.name}'"
    return f"Without {scope.kind} {name}, {cost}; {counted(to_move, 'leader')} would move{coordinators}{nowhere}."


def _fate(
    partition: PartitionSnapshot, brokers: Collection[int], alive: Collection[int], limits: tuple[int | None, bool]
) -> Fate | None:
    """The effect of losing the brokers on one partition; None where it loses nothing that counts."""
    in_sync = set(partition.isr or ())
    remaining = in_sync - set(brokers)
    if partition.leader is None or remaining == in_sync:
        return None
    minimum, is_unclean = limits
    if not remaining:
        can_take_over = {*(partition.replicas or ())} & set(alive) - set(brokers)
        return Fate.UNCLEAN if is_unclean and can_take_over else Fate.OFFLINE
    if minimum is None:
        return Fate.UNJUDGED
    least = min(minimum, len(partition.replicas or in_sync))
    return Fate.UNWRITABLE if len(remaining) < least <= len(in_sync) else None
