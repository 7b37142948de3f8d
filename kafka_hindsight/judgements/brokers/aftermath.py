"""What each outage of a broker did to partitions and groups, when that was over, and all of it in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.brokers.liveness import SHUTDOWN_LASTS
from kafka_hindsight.judgements.reasoning.evidence import evidence_of
from kafka_hindsight.judgements.reasoning.timelines import Timeline
from kafka_hindsight.shared.absences import is_orderly
from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import counted, duration, listed, sentence, times


def add_impact(
    outages: Iterable[rows.BrokerOutage],
    failovers: Sequence[rows.Failover],
    isr_spans: Sequence[rows.IsrSpan],
    coordinator_moves: Sequence[rows.CoordinatorMove],
    readings: Iterable[rows.PartitionSnapshot] = (),
    in_sync: Iterable[rows.OutOfSyncCount] = (),
) -> list[rows.BrokerOutage]:
    """Rows of gold.broker_outages with what each outage did to partitions, and when that was over.

    `readings` show what a broker led where no election did, `in_sync` when it was in sync where no line does. Null
    where no evidence shows it, or where it was not over before the broker went again or the lines end.
    """
    ordered = sorted(outages, key=lambda o: (o.broker, o.down_at))
    caused_by, led_by = grouped(failovers, lambda f: f.outage_id), grouped(failovers, lambda f: f.leader_to)
    spans_of, moves_of = grouped(isr_spans, lambda s: s.outage_id), grouped(coordinator_moves, lambda m: m.outage_id)
    counts = grouped(sorted(in_sync, key=lambda r: r.snapshot_at), lambda r: r.broker)
    leaders = grouped(readings, lambda r: r.snapshot_at)
    counted_leaders = Timeline(((at, Counter(r.leader for r in led)) for at, led in leaders.items()), lambda c: c[0])
    judged = []
    for outage, after in zip(ordered, [*ordered[1:], None], strict=False):
        again_at = after.down_at if after and after.broker == outage.broker else NEVER
        caused, spans = caused_by.get(outage.outage_id, ()), spans_of.get(outage.outage_id, ())
        moves, before = moves_of.get(outage.outage_id, ()), counted_leaders.last_until(outage.down_at)
        lost = {(f.topic, f.partition): f.happened_at for f in caused if f.leader_from == outage.broker}
        restored_at = _restored_at(lost, led_by.get(outage.broker, ()))
        read = [r for r in counts.get(outage.broker, ()) if outage.down_at <= r.snapshot_at < again_at]
        shown = () if spans else _recovery_in_readings(outage.up_at, read)
        recovered_at = shown[-1].snapshot_at if shown else _recovered_at(outage.up_at, spans)
        judged.append(
            replace(
                outage,
                elections=len(caused),
                partitions_led_before=len(lost) or (before[1][outage.broker] if before else None),
                leadership_restored_at=restored_at if restored_at and restored_at < again_at else None,
                isr_shrinks=len(spans) if isr_spans else None,
                isr_expands=sum(s.is_back for s in spans) if isr_spans else None,
                isr_recovered_at=recovered_at if recovered_at and recovered_at < again_at else None,
                coordinator_moves=len(moves),
                group_ids=sorted({*outage.group_ids, *(m.group_id for m in moves)}),
                evidence=evidence_of([*outage.evidence, *(q for r in shown for q in r.evidence)]),
            )
        )
    return judged


def add_rebalances(outages: Iterable[rows.BrokerOutage], incidents: Iterable[rows.Incident]) -> list[rows.BrokerOutage]:
    """What `add_impact` gives, with the rebalances that each outage caused, and what those cost."""
    caused = grouped(incidents, lambda i: i.first_outage_id)
    return [_with_rebalances(outage, caused.get(outage.outage_id, ())) for outage in outages]


def _with_rebalances(outage: rows.BrokerOutage, incidents: Sequence[rows.Incident]) -> rows.BrokerOutage:
    known = [i.partition_seconds for i in incidents if i.partition_seconds is not None]
    return replace(
        outage,
        group_ids=sorted({*outage.group_ids, *(g for i in incidents for g in i.group_ids)}),
        rebalances=sum(i.rebalance_count for i in incidents),
        partition_seconds=round(sum(known), 3) if known else None,
    )


def explain_outages(outages: Iterable[rows.BrokerOutage], restarts: Mapping[str, str]) -> list[rows.BrokerOutage]:
    """What `add_rebalances` gives, with the restart that each outage belongs to, and its impact in sentences."""
    return [
        replace(
            outage,
            restart_id=restarts.get(outage.outage_id),
            explanation=" ".join(filter(None, (outage.explanation, _recovery(outage), _disturbance(outage)))),
        )
        for outage in outages
    ]


def _recovery(outage: rows.BrokerOutage) -> str:
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


def _disturbance(outage: rows.BrokerOutage) -> str:
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


def _restored_at(lost: Mapping[tuple[str, int], datetime], led: Iterable[rows.Failover]) -> datetime | None:
    """When the broker led the last of the lost partitions again."""
    again: dict[tuple[str, int], datetime] = {}
    for f in led:
        key = f.topic, f.partition
        if key in lost and f.happened_at > lost[key]:
            again[key] = min(f.happened_at, again.get(key, f.happened_at))
    return max(again.values()) if lost and lost.keys() == again.keys() else None


def _recovered_at(up_at: datetime | None, spans: Sequence[rows.IsrSpan]) -> datetime | None:
    """When the broker was back in the last of the ISRs that it had left."""
    ends = [s.out_of_sync_until for s in spans]
    known = [end for end in (up_at, *ends) if end is not None]
    return max(known) if ends and len(known) == len(ends) + 1 else None


def _recovery_in_readings(
    up_at: datetime | None, readings: Sequence[rows.OutOfSyncCount]
) -> Sequence[rows.OutOfSyncCount]:
    """The first reading that shows the broker out of an ISR, and the first after it that shows it in every one."""
    out = next((r for r in readings if r.partitions_out), None)
    if up_at is None or out is None:
        return ()
    since = max(up_at, out.snapshot_at)
    back = next((r for r in readings if not r.partitions_out and r.snapshot_at >= since), None)
    return (out, back) if back else ()
