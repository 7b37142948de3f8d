"""Rolling restarts: brokers that were restarted one after another, with a scorecard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain, pairwise

from kafka_hindsight.catalog.codes import Confidence, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, IsrSpan, RestartStep, RollingRestart
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.judgements.reasoning.intents import least_declared
from kafka_hindsight.knowledge.isr import RESTART_ADVICE, RESTART_GAP_MS
from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import elapsed_ms
from kafka_hindsight.shared.words import duration

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
    """Stops that follow one another, the nearest joined first: so the second stop of a broker separates two restarts
    where they lie farthest apart."""
    chain_of = {n: [n] for n in range(len(orderly))}
    waits = sorted((_waited(before, after), n) for n, (before, after) in enumerate(pairwise(orderly)))
    for waited, n in waits:
        joined = [*chain_of[n], *chain_of[n + 1]]
        if waited <= _GAP and len({orderly[i].broker for i in joined}) == len(joined):
            chain_of |= dict.fromkeys(joined, joined)
    chains = ([orderly[i] for i in places] for n, places in chain_of.items() if n == places[0])
    # A cluster that was stopped as a whole, so that all brokers were down at once, is not a rolling restart.
    return [s for s in chains if len(s) > 1 and max(o.down_at for o in s) >= min(map(_up_at, s))]


def _up_at(outage: BrokerOutage) -> datetime:
    """When a broker served again. Outages without an end are in no restart."""
    assert outage.up_at is not None
    return outage.up_at


def _waited(before: BrokerOutage, after: BrokerOutage) -> timedelta:
    """How long after a broker was back in every ISR the next one was stopped."""
    up_at = _up_at(before)
    return max(timedelta(), after.down_at - max(up_at, before.isr_recovered_at or up_at))


def _with_crashes(stops: Sequence[BrokerOutage], others: Iterable[BrokerOutage]) -> list[BrokerOutage]:
    """The stops with the first crash in between of each broker that was not restarted otherwise."""
    restarted = {o.broker for o in stops}
    between = (o for o in others if stops[0].down_at < o.down_at < stops[-1].down_at and o.broker not in restarted)
    crashed = [crashes[0] for crashes in grouped(between, lambda o: o.broker).values()]
    return sorted([*stops, *crashed], key=lambda o: (o.down_at, o.broker))


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
        *_recovery(steps),
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
    down_at, recovered, restored = outage.down_at, outage.isr_recovered_at, outage.leadership_restored_at
    return RestartStep(
        broker=outage.broker,
        outage_id=outage.outage_id,
        kind=outage.kind,
        down_at=down_at,
        up_at=outage.up_at,
        isr_recovered_ms=elapsed_ms(down_at, recovered) if recovered else None,
        leadership_restored_ms=elapsed_ms(down_at, restored) if restored else None,
        is_early=_is_early(down_at, before, spans),
        partitions_led_before=outage.partitions_led_before,
        elections=outage.elections or 0,
    )


def _is_early(down_at: datetime, before: Sequence[BrokerOutage], spans: Sequence[Sequence[IsrSpan]]) -> bool | None:
    """Whether a broker was stopped while one restarted before it was still missing from an ISR; null: not known."""
    lacking = (s for own in spans for s in own if s.happened_at <= down_at < (s.out_of_sync_until or NEVER))
    if any(_up_at(o) > down_at for o in before) or any(lacking):
        return True
    shown = (
        own or (o.isr_recovered_at and o.isr_recovered_at <= down_at) for o, own in zip(before, spans, strict=True)
    )
    return False if all(shown) else None


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


def _recovery(steps: Sequence[RestartStep]) -> list[str]:
    known = sorted(s.isr_recovered_ms for s in steps if s.isr_recovered_ms is not None)
    if not known:
        return []
    low, high = round(known[0] / 1000, 1), round(known[-1] / 1000, 1)
    which = "Each" if len(known) == len(steps) else f"{len(known)} of them"
    return [f"{which} was back in every ISR after {low if low == high else f'{low} to {high}'} s."]


def _troubles(steps: Iterable[RestartStep]) -> Iterator[str]:
    for step in steps:
        if step.is_early:
            yield f"Broker {step.broker} was stopped while a broker restarted before it was missing from an ISR."
        if step.kind != OutageKind.CONTROLLED_SHUTDOWN:
            yield f"Broker {step.broker} was not shut down in order ({step.kind})."
