"""Why a broker was out of ISRs, and which broker that points to: the rulings, in the order in which they are tried.

Source: each leader judges its own followers by what they fetch from it (Partition.isFollowerOutOfSync). So a follower
that several leaders remove is slow itself; a leader that alone removes several followers is what they have in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import accumulate

from kafka_hindsight.catalog.codes import Confidence, OutOfSyncKind
from kafka_hindsight.catalog.rows import BrokerOutage, IsrSpan
from kafka_hindsight.judgements.reasoning.rulings import Predicate, Proof, Ruling, proof_if
from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import counted, duration

_WEAK = (OutOfSyncKind.REASSIGNMENT, OutOfSyncKind.UNKNOWN)


@dataclass(frozen=True)
class Period:
    """The spans in which one broker was out of ISRs and that belong together, in order of time; see `merge_spans`."""

    spans: Sequence[IsrSpan]

    @property
    def broker(self) -> int:
        """The broker that was out."""
        return self.spans[0].broker

    @cached_property
    def kind(self) -> OutOfSyncKind:
        """The cause of its first shrink; a moved replica and an unknown cause give way to any other."""
        causes = [s.shrink_cause or OutOfSyncKind.UNKNOWN for s in self.spans]
        return next((c for c in causes if c not in _WEAK), causes[0])

    @cached_property
    def partitions(self) -> dict[tuple[str, int], list[IsrSpan]]:
        """Its spans by partition."""
        return grouped(self.spans, lambda s: (s.topic, s.partition))

    @cached_property
    def ended_at(self) -> datetime | None:
        """When the broker was back in every ISR; None while it is not."""
        end = max(s.out_of_sync_until or NEVER for s in self.spans)
        return None if end == NEVER else end

    @property
    def slow_spans(self) -> list[IsrSpan]:
        """The spans in which the broker lagged."""
        return [s for s in self.spans if s.shrink_cause == OutOfSyncKind.SLOW]

    @cached_property
    def leaders(self) -> list[int]:
        """The leaders that removed it because it lagged."""
        return sorted({s.removed_by_leader for s in self.slow_spans if s.removed_by_leader is not None})

    @cached_property
    def outage_ids(self) -> list[str]:
        """The outages in it, each once, in order of the shrinks."""
        return list(dict.fromkeys(s.outage_id for s in self.spans if s.outage_id))

    @cached_property
    def records_behind(self) -> int | None:
        """How far it was behind a leader at most."""
        return max((s.records_behind for s in self.spans if s.records_behind is not None), default=None)

    @cached_property
    def lasted(self) -> str:
        """How long, in words."""
        if self.ended_at is None:
            return "and is not back in all"
        ends = accumulate((s.out_of_sync_until or NEVER for s in self.spans), max)
        has_gaps = any(end < after.happened_at for end, after in zip(ends, self.spans[1:], strict=False))
        return f"{'again and again ' if has_gaps else ''}for {duration(self.ended_at - self.spans[0].happened_at)}"


@dataclass(frozen=True)
class PeriodCase:
    """One period, the outage behind it, and the followers that its only leader removed about then, with no other leader
    removing them."""

    period: Period
    outage: BrokerOutage | None
    followers_removed: frozenset[int] = frozenset()

    @property
    def broker(self) -> int:
        """The broker that was out."""
        return self.period.broker

    @property
    def partitions(self) -> str:
        """How many partitions, in words."""
        return counted(len(self.period.partitions), "partition")

    @property
    def leaders(self) -> str:
        """The leaders that removed it, in words."""
        leaders = self.period.leaders
        return f"Leader{'s' if len(leaders) > 1 else ''} {', '.join(map(str, leaders))}"

    @property
    def behind(self) -> str:
        """How far it was behind, in words."""
        records = self.period.records_behind
        return f", up to {records} records behind" if records else ""


def is_of(kind: OutOfSyncKind) -> Predicate[PeriodCase]:
    """A predicate: the period is of the kind, and its own broker is the suspect."""

    def holds(case: PeriodCase) -> Proof | None:
        return Proof(facts={"suspect": case.broker}) if case.period.kind is kind else None

    holds.__doc__ = f"The first shrink with a known cause has the cause `{kind}`."
    return holds


def outage_is_judged(case: PeriodCase) -> Proof | None:
    """The outage is as sure as its own row says."""
    return Proof(confidence=case.outage.confidence if case.outage else Confidence.LIKELY)


def points_to_no_broker(case: PeriodCase) -> Proof | None:
    """That points to no broker."""
    return Proof(facts={"suspect": None})


def several_leaders_removed_it(case: PeriodCase) -> Proof | None:
    """More than one leader removed the broker."""
    return proof_if(len(case.period.leaders) > 1)


def its_leader_removed_others_too(case: PeriodCase) -> Proof | None:
    """Within a minute its only leader removed other followers too, which no other leader removed."""
    leader = next(iter(case.period.leaders), None)
    return Proof(words={"leader": leader}, facts={"suspect": leader}) if len(case.followers_removed) > 1 else None


_OUT = "Broker {broker} was out of the ISR of {partitions} {period.lasted}"
_SLOW = (
    f"{_OUT}, alive, but too slow to keep up with its leaders. {{leaders}} removed it{{behind}}: it had not caught up"
    " for replica.lag.time.max.ms (30 s by default). "
)
_SHRINKS = "The cause of the shrinks: the rulings on gold.isr_changes"
_LAG = "Partition.isFollowerOutOfSync; ReplicaManager looks at every follower each half of replica.lag.time.max.ms"

OUT_OF_SYNC_RULINGS: tuple[Ruling[PeriodCase], ...] = (
    Ruling(
        code=OutOfSyncKind.OUTAGE,
        confidence=Confidence.CERTAIN,
        sentence=f"{_OUT}, because it was away.",
        proof=(is_of(OutOfSyncKind.OUTAGE), outage_is_judged),
        source=_SHRINKS,
        decides="crash-2.8 broker 1 01:52:31.810",
        looks_alike="slow-4.1 broker 1 15:36:56.383",
    ),
    Ruling(
        code=OutOfSyncKind.DISK,
        confidence=Confidence.LIKELY,
        sentence=f"{_OUT}, because one of its log directories had failed.",
        proof=(is_of(OutOfSyncKind.DISK),),
        source=_SHRINKS,
        decides="disk-4.3 broker 2 11:57:10.498",
        looks_alike="disk-4.3 broker 3 11:57:45.041",
    ),
    Ruling(
        code=OutOfSyncKind.REASSIGNMENT,
        confidence=Confidence.LIKELY,
        sentence="Broker {broker} left the ISR of {partitions}, because its replicas were moved to other brokers.",
        proof=(is_of(OutOfSyncKind.REASSIGNMENT), points_to_no_broker),
        source=_SHRINKS,
        decides="cancelled-4.1 broker 1 15:35:14.780",
        looks_alike="cancelled-4.1 broker 1 15:36:13.214",
    ),
    Ruling(
        code=OutOfSyncKind.SLOW,
        confidence=Confidence.LIKELY,
        sentence=f"{_SLOW}Several leaders removed it: broker {{broker}} itself is slow.",
        proof=(is_of(OutOfSyncKind.SLOW), several_leaders_removed_it),
        source=_LAG,
        decides="made: two leaders remove one follower",
        looks_alike="slow-4.1 broker 1 15:36:56.383",
    ),
    Ruling(
        code=OutOfSyncKind.SLOW,
        confidence=Confidence.LIKELY,
        sentence=f"{_SLOW}Leader {{leader}}, and no other, removed several followers at the same time: that leader is"
        " slow.",
        proof=(is_of(OutOfSyncKind.SLOW), its_leader_removed_others_too),
        source=_LAG,
        decides="made: one leader removes two followers",
        looks_alike="slow-4.1 broker 1 15:36:56.383",
    ),
    Ruling(
        code=OutOfSyncKind.SLOW,
        confidence=Confidence.POSSIBLE,
        sentence=f"{_SLOW}Only one leader removed it: broker {{broker}}, that leader, or the network between them is"
        " slow.",
        proof=(is_of(OutOfSyncKind.SLOW),),
        source=_LAG,
        decides="slow-4.1 broker 1 15:36:56.383",
        looks_alike="made: two leaders remove one follower",
    ),
    Ruling(
        code=OutOfSyncKind.UNKNOWN,
        confidence=Confidence.UNKNOWN,
        sentence=f"{_OUT}; the evidence does not show why.",
        proof=(points_to_no_broker,),
        source=_SHRINKS,
        decides="preferred-2.8 broker 2 01:53:08.842",
        looks_alike="crash-2.8 broker 1 01:52:31.810",
    ),
)
"""By the kind of the period; among those that lagged, the surest first."""
