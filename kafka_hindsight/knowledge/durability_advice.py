"""Measures against the harm of an incident, by how its topics are replicated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.knowledge.advice import filled

SAFE_REPLICAS, SAFE_MIN_ISR = 3, 2
"""Kafka's own words on min.insync.replicas: three replicas, min.insync.replicas of 2, acks of all."""


@dataclass(frozen=True)
class Replication:
    """How a topic is replicated, the weakest of several; None: not known."""

    replicas: int | None = None
    min_isr: int | None = None
    is_unclean_allowed: bool | None = None

    @classmethod
    def weakest(cls, topics: Iterable[Replication]) -> Replication:
        """The weakest of several topics in each respect; what is not known of one is not known of all."""
        rows = [*topics]
        replicas, minima = [r.replicas for r in rows], [r.min_isr for r in rows]
        allowed = [r.is_unclean_allowed for r in rows]
        return cls(
            None if not rows or None in replicas else min(r for r in replicas if r is not None),
            None if not rows or None in minima else min(m for m in minima if m is not None),
            True if True in allowed else None if not rows or None in allowed else False,
        )


def prevention_of(harm: Harm, topics: Replication) -> str:
    """The measures against a harm, without those that the topics have already."""
    replicas, min_isr = topics.replicas, topics.min_isr
    conditions = {
        "may_be_unclean": topics.is_unclean_allowed is not False,
        "has_few_replicas": replicas is None or replicas < SAFE_REPLICAS,
        "min_isr_is_low": min_isr is None or min_isr < SAFE_MIN_ISR,
        "has_no_margin": replicas is None or min_isr is None or replicas <= min_isr,
    }
    return " ".join(filled(harm.noun.prevention, {name: "" for name, holds in conditions.items() if holds}))
