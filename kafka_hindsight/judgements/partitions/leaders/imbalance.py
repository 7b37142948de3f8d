"""How far leadership has drifted from the preferred leaders, broker by broker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise, product
from operator import attrgetter

from kafka_hindsight.catalog.codes import FailoverKind, ImbalanceEnd, Origin
from kafka_hindsight.catalog.nouns.partitions import NO_KNOWN_END
from kafka_hindsight.catalog.rows import BrokerSnapshot, Failover, ImbalancePeriod, LeaderImbalance, PartitionSnapshot
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_snapshot, row_id
from kafka_hindsight.shared.durations import CLOCK_SKEW, MS
from kafka_hindsight.shared.grouping import grouped, runs, with_neighbours
from kafka_hindsight.shared.timelines import NO_SLACK, Timeline, by_instant
from kafka_hindsight.shared.words import bounded, duration, percent

THRESHOLD = 0.10
"""Strictly above is too much. Source: leader.imbalance.per.broker.percentage (KafkaController, ZooKeeper mode);
KRaft moves any partition back and ignores the percentage."""

_NAMED = 5
_READING, _PREFERRED = attrgetter("cluster", "snapshot_id"), attrgetter("preferred_leader")


def rebuild_imbalance(
    partition_snapshots: Iterable[PartitionSnapshot], broker_snapshots: Iterable[BrokerSnapshot] = ()
) -> list[LeaderImbalance]:
    """Rows of gold.leader_imbalance: one for each broker in each reading, in this order.

    The preferred partitions of all brokers of a reading add up to the partitions whose replicas are known. A broker
    that is gone is still preferred for its partitions, which other brokers lead; a broker that is preferred for none
    has no ratio; a partition without a leader counts as led elsewhere.
    """
    partition_snapshots = list(partition_snapshots)
    readings = grouped((p for p in partition_snapshots if p.preferred_leader is not None), _READING)
    unknown = Counter(_READING(p) for p in partition_snapshots if p.preferred_leader is None)
    broker_lists = grouped(broker_snapshots, _READING)
    rows = []
    for key, partitions in readings.items():
        preferred = grouped(partitions, _PREFERRED)
        hosting = {broker for p in partitions for broker in p.replicas or ()}
        for broker in {*preferred, *hosting, *(b.broker for b in broker_lists.get(key, ()))}:
            rows.append(_row(partitions[0], broker, preferred.get(broker, ()), unknown[key]))
    return sorted(rows, key=lambda r: (r.cluster, r.snapshot_at, r.broker))


def _row(
    reading: PartitionSnapshot, broker: int, partitions: Sequence[PartitionSnapshot], unknown: int
) -> LeaderImbalance:
    elsewhere = sorted((p for p in partitions if p.leader != broker), key=lambda p: (p.topic, p.partition))
    ratio = len(elsewhere) / len(partitions) if partitions else None
    shows = f"broker {broker} is the first replica of {len(partitions)} partitions and leads all but {len(elsewhere)}"
    if elsewhere:
        leaders = [(p, "no leader" if p.leader is None else f"led by {p.leader}") for p in elsewhere[:_NAMED]]
        examples = ", ".join(f"{p.topic}-{p.partition} ({leader})" for p, leader in leaders)
        shows += f": {examples}{', ...' if len(elsewhere) > _NAMED else ''}"
    return LeaderImbalance(
        cluster=reading.cluster,
        snapshot_at=reading.snapshot_at,
        broker=broker,
        origin=Origin.SNAPSHOT,
        preferred_partitions=len(partitions),
        led_elsewhere=len(elsewhere),
        unknown_partitions=unknown,
        ratio=ratio,
        over_threshold=ratio is not None and ratio > THRESHOLD,
        evidence=[quote_snapshot(reading, shows)],
    )


@dataclass(frozen=True)
class _Crossing:
    """An instant at which a broker crossed the threshold; `change` is the failover that made it, where it is known."""

    at: datetime
    is_exact: bool
    change: Failover | None


@dataclass(frozen=True)
class _ReadingsAbove:
    """Readings of a broker above the threshold in a row, the one before, and the next where it knows the broker."""

    before: LeaderImbalance | None
    readings: Sequence[LeaderImbalance]
    ended_by: datetime | None = None
    after: LeaderImbalance | None = None


def rebuild_imbalance_periods(
    imbalance: Iterable[LeaderImbalance], failovers: Iterable[Failover]
) -> list[ImbalancePeriod]:
    """Rows of gold.imbalance_periods by broker and time: one for each time that a broker was above the threshold.

    Between two readings the changes of leader are replayed. Where they lead from the one to the other, the change that
    crosses the threshold is known. Before the first reading they are undone one by one, which is less sure: topics may
    have been created since. A reading that does not know the broker ends a period, as the broker is then preferred for
    no partition; one that does not know whether the broker is above the threshold adds nothing. The instants of logs
    that stand for readings are read in the same way. `imbalance` holds all rows of the window, with evidence only where
    one is above the threshold; `failovers` are of the same cluster, with look-back.
    """
    rows = sorted(imbalance, key=lambda r: r.snapshot_at)
    instants = sorted({r.snapshot_at for r in rows})
    in_order = sorted(failovers, key=lambda f: (f.happened_at, f.topic, f.partition, f.epoch_to))
    changes_of = grouped((f for f in in_order if f.preferred_leader in (f.leader_from, f.leader_to)), _PREFERRED)
    periods = []
    for broker, own in sorted(grouped(rows, lambda r: r.broker).items()):
        changes, row_at = by_instant(changes_of.get(broker, ())), {r.snapshot_at: r for r in own}
        own_instants = [at for at in instants if at not in row_at or row_at[at].over_threshold is not None]
        periods += [_period_row(run, _start(run, changes), _end(run, changes)) for run in _runs(own_instants, row_at)]
    return periods


def _runs(instants: Sequence[datetime], row_at: Mapping[datetime, LeaderImbalance]) -> Iterator[_ReadingsAbove]:
    def is_above(at: datetime) -> bool:
        return at in row_at and row_at[at].over_threshold is True

    stretches = runs(instants, lambda run, at: is_above(run[-1]) and is_above(at))
    for before, own, after in with_neighbours(stretches):
        if is_above(own[0]):
            earlier, rows = row_at.get(before[0]) if before else None, [row_at[at] for at in own]
            yield _ReadingsAbove(earlier, rows, *((after[0], row_at.get(after[0])) if after else ()))


def _start(run: _ReadingsAbove, changes: Timeline[Failover]) -> _Crossing:
    first = run.readings[0]
    if run.before is None:
        return _crossing_before(first, changes)
    return _crossing_between(run.before, first, changes, is_start=True)


def _end(run: _ReadingsAbove, changes: Timeline[Failover]) -> _Crossing | None:
    if run.ended_by is None:
        return None
    if run.after is None:
        return _Crossing(run.ended_by, False, None)
    return _crossing_between(run.readings[-1], run.after, changes, is_start=False)


def _crossing_between(
    earlier: LeaderImbalance, later: LeaderImbalance, changes: Timeline[Failover], *, is_start: bool
) -> _Crossing:
    """The crossing that the changes between two readings show: the last above the threshold, or the first below it.

    Partitions may have been created in between: the change must be the same by the broker's number of preferred
    partitions before, and by that after. Where none is, the later reading shows the crossing, and the changes away from
    the broker, or back to it, their kind.
    """
    agreeing = _agreeing(earlier, later, changes)
    crossing, other = (
        _crossing_change(earlier.led_elsewhere, preferred, agreeing, is_start)
        for preferred in (earlier.preferred_partitions, later.preferred_partitions)
    )
    if crossing is None or crossing != other:
        between = _between(earlier.snapshot_at, later.snapshot_at, changes)
        own = [f for f in between if (f.leader_from if is_start else f.leader_to) == later.broker]
        return _Crossing(later.snapshot_at, False, _commonest(own))
    return _Crossing(max(earlier.snapshot_at, min(crossing.happened_at, later.snapshot_at)), True, crossing)


def _crossing_change(count: int, preferred: int, changes: Sequence[Failover], is_start: bool) -> Failover | None:
    """The change at which a broker crosses the threshold upwards last, or downwards first."""
    above = [_is_above(n, preferred) for n in accumulate(map(_step, changes), initial=count)]
    crossings = [c for c, (was, now) in zip(changes, pairwise(above), strict=True) if was != now == is_start]
    return next(iter(crossings[-1:] if is_start else crossings), None)


def _between(since: datetime, until: datetime, changes: Timeline[Failover]) -> list[Failover]:
    return [f for f in changes.between(since, until) if f.happened_at > since]


def _agreeing(earlier: LeaderImbalance, later: LeaderImbalance, changes: Timeline[Failover]) -> list[Failover]:
    """The changes that lead from one reading to the next; none where those that are known do not.

    A reading takes a moment, so it may show changes just after its instant.
    """
    for since_late, until_late in product((NO_SLACK, CLOCK_SKEW), repeat=2):
        between = _between(earlier.snapshot_at + since_late, later.snapshot_at + until_late, changes)
        if earlier.led_elsewhere + sum(map(_step, between)) == later.led_elsewhere:
            return between
    return []


def _commonest(changes: Sequence[Failover]) -> Failover | None:
    """The last of the changes that have the most common kind and outage."""
    counts = Counter((f.kind, f.outage_id) for f in changes)
    return max(changes, key=lambda f: (counts[f.kind, f.outage_id], f.happened_at), default=None)


def _crossing_before(first: LeaderImbalance, changes: Timeline[Failover]) -> _Crossing:
    """The change that crossed the threshold before the first reading, as far as the changes lead back to it."""
    count = first.led_elsewhere
    for change in reversed(changes.until(first.snapshot_at)):
        count -= _step(change)
        if not 0 <= count <= first.preferred_partitions:
            break
        if not _is_above(count, first.preferred_partitions):
            return _Crossing(change.happened_at, False, change)
    return _Crossing(first.snapshot_at, False, None)


def _step(change: Failover) -> int:
    """How many more of its preferred partitions are led elsewhere, after a change of leader."""
    return int(change.leader_to != change.preferred_leader) - int(change.leader_from != change.preferred_leader)


def _is_above(count: int, preferred: int) -> bool:
    return preferred > 0 and count / preferred > THRESHOLD


def _period_row(run: _ReadingsAbove, start: _Crossing, end: _Crossing | None) -> ImbalancePeriod:
    first, last = run.readings[0], run.readings[-1]
    worst = max(run.readings, key=lambda r: (_least_ratio(r), -r.snapshot_at.timestamp()))
    origin = ended_by(end.change if end else None)
    noun = origin.noun if origin else NO_KNOWN_END
    return ImbalancePeriod(
        cluster=worst.cluster,
        imbalance_period_id=row_id(worst.cluster, "imbalance", worst.broker, first.snapshot_at),
        broker=worst.broker,
        origin=worst.origin,
        started_at=start.at,
        started_at_is_exact=start.is_exact,
        ended_at=end.at if end else None,
        ended_at_is_exact=end is not None and end.is_exact,
        first_reading_at=first.snapshot_at,
        last_reading_at=last.snapshot_at,
        readings=len(run.readings),
        max_ratio=_least_ratio(worst),
        worst_at=worst.snapshot_at,
        preferred_partitions=worst.preferred_partitions,
        led_elsewhere=worst.led_elsewhere,
        started_by=start.change.kind if start.change else None,
        outage_id=start.change.outage_id if start.change else None,
        ended_by=origin,
        explanation=f"{_beginning(worst, start)} {_ending(last, start, end, noun.sentence)}",
        advice=noun.advice,
        evidence=evidence_of(q for r in (first, worst, last) for q in r.evidence),
    )


def _least_ratio(row: LeaderImbalance) -> float:
    """The ratio, or the least possible one where the first replica or the leader of some partitions is not known."""
    possible = row.preferred_partitions + (row.unknown_partitions or 0)
    return row.led_elsewhere / possible if possible else 0.0


def _beginning(worst: LeaderImbalance, start: _Crossing) -> str:
    why = f", {start.change.kind.noun.clause}" if start.change else ""
    since = f"{'' if start.is_exact else 'at least '}since {start.at:%H:%M:%S}"
    own = worst.preferred_partitions - worst.led_elsewhere
    partitions = f"{own} of the {worst.preferred_partitions} partitions"
    drift = f"{partitions} that prefer broker {worst.broker} were led by it at worst"
    return f"{drift} ({percent(_least_ratio(worst))} elsewhere), {since}{why}."


def _ending(last: LeaderImbalance, start: _Crossing, end: _Crossing | None, how: str) -> str:
    if end is None:
        what = "reading" if last.origin == Origin.SNAPSHOT else "instant that the logs show"
        return f"It was not over at {last.snapshot_at:%H:%M:%S}, the last {what}."
    if end.is_exact:
        return f"It ended after {duration(end.at - start.at)}. {how}"
    # Some instant between the last reading that shows it and the next one.
    least, most = (at - start.at for at in (last.snapshot_at, end.at))
    return f"It ended after {bounded(least / MS, most / MS) or duration(most)}. {how}"


def ended_by(change: Failover | None) -> ImbalanceEnd | None:
    """The end of a period: the change of leader that brought the broker below the threshold."""
    if change is None or change.kind != FailoverKind.PREFERRED_ELECTION:
        return ImbalanceEnd.FAILOVER if change else None
    if change.requested_by_operator is None:
        return ImbalanceEnd.PREFERRED_ELECTION
    return ImbalanceEnd.REQUESTED_ELECTION if change.requested_by_operator else ImbalanceEnd.AUTOMATIC_ELECTION
