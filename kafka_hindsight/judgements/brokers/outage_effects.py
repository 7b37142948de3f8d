"""The effects of each outage of a broker on partitions and groups, until they were over; and rolling restarts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, pairwise

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import Confidence, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, IsrSpan, RestartStep, RollingRestart
from kafka_hindsight.judgements.brokers.liveness import SHUTDOWN_LASTS
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, ranks_of, row_id
from kafka_hindsight.judgements.reasoning.intents import least_declared
from kafka_hindsight.knowledge.isr_advice import RESTART_ADVICE, RESTART_GAP_MS
from kafka_hindsight.measures.time_away import is_orderly
from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.grouping import grouped, with_neighbours
from kafka_hindsight.shared.timelines import Timeline
from kafka_hindsight.shared.windows import ms_between
from kafka_hindsight.shared.words import counted, duration, listed, sentence, times


def add_impact(
    outages: Iterable[rows.BrokerOutage],
    failovers: Sequence[rows.Failover],
    isr_spans: Sequence[rows.IsrSpan],
    coordinator_moves: Sequence[rows.CoordinatorMove],
    readings: Iterable[rows.PartitionSnapshot] = (),
    in_sync: Iterable[rows.OutOfSyncCount] = (),
) -> list[rows.BrokerOutage]:
    """Add to rows of gold.broker_outages what each outage did to partitions, and when that was over.

    `readings` show what a broker led where no election does, `in_sync` when it was in sync where no line does. A value
    is null where no evidence shows it, or where it was not over before the broker went again or the lines end.
    """
    ordered = sorted(outages, key=lambda o: (o.broker, o.down_at))
    caused_by, led_by = grouped(failovers, lambda f: f.outage_id), grouped(failovers, lambda f: f.leader_to)
    spans_of, moves_of = grouped(isr_spans, lambda s: s.outage_id), grouped(coordinator_moves, lambda m: m.outage_id)
    counts = grouped(sorted(in_sync, key=lambda r: r.snapshot_at), lambda r: r.broker)
    leaders = grouped(readings, lambda r: r.snapshot_at)
    counted_leaders = Timeline(
        ((at, Counter(r.leader for r in partitions)) for at, partitions in leaders.items()), lambda c: c[0]
    )
    with_impact = []
    for _, outage, after in with_neighbours(ordered):
        again_at = after.down_at if after and after.broker == outage.broker else NEVER
        elections, spans = caused_by.get(outage.outage_id, ()), spans_of.get(outage.outage_id, ())
        moves, before = moves_of.get(outage.outage_id, ()), counted_leaders.last_until(outage.down_at)
        lost_at = {(f.topic, f.partition): f.happened_at for f in elections if f.leader_from == outage.broker}
        restored_at = _restored_at(lost_at, led_by.get(outage.broker, ()))
        own_counts = [r for r in counts.get(outage.broker, ()) if outage.down_at <= r.snapshot_at < again_at]
        recovery = () if spans else _recovery_in_readings(outage.up_at, own_counts)
        recovered_at = recovery[-1].snapshot_at if recovery else _recovered_at(outage.up_at, spans)
        with_impact.append(
            replace(
                outage,
                elections=len(elections),
                partitions_led_before=len(lost_at) or (before[1][outage.broker] if before else None),
                leadership_restored_at=restored_at if restored_at and restored_at < again_at else None,
                isr_shrinks=len(spans) if isr_spans else None,
                isr_expands=sum(s.is_back for s in spans) if isr_spans else None,
                isr_recovered_at=recovered_at if recovered_at and recovered_at < again_at else None,
                coordinator_moves=len(moves),
                group_ids=sorted({*outage.group_ids, *(m.group_id for m in moves)}),
                evidence=evidence_of(*ranks_of([outage.evidence]), (q for r in recovery for q in r.evidence)),
            )
        )
    return with_impact


def add_rebalances(outages: Iterable[rows.BrokerOutage], incidents: Iterable[rows.Incident]) -> list[rows.BrokerOutage]:
    """Add to the rows of `add_impact` the rebalances that each outage caused, and what those cost."""
    incidents_of = grouped(incidents, lambda i: i.first_outage_id)
    return [_with_rebalances(outage, incidents_of.get(outage.outage_id, ())) for outage in outages]


def _with_rebalances(outage: rows.BrokerOutage, incidents: Sequence[rows.Incident]) -> rows.BrokerOutage:
    costs = [i.partition_seconds for i in incidents if i.partition_seconds is not None]
    return replace(
        outage,
        group_ids=sorted({*outage.group_ids, *(g for i in incidents for g in i.group_ids)}),
        rebalances=sum(i.rebalance_count for i in incidents),
        partition_seconds=round(sum(costs), 3) if costs else None,
    )


def explain_outages(outages: Iterable[rows.BrokerOutage], restarts: Mapping[str, str]) -> list[rows.BrokerOutage]:
    """Add to the rows of `add_rebalances` the restart that each outage belongs to, and its impact in sentences."""
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
    detection = "the controller released it after {}" if is_released else "the controller noticed after {}"
    steps = (
        (outage.detected_at, detection),
        (outage.isr_recovered_at, "its replicas were back in sync after {}"),
        (outage.leadership_restored_at, "it led all its former partitions again after {}"),
    )
    parts = [text.format(duration(at - outage.down_at)) for at, text in steps if at is not None]
    if outage.up_at and outage.isr_shrinks and not outage.isr_recovered_at:
        parts.append("no line shows its replicas back in sync before its next outage or the end of the logs")
    return f"{sentence(listed(parts))}." if parts else ""


def _disturbance(outage: rows.BrokerOutage) -> str:
    """The coordinators that moved and the rebalances that followed; empty where no group is known to be affected."""
    moves, rebalances, cost = outage.coordinator_moves, outage.rebalances, outage.partition_seconds
    if not moves and not rebalances:
        return ""
    moves_text = f"Group coordinators moved {times(moves)}" if moves else ""
    if not rebalances:
        return f"{moves_text}, and the outage caused no rebalance."
    costing = f" (at most {cost:.1f} partition-seconds)" if cost else ""
    outage_text = f"outage caused {counted(rebalances, 'rebalance')}{costing}."
    return f"{moves_text}; the {outage_text}" if moves_text else f"The {outage_text}"


def _restored_at(lost_at: Mapping[tuple[str, int], datetime], failovers: Iterable[rows.Failover]) -> datetime | None:
    """The instant at which the broker led the last of the lost partitions again; None where it did not lead all."""
    back_at: dict[tuple[str, int], datetime] = {}
    for f in failovers:
        key = f.topic, f.partition
        if key in lost_at and f.happened_at > lost_at[key]:
            back_at[key] = min(f.happened_at, back_at.get(key, f.happened_at))
    return max(back_at.values()) if lost_at and lost_at.keys() == back_at.keys() else None


def _recovered_at(up_at: datetime | None, spans: Sequence[rows.IsrSpan]) -> datetime | None:
    """The instant at which the broker was back in the last of the ISRs that it had left."""
    ends = [s.out_of_sync_until for s in spans]
    instants = [end for end in (up_at, *ends) if end is not None]
    return max(instants) if ends and len(instants) == len(ends) + 1 else None


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


_GAP = timedelta(milliseconds=RESTART_GAP_MS)
_QUOTED = 2


def rebuild_rolling_restarts(
    outages: Iterable[BrokerOutage], isr_spans: Sequence[IsrSpan], known_brokers: Collection[int]
) -> tuple[list[RollingRestart], dict[str, str]]:
    """Rows of gold.rolling_restarts by start, and the restart of each outage that belongs to one.

    A restart: at least two brokers that were shut down in order and came back, each once, one after another. A broker
    that crashed in between and came back belongs to it. `known_brokers`: all of which anything is known.
    """
    back = sorted((o for o in outages if o.up_at is not None), key=lambda o: (o.down_at, o.broker))
    orderly = [o for o in back if o.kind == OutageKind.CONTROLLED_SHUTDOWN]
    others = [o for o in back if o.kind != OutageKind.CONTROLLED_SHUTDOWN]
    spans_of = grouped(isr_spans, lambda s: s.outage_id)
    rows = []
    restart_of: dict[str, str] = {}
    for stops in _chains(orderly):
        members = _with_crashes(stops, others)
        row = _row(members, [[*spans_of.get(o.outage_id, ())] for o in members], known_brokers)
        rows.append(row)
        restart_of |= {o.outage_id: row.restart_id for o in members}
    return rows, restart_of


def _chains(orderly: Sequence[BrokerOutage]) -> list[list[BrokerOutage]]:
    """Stops that follow one another, the nearest joined first.

    So the second stop of a broker separates two restarts where they lie farthest apart.
    """
    chain_of = {n: [n] for n in range(len(orderly))}
    waits = sorted((_wait_between(before, after), n) for n, (before, after) in enumerate(pairwise(orderly)))
    for wait, n in waits:
        members = [*chain_of[n], *chain_of[n + 1]]
        if wait <= _GAP and len({orderly[i].broker for i in members}) == len(members):
            chain_of |= dict.fromkeys(members, members)
    chains = ([orderly[i] for i in places] for n, places in chain_of.items() if n == places[0])
    # A cluster that was stopped as a whole, so that all brokers were down at once, is not a rolling restart.
    return [s for s in chains if len(s) > 1 and max(o.down_at for o in s) >= min(map(_up_at, s))]


def _up_at(outage: BrokerOutage) -> datetime:
    """The instant at which a broker served again. An outage without an end belongs to no restart."""
    assert outage.up_at is not None
    return outage.up_at


def _wait_between(before: BrokerOutage, after: BrokerOutage) -> timedelta:
    """How long after a broker was back in every ISR the next one was stopped."""
    up_at = _up_at(before)
    return max(timedelta(), after.down_at - max(up_at, before.isr_recovered_at or up_at))


def _with_crashes(stops: Sequence[BrokerOutage], others: Iterable[BrokerOutage]) -> list[BrokerOutage]:
    """The stops with the first crash in between of each broker that was not restarted otherwise."""
    brokers = {o.broker for o in stops}
    between = (o for o in others if stops[0].down_at < o.down_at < stops[-1].down_at and o.broker not in brokers)
    first_crashes = [crashes[0] for crashes in grouped(between, lambda o: o.broker).values()]
    return sorted([*stops, *first_crashes], key=lambda o: (o.down_at, o.broker))


def _row(
    members: Sequence[BrokerOutage], spans: Sequence[Sequence[IsrSpan]], known_brokers: Collection[int]
) -> RollingRestart:
    """The restart of these outages; `spans` are each one's."""
    cluster, started_at, ended_at = members[0].cluster, members[0].down_at, max(map(_up_at, members))
    steps = [_step(o, members[:n], spans[:n]) for n, o in enumerate(members)]
    brokers = [o.broker for o in members]
    is_complete = {*known_brokers} <= {*brokers}
    missing = _most_at_once([*chain.from_iterable(spans)])
    who = f"All {len(steps)} brokers" if is_complete else f"{len(steps)} brokers"
    sentences = (
        f"{who} were restarted one after another in {duration(ended_at - started_at)}: {', '.join(map(str, brokers))}.",
        *_recovery_of_steps(steps),
        *_troubles(steps),
        f"At most {missing} partitions lacked a replica at once.",
    )
    return RollingRestart(
        cluster=cluster,
        restart_id=row_id(cluster, "rolling_restart", *(s.outage_id for s in steps)),
        started_at=started_at,
        ended_at=ended_at,
        brokers=brokers,
        intent=least_declared(o.intent for o in members),
        is_complete=is_complete,
        scorecard=steps,
        elections=sum(s.elections for s in steps),
        rebalances=sum(o.rebalances or 0 for o in members),
        max_under_replicated=missing,
        # Stops of all of three brokers or more are hardly a coincidence.
        confidence=Confidence.LIKELY if is_complete and len(members) > 2 else Confidence.POSSIBLE,
        explanation=" ".join(sentences),
        advice=RESTART_ADVICE[any(s.is_early for s in steps)],
        evidence=evidence_of(q for o in members for q in o.evidence[:_QUOTED]),
    )


def _step(outage: BrokerOutage, before: Sequence[BrokerOutage], spans: Sequence[Sequence[IsrSpan]]) -> RestartStep:
    down_at, recovered_at, restored_at = outage.down_at, outage.isr_recovered_at, outage.leadership_restored_at
    return RestartStep(
        broker=outage.broker,
        outage_id=outage.outage_id,
        kind=outage.kind,
        down_at=down_at,
        up_at=outage.up_at,
        isr_recovered_ms=ms_between(down_at, recovered_at) if recovered_at else None,
        leadership_restored_ms=ms_between(down_at, restored_at) if restored_at else None,
        is_early=_is_early(down_at, before, spans),
        partitions_led_before=outage.partitions_led_before,
        elections=outage.elections or 0,
    )


def _is_early(down_at: datetime, before: Sequence[BrokerOutage], spans: Sequence[Sequence[IsrSpan]]) -> bool | None:
    """Whether a broker was stopped while one restarted before it was still missing from an ISR; null: not known."""
    lacking = [s for own in spans for s in own if s.happened_at <= down_at < (s.out_of_sync_until or NEVER)]
    is_shown = any(s.observed_until is None or down_at < s.observed_until for s in lacking)
    if is_shown or any(_up_at(o) > down_at for o in before):
        return True
    recoveries = (
        own or (o.isr_recovered_at and o.isr_recovered_at <= down_at) for o, own in zip(before, spans, strict=True)
    )
    return False if all(recoveries) and not lacking else None


def _most_at_once(spans: Sequence[IsrSpan]) -> int:
    """The most partitions that lacked a broker at one instant; a partition that lacks two counts once."""
    steps = [(s.happened_at, 1, (s.topic, s.partition)) for s in spans]
    steps += [(s.out_of_sync_until, -1, (s.topic, s.partition)) for s in spans if s.out_of_sync_until is not None]
    lacking: Counter[tuple[str, int]] = Counter()
    missing = most = 0
    for _, step, partition in sorted(steps):
        missing -= lacking[partition] > 0
        lacking[partition] += step
        missing += lacking[partition] > 0
        most = max(most, missing)
    return most


def _recovery_of_steps(steps: Sequence[RestartStep]) -> list[str]:
    lengths = sorted(s.isr_recovered_ms for s in steps if s.isr_recovered_ms is not None)
    if not lengths:
        return []
    low, high = round(lengths[0] / 1000, 1), round(lengths[-1] / 1000, 1)
    which = "Each" if len(lengths) == len(steps) else f"{len(lengths)} of them"
    return [f"{which} was back in every ISR after {low if low == high else f'{low} to {high}'} s."]


def _troubles(steps: Iterable[RestartStep]) -> Iterator[str]:
    for step in steps:
        if step.is_early:
            yield f"Broker {step.broker} was stopped too early: an ISR still lacked a broker that was restarted before."
        if step.kind != OutageKind.CONTROLLED_SHUTDOWN:
            yield f"Broker {step.broker} had no controlled shutdown ({step.kind})."
