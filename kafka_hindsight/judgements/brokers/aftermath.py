"""What each outage of a broker did to partitions and groups, when that was over, and all of it in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, pairwise

from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    CoordinatorMove,
    Failover,
    Incident,
    IsrSpan,
    OutOfSyncCount,
    PartitionSnapshot,
)
from kafka_hindsight.judgements.brokers.liveness import SHUTDOWN_LASTS
from kafka_hindsight.judgements.reasoning.evidence import evidence_of
from kafka_hindsight.judgements.reasoning.timelines import Timeline
from kafka_hindsight.shared.absences import is_orderly
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import counted, duration, listed, sentence, times


@dataclass(frozen=True)
class _Impact:
    """What shows the impact of one outage: the rows that name it, and the rows about its broker.

    `again` is when the broker went again; `led` are the failovers that made it a leader, `in_sync` the readings of it.
    """

    outage: BrokerOutage
    again: datetime | None
    caused: Sequence[Failover]
    spans: Sequence[IsrSpan]
    moves: Sequence[CoordinatorMove]
    led: Sequence[Failover]
    in_sync: Sequence[OutOfSyncCount]

    @property
    def lost(self) -> Mapping[tuple[str, int], datetime]:
        """The partitions that it led and lost, and when."""
        return {(f.topic, f.partition): f.happened_at for f in self.caused if f.leader_from == self.outage.broker}

    def unless_again(self, instant: datetime) -> datetime | None:
        """An instant, if it is before the broker went again."""
        return instant if self.again is None or instant < self.again else None


def add_impact(
    outages: Iterable[BrokerOutage],
    failovers: Sequence[Failover],
    isr_spans: Sequence[IsrSpan],
    coordinator_moves: Sequence[CoordinatorMove],
    readings: Iterable[PartitionSnapshot] = (),
    in_sync: Iterable[OutOfSyncCount] = (),
) -> list[BrokerOutage]:
    """Rows of gold.broker_outages with what each outage did to partitions, and when that was over.

    `readings` show what a broker led where no election did, `in_sync` when it was in sync where no line does. Null
    where no evidence shows it, or where it was not over before the broker went again or the lines end.
    """
    rows = sorted(outages, key=lambda o: (o.broker, o.down_at))
    caused, led = grouped(failovers, lambda f: f.outage_id), grouped(failovers, lambda f: f.leader_to)
    spans, moves = grouped(isr_spans, lambda s: s.outage_id), grouped(coordinator_moves, lambda m: m.outage_id)
    counts = grouped(sorted(in_sync, key=lambda r: r.snapshot_at), lambda r: r.broker)
    leaders = grouped(readings, lambda r: r.snapshot_at)
    counted_leaders = Timeline(((at, Counter(r.leader for r in led)) for at, led in leaders.items()), lambda c: c[0])
    impacts = (
        _Impact(
            outage=outage,
            again=after.down_at if after and after.broker == outage.broker else None,
            caused=caused.get(outage.outage_id, ()),
            spans=spans.get(outage.outage_id, ()),
            moves=moves.get(outage.outage_id, ()),
            led=led.get(outage.broker, ()),
            in_sync=counts.get(outage.broker, ()),
        )
        for outage, after in pairwise(chain[BrokerOutage | None](rows, [None]))
        if outage
    )
    return [_with_impact(i, bool(isr_spans), counted_leaders.last_until(i.outage.down_at)) for i in impacts]


def _with_impact(
    impact: _Impact, shows_isrs: bool, leaders: tuple[datetime, Counter[int | None]] | None
) -> BrokerOutage:
    """The outage with its impact. `shows_isrs`: whether any ISR is known. `leaders`: of the last reading before."""
    outage = impact.outage
    by_reading = _recovery_in_readings(impact)
    return replace(
        outage,
        elections=len(impact.caused),
        partitions_led_before=len(impact.lost) or (leaders[1][outage.broker] if leaders else None),
        leadership_restored_at=_restored_at(impact),
        isr_shrinks=len(impact.spans) if shows_isrs else None,
        isr_expands=sum(s.is_back for s in impact.spans) if shows_isrs else None,
        isr_recovered_at=by_reading[-1].snapshot_at if by_reading else _recovered_at(impact),
        coordinator_moves=len(impact.moves),
        group_ids=sorted({*outage.group_ids, *(m.group_id for m in impact.moves)}),
        evidence=evidence_of([*outage.evidence, *(q for r in by_reading for q in r.evidence)]),
    )


def add_rebalances(outages: Iterable[BrokerOutage], incidents: Iterable[Incident]) -> list[BrokerOutage]:
    """What `add_impact` gives, with the rebalances that each outage caused, and what those cost."""
    caused = grouped(incidents, lambda i: i.first_outage_id)
    return [_with_rebalances(outage, caused.get(outage.outage_id, ())) for outage in outages]


def _with_rebalances(outage: BrokerOutage, incidents: Sequence[Incident]) -> BrokerOutage:
    known = [i.partition_seconds for i in incidents if i.partition_seconds is not None]
    return replace(
        outage,
        group_ids=sorted({*outage.group_ids, *(g for i in incidents for g in i.group_ids)}),
        rebalances=sum(i.rebalance_count for i in incidents),
        partition_seconds=round(sum(known), 3) if known else None,
    )


def explain_outages(outages: Iterable[BrokerOutage], restarts: Mapping[str, str]) -> list[BrokerOutage]:
    """What `add_rebalances` gives, with the restart that each outage belongs to, and its impact in sentences."""
    return [
        replace(
            outage,
            restart_id=restarts.get(outage.outage_id),
            explanation=" ".join(filter(None, (outage.explanation, _recovery(outage), _disturbance(outage)))),
        )
        for outage in outages
    ]


def _recovery(outage: BrokerOutage) -> str:
    is_released = is_orderly(outage) and outage.detected_at and outage.detected_at - outage.down_at <= SHUTDOWN_LASTS
    steps = (
        (outage.detected_at, "the controller released it after {}" if is_released else "it was detected after {}"),
        (outage.isr_recovered_at, "it was in every ISR again after {}"),
        (outage.leadership_restored_at, "it led all its former partitions again after {}"),
    )
    parts = [said.format(duration(at - outage.down_at)) for at, said in steps if at is not None]
    if outage.up_at and outage.isr_shrinks and not outage.isr_recovered_at:
        parts.append("no line shows it in every ISR again before it went again or the lines end")
    return f"{sentence(listed(parts))}." if parts else ""


def _disturbance(outage: BrokerOutage) -> str:
    """The coordinators that moved and the rebalances that followed; empty where no group is known to be affected."""
    moves, rebalances, cost = outage.coordinator_moves, outage.rebalances, outage.partition_seconds
    if not moves and not rebalances:
        return ""
    moved = f"Coordinators of groups moved {times(moves)}" if moves else ""
    if not rebalances:
        return f"{moved}, and the outage caused no rebalance."
    costing = f" ({cost:.1f} partition-seconds)" if cost else ""
    caused = f"he outage caused {counted(rebalances, 'rebalance')}{costing}."
    return f"{moved}; t{caused}" if moved else f"T{caused}"


def _restored_at(impact: _Impact) -> datetime | None:
    """When the broker led the last of the lost partitions again."""
    lost: Mapping[tuple[str, int], datetime] = impact.lost
    again: dict[tuple[str, int], datetime] = {}
    for f in impact.led:
        key = f.topic, f.partition
        if key in lost and f.happened_at > lost[key]:
            again[key] = min(f.happened_at, again.get(key, f.happened_at))
    return impact.unless_again(max(again.values())) if lost and lost.keys() == again.keys() else None


def _recovered_at(impact: _Impact) -> datetime | None:
    """When the broker was back in the last of the ISRs that it had left."""
    ends = [s.out_of_sync_until for s in impact.spans]
    known = [end for end in (impact.outage.up_at, *ends) if end is not None]
    return impact.unless_again(max(known)) if ends and len(known) == len(ends) + 1 else None


def _recovery_in_readings(impact: _Impact) -> Sequence[OutOfSyncCount]:
    """The first reading that shows the broker out of an ISR, and the first after it that shows it in every one."""
    up_at = impact.outage.up_at
    if impact.spans or up_at is None:
        return ()
    seen = [r for r in impact.in_sync if impact.outage.down_at <= r.snapshot_at and impact.unless_again(r.snapshot_at)]
    out = next((r for r in seen if r.partitions_out), None)
    if out is None:
        return ()
    since = max(up_at, out.snapshot_at)
    back = next((r for r in seen if not r.partitions_out and r.snapshot_at >= since), None)
    return (out, back) if back else ()
