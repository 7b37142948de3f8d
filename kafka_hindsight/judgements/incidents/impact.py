"""What a happening did: records lost, partitions without a leader, writes refused, brokers and groups concerned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from kafka_hindsight.catalog.codes import NOBODY, Harm, IncidentKind
from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.judgements.incidents.happenings import Happening, has_failed
from kafka_hindsight.shared.absences import is_lost
from kafka_hindsight.shared.unavailability import NO_CONSUMER, NO_LEADER, NO_WRITES, Unused, unused

_TROUBLE = frozenset({IncidentKind.STORM, IncidentKind.HOST_SILENT, IncidentKind.COORDINATOR_MOVE})
"""Kinds of incidents that are not routine, whatever began them."""

Place = tuple[str, int]
"""A topic, and the number of a partition."""


@dataclass(frozen=True)
class Impact:
    """The figures of one happening."""

    of: Happening

    @cached_property
    def offline(self) -> Unused:
        """The partitions that had no leader."""
        return unused(self.of.unavailability, NO_LEADER)

    @cached_property
    def refusing(self) -> Unused:
        """The partitions that had a leader, and took no write with acks=all."""
        return unused(self.of.unavailability, NO_WRITES)

    @cached_property
    def idle(self) -> Unused:
        """The groups none of whose members consumed, since something failed."""
        return unused((u for u in self.of.unavailability if u.rebalance_id in self.of.failed), NO_CONSUMER)

    @cached_property
    def losses(self) -> dict[Place, tuple[int, int | None]]:
        """The partitions that lost records, or may have, each with the bounds of its loss."""
        found: dict[Place, tuple[int, int | None]] = {}
        for f in self.of.failovers:
            if f.records_lost_low is not None and f.records_lost_high != 0:
                low, high = found.get((f.topic, f.partition), (0, 0))
                most = None if high is None or f.records_lost_high is None else high + f.records_lost_high
                found[f.topic, f.partition] = low + f.records_lost_low, most
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
        """The topics that lost records, had no leader or took no writes: the worst hit first."""
        places = (*self.losses, *self.offline.subjects, *self.refusing.subjects)
        return list(dict.fromkeys(topic for topic, _ in places))

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
    def ended_at(self) -> datetime | None:
        """When all of it was over; None where a part was not."""
        known = [end for end in self.of.ends if end is not None]
        return max(known) if known and len(known) == len(self.of.ends) else None

    @property
    def is_over(self) -> bool:
        """Whether each partition could be used again, each broker was back and there was a controller, by the end.

        A group that a failure left without a consumer counts too; one whose members left does not.
        """
        is_led = all(c.controller_to != NOBODY for c in self.of.controllers[-1:])
        is_usable = not (self.offline.still or self.refusing.still or self.idle.still)
        return is_led and is_usable and all(o.up_at for o in self.of.outages)

    @cached_property
    def harm(self) -> Harm:
        """The gravest thing that it did."""
        return next(harm for harm, holds in _LEVELS if holds(self))


def _is_failure(incident: Incident) -> bool:
    return incident.kind in _TROUBLE or (incident.cause is not None and has_failed(incident.cause))


_AT_RISK = frozenset({IncidentKind.REPLICAS_OUT, IncidentKind.LEADERS_LOST})
_LEVELS: tuple[tuple[Harm, Callable[[Impact], object]], ...] = (
    (Harm.RECORDS_LOST, lambda i: i.losses),
    (Harm.PARTITIONS_OFFLINE, lambda i: i.offline.subjects),
    (Harm.WRITES_REFUSED, lambda i: i.refusing.subjects),
    (Harm.BROKER_LOST, lambda i: any(is_lost(o) for o in i.of.outages)),
    (Harm.NO_CONTROLLER, lambda i: i.of.controllers),
    (Harm.DATA_AT_RISK, lambda i: i.of.outages or i.of.kind in _AT_RISK),
    (Harm.CONSUMERS_STOPPED, lambda i: any(map(_is_failure, i.of.of_groups))),
    (Harm.LAG_GREW, lambda i: i.of.lag),
    (Harm.ROUTINE, lambda i: True),
)
"""When each harm holds; the first that does is the incident's."""
