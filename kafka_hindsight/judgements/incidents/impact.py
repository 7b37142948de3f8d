"""What a happening did: records lost, partitions without a leader, writes refused, brokers and groups concerned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from kafka_hindsight.catalog.causes import CauseFamily
from kafka_hindsight.catalog.codes import NOBODY, FailoverKind, Harm, IncidentKind
from kafka_hindsight.catalog.rows import Failover, Incident
from kafka_hindsight.judgements.incidents.happenings import Happening, is_noticed, leaderless_at_least
from kafka_hindsight.shared.absences import is_lost

_FAILED = frozenset({CauseFamily.LOST, CauseFamily.BROKER, CauseFamily.UNKNOWN})
"""Families of causes in which something failed, or may have failed."""

_TROUBLE = frozenset({IncidentKind.STORM, IncidentKind.HOST_SILENT, IncidentKind.COORDINATOR_MOVE})
"""Kinds of incidents that are not routine, whatever began them."""

Place = tuple[str, int]
"""A topic, and the number of a partition."""


@dataclass(frozen=True)
class Unavailability:
    """Partitions that could not be used, each of them once.

    Attributes:
        places: The partitions.
        longest_ms: The longest time, at least; None where nothing bounds it.
        longest_at_most_ms: The longest time, at most; None where nothing bounds it.
        total_ms: All times together, at least.
        still: Those of them that could not be used by the end.
    """

    places: Sequence[Place]
    longest_ms: int | None
    longest_at_most_ms: int | None
    total_ms: int
    still: Sequence[Place]


def unavailability_of(failovers: Sequence[Failover]) -> Unavailability:
    """The partitions that had no leader for as long as clients notice, or that had none by the end.

    Why a partition had no leader does not matter: no client reads or writes one without.
    """
    begun = {(f.topic, f.partition, f.epoch_to) for f in failovers if f.kind == FailoverKind.OFFLINE}
    counted = {(f.topic, f.partition, f.epoch_from) for f in failovers if f.leader_from == NOBODY} & begun
    rows = [f for f in failovers if (f.topic, f.partition, f.epoch_from) not in counted and is_noticed(f)]
    lasted = [ms for f in rows if (ms := leaderless_at_least(f)) is not None]
    return Unavailability(
        _places(rows),
        max(lasted, default=None),
        max((f.leaderless_high_ms for f in rows if f.leaderless_high_ms is not None), default=None),
        sum(lasted),
        _places(filter(_is_open, rows)),
    )


def _places(failovers: Iterable[Failover]) -> list[Place]:
    return sorted({(f.topic, f.partition) for f in failovers})


def _is_open(failover: Failover) -> bool:
    is_bounded = leaderless_at_least(failover) is not None or failover.leaderless_high_ms is not None
    return failover.kind == FailoverKind.OFFLINE and not is_bounded


@dataclass(frozen=True)
class Impact:
    """The figures of one happening."""

    of: Happening

    @cached_property
    def offline(self) -> Unavailability:
        """The partitions that had no leader."""
        return unavailability_of(self.of.failovers)

    @cached_property
    def refusing(self) -> list[Place]:
        """The partitions that had a leader and refused writes."""
        return sorted({(r.topic, r.partition) for r in self.of.refusing} - {*self.offline.places})

    @cached_property
    def losses(self) -> dict[Place, tuple[int, int | None]]:
        """The partitions that lost records, or may have, each with the bounds of its loss."""
        found: dict[Place, tuple[int, int | None]] = {}
        for f in self.of.failovers:
            if f.records_lost_low is not None and f.records_lost_high != 0:
                low, high = found.get((f.topic, f.partition), (0, 0))
                found[f.topic, f.partition] = low + f.records_lost_low, _sum(high, f.records_lost_high)
        for t in self.of.truncations:
            cut = t.records_cut or 1
            found.setdefault((t.topic, t.partition), (cut, t.records_cut))
        return found

    @property
    def lost(self) -> tuple[int, int | None] | None:
        """The bounds of all losses; None where nothing can be lost."""
        if not self.losses:
            return (0, 0) if any(f.records_lost_high == 0 for f in self.of.failovers) else None
        highs = [high for _, high in self.losses.values()]
        known = [high for high in highs if high is not None]
        return sum(low for low, _ in self.losses.values()), sum(known) if len(known) == len(highs) else None

    @property
    def topics(self) -> list[str]:
        """The topics that lost records, had no leader or refused writes: the worst hit first."""
        return list(dict.fromkeys(topic for topic, _ in (*self.losses, *self.offline.places, *self.refusing)))

    @property
    def brokers(self) -> list[int]:
        """The brokers that were away, or whose replicas were out of sync or cut."""
        of = self.of
        lost = (f.leader_from for f in of.failovers if not of.outages and f.leader_from is not None)
        others = (*(p.broker for p in of.periods), *(t.broker for t in of.truncations if not of.outages), *lost)
        return sorted({*(o.broker for o in of.outages), *(b for b in others if b >= 0)})

    @property
    def groups(self) -> list[str]:
        """The groups that rebalanced or fell behind."""
        return sorted({g for i in self.of.of_groups for g in i.group_ids} | {v.group_id for v in self.of.lag})

    @property
    def rebalances(self) -> int:
        """How many rebalances it holds."""
        return sum(i.rebalance_count for i in self.of.of_groups)

    @property
    def partition_seconds(self) -> float | None:
        """What those cost, as far as it is known."""
        known = [i.partition_seconds for i in self.of.of_groups if i.partition_seconds is not None]
        return round(sum(known), 3) if known else None

    @property
    def ended_at(self) -> datetime | None:
        """When all of it was over; None where a part was not."""
        known = [end for end in self.of.ends if end is not None]
        return max(known) if known and len(known) == len(self.of.ends) and not self.offline.still else None

    @property
    def is_over(self) -> bool:
        """Whether each partition had a leader again, each broker was back, and there was a controller, by the end."""
        is_led = all(c.controller_to != NOBODY for c in self.of.controllers[-1:])
        return is_led and not self.offline.still and all(o.up_at for o in self.of.outages)

    @cached_property
    def harm(self) -> Harm:
        """The gravest thing that it did."""
        return next(harm for harm, holds in _LEVELS if holds(self))

    @property
    def has_lost(self) -> bool:
        """Whether records were lost, or may have been."""
        return bool(self.losses)

    @property
    def has_failed(self) -> bool:
        """Whether its rebalances began since something failed."""
        return any(_is_failure(i) for i in self.of.of_groups)


_AT_RISK = frozenset({IncidentKind.REPLICAS_OUT, IncidentKind.LEADERS_LOST})
_LEVELS: tuple[tuple[Harm, Callable[[Impact], object]], ...] = (
    (Harm.RECORDS_LOST, lambda i: i.has_lost),
    (Harm.PARTITIONS_OFFLINE, lambda i: i.offline.places),
    (Harm.WRITES_REFUSED, lambda i: i.refusing),
    (Harm.BROKER_LOST, lambda i: any(is_lost(o) for o in i.of.outages)),
    (Harm.NO_CONTROLLER, lambda i: i.of.controllers),
    (Harm.DATA_AT_RISK, lambda i: i.of.outages or i.of.kind in _AT_RISK),
    (Harm.CONSUMERS_STOPPED, lambda i: i.has_failed),
    (Harm.LAG_GREW, lambda i: i.of.lag),
    (Harm.ROUTINE, lambda i: True),
)
"""When each harm holds; the first that does is the incident's."""


def _is_failure(incident: Incident) -> bool:
    return incident.kind in _TROUBLE or (incident.cause is not None and incident.cause.family in _FAILED)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
