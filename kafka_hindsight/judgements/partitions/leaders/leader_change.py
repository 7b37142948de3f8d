"""One change of leader of one partition, with what its verdicts look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from kafka_hindsight.catalog.rows import BrokerOutage, Event
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.partitions.incarnations import Incarnation
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.shared.durations import CLOCK_SKEW

PREFERRED = ("PREFERRED", "electPreferred", "maybeBalancePartitionLeaders")
UNCLEAN = ("UNCLEAN", "electUnclean", "maybeElectUncleanLeaders")
"""What lines call elections of these types, and Kafka's own tasks that hold them."""


@dataclass(frozen=True)
class LeaderChange:
    """One change of leader of one partition, and what is known around it.

    `last_leader` is the last broker that led, also where no broker led in between; `isr_is_last` says that no commit
    lies between `isr_before` and the change.
    """

    incarnation: Incarnation
    before: Leadership
    after: Leadership
    at: datetime
    last_leader: int | None
    isr_before: tuple[int, ...] | None
    isr_is_last: bool
    context: ClusterContext

    @property
    def former(self) -> int:
        """The leader before the change."""
        return self.before.leader

    @property
    def new(self) -> int:
        """The leader after the change."""
        return self.after.leader

    @property
    def partition(self) -> str:
        """Topic and partition, as Kafka writes them."""
        return self.incarnation.name

    @property
    def eligible(self) -> set[int]:
        """The replicas that could lead without a loss: those of the last known ISR and of the ELR."""
        return {*(self.isr_before or ()), *self.before.elr}

    @cached_property
    def replicas(self) -> tuple[int, ...] | None:
        """The partition's replicas at that time, the preferred leader first."""
        return self.incarnation.replicas_at(self.at)

    @cached_property
    def outage(self) -> BrokerOutage | None:
        """The outage of the former leader in which the change happened."""
        if self.after.is_exact or self.before.at is None:
            return self.context.outage_at(self.former, self.at)
        return self.context.outage_between(self.former, self.before.at, self.at)

    @cached_property
    def is_by_zookeeper(self) -> bool:
        """Whether a line of the partition is one that only controllers in ZooKeeper mode print."""
        return any(e.kind in ("partition_state_changed", "replica_removed_from_isr") for e in self.incarnation.events)

    def nearby(self, kind: str) -> list[Event]:
        """The partition's events of a kind at that time, as far as the clocks of two brokers may differ."""
        return [e for e in self.incarnation.events_by_time.near(self.at, CLOCK_SKEW) if e.kind == kind]

    def elections(self, reasons: Sequence[str]) -> list[Event]:
        """The lines of a controller that starts elections for these reasons, this partition's among them. KRaft's
        periodic task names no partition.
        """
        near = self.context.elections_by_time.near(self.at, CLOCK_SKEW)
        is_in = (e for e in near if e.kind == "periodic_election" or self.partition in (e.members or "").split(","))
        return [e for e in is_in if e.reason in reasons]
