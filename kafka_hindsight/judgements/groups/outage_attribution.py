"""The outage of a coordinator behind each of a group's rebalances, where there is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from kafka_hindsight.catalog.codes import Cause, Outcome
from kafka_hindsight.catalog.rows import BrokerOutage, Rebalance
from kafka_hindsight.judgements.groups.storms import client_of
from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals, Timeline, intervals
from kafka_hindsight.shared.durations import CATCHING_UP, OUTAGE_SHADOW, RETURN_WITHIN

BROKER_INDUCED_CAUSES = frozenset((Cause.UNKNOWN, *(c for c in Cause if c.noun.is_broker_induced)))
"""What a member or a coordinator suffers when a broker goes, or what nothing else explains. A member that dies, leaves
or is too slow does so by itself."""

Loss = tuple[datetime, str]
"""When the group's partition of `__consumer_offsets` lost its leader, and the outage behind that."""


class OutageLookup:
    """The outages that can have begun a rebalance, by instant."""

    def __init__(self, outages: Sequence[BrokerOutage]) -> None:
        self._by_broker = intervals(outages, lambda o: o.broker, _felt)
        self._by_id = {o.outage_id: _felt(o) for o in outages}
        self._out_of_sync = Intervals(_out_of_sync(o) for o in outages)

    def behind(self, row: Rebalance, losses: Timeline[Loss]) -> BrokerOutage | None:
        """The outage that began the rebalance itself: of several, the one that began last."""
        if row.cause not in BROKER_INDUCED_CAUSES:
            return None
        at = row.started_at
        lost = {outage_id for _, outage_id in losses.near(at, OUTAGE_SHADOW)}
        hits = [self._by_id[i] for i in lost if i in self._by_id and self._by_id[i].holds(at)]
        if row.coordinator in self._by_broker:
            hits += self._by_broker[row.coordinator].at(at)
        if row.cause == Cause.STORAGE_ERROR:
            hits += self._out_of_sync.at(at)
        return max((hit.value for hit in hits), key=lambda o: (o.down_at, o.outage_id), default=None)


def _felt(outage: BrokerOutage) -> Interval[BrokerOutage]:
    """How long the groups that the broker coordinated may suffer from its outage."""
    end = outage.up_at or outage.detected_at or outage.down_at
    return Interval(outage.down_at, end + OUTAGE_SHADOW, outage)


def _out_of_sync(outage: BrokerOutage) -> Interval[BrokerOutage]:
    """How long a coordinator may have been unable to write because this broker was away, or not yet in sync again.

    Source: a write to `__consumer_offsets` fails where fewer than min.insync.replicas are in sync.
    """
    back = outage.isr_recovered_at or outage.up_at
    return Interval(outage.down_at, back and back + CATCHING_UP, outage)


def attribute_to_outages(
    rebalances: Sequence[Rebalance], outages: OutageLookup, losses: Iterable[Loss]
) -> dict[str, BrokerOutage]:
    """The outage behind each rebalance of one group, by rebalance id, for those that an outage began.

    Edge case: what restarts a rebalance that the outage cut short belongs to the outage too, and so does the return of
    a member whose session expired in it.
    """
    lost = Timeline(losses, at=lambda loss: loss[0])
    behind: dict[str, BrokerOutage] = {}
    cut: set[str] = set()
    gone: dict[str, tuple[datetime, BrokerOutage]] = {}
    for row in rebalances:
        outage = outages.behind(row, lost)
        if outage is None and row.follows in cut:
            outage = behind[row.follows]
        if outage is None and row.cause == Cause.MEMBER_REJOINED and client_of(row) in gone:
            expired_at, last = gone[client_of(row)]
            outage = last if row.started_at - expired_at <= RETURN_WITHIN else None
        if outage is None:
            continue
        behind[row.rebalance_id] = outage
        if row.outcome == Outcome.INTERRUPTED:
            cut.add(row.rebalance_id)
        if row.cause == Cause.HEARTBEAT_EXPIRED and client_of(row):
            gone[client_of(row)] = row.started_at, outage
    return behind
