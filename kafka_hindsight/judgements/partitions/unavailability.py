"""The times in which partitions could not be used: rows of gold.unavailability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import NOBODY, Confidence, IsrChangeKind, OutageKind, UnavailabilityKind
from kafka_hindsight.catalog.rows import BrokerOutage, IsrChange, Unavailability
from kafka_hindsight.judgements.partitions.incarnations import by_partition
from kafka_hindsight.judgements.partitions.replicas.replica_states import ReplicaHistory, ReplicaState
from kafka_hindsight.judgements.reasoning.bounded_intervals import (
    BoundedInterval,
    Reason,
    ledger_row,
    one_after_another,
    span,
)
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.judgements.reasoning.read_times import ALL_READ, ReadTimes
from kafka_hindsight.knowledge.outage_words import noun_of
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW, NEVER
from kafka_hindsight.shared.grouping import runs, with_neighbours
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline, by_instant
from kafka_hindsight.shared.windows import Window


def rebuild_unavailability(
    histories: Iterable[ReplicaHistory],
    outages: Sequence[BrokerOutage],
    changes: Iterable[IsrChange],
    logs_end: datetime,
    observed_window: Window,
    clocks: Sequence[ClockError] = (),
    read_times: ReadTimes = ALL_READ,
) -> list[Unavailability]:
    """Rows of gold.unavailability about partitions, by partition, kind and time.

    Rows of one partition and kind do not overlap. `changes` are those of the partitions, in order of time, `logs_end`
    is the instant of the last line of any broker, `observed_window` the window with its look-back and look-ahead, and
    `clocks` are those that are known to be wrong, `read_times` the times in which logs were read.
    """
    shrinks = by_partition(c for c in changes if c.change is IsrChangeKind.SHRINK)
    rows: list[Unavailability] = []
    for history in histories:
        states, own_shrinks = history.states(observed_window), shrinks[history.key]
        intervals = {
            # None where a leader surely gave way to the next at once.
            UnavailabilityKind.NO_LEADER: (i for i in history.leaderless if i.high is None or i.high),
            UnavailabilityKind.ACKS_ALL_REFUSED: (
                _as_clocks_show(i, clocks) for i in _refused(states, by_instant(own_shrinks), logs_end)
            ),
            UnavailabilityKind.ACKS_ALL_HUNG: (
                _as_clocks_show(i, clocks) for i in _hung(states, outages, own_shrinks, logs_end)
            ),
        }
        for kind, interval in ((kind, i) for kind, own_times in intervals.items() for i in own_times):
            why: Reason = interval.value
            ids = {"failover_id": why.failover_id, "outage_id": why.outage_id}
            rows.append(
                ledger_row(
                    kind,
                    history.key,
                    interval,
                    logs_end,
                    why.explanation,
                    why.confidence,
                    why.quotes,
                    **ids,
                    read_times=read_times,
                )
            )
    return rows


def _as_clocks_show(interval: BoundedInterval[Reason], clocks: Iterable[ClockError]) -> BoundedInterval[Reason]:
    """The interval with less proven, where clocks differ: lines of several brokers show where it began and ended."""
    error = max((clock.by for clock in clocks if clock.is_wrong_at(interval.start)), default=timedelta())
    if not error or interval.proven is None:
        return interval
    start, end = interval.proven.start + error + CLOCK_SKEW, interval.proven.end
    return replace(interval, proven=span(start if end is None else min(start, end), end))


def _refused(
    states: Intervals[ReplicaState], shrinks: Timeline[IsrChange], logs_end: datetime
) -> Iterator[BoundedInterval[Reason]]:
    """While the partition had a leader, which is always in sync, and fewer in sync than min.insync.replicas.

    In a time next to it in which the ISR or the setting is not known it is possible.
    """

    def refuses(state: ReplicaState) -> bool:
        return state.is_under_min_isr() and state.leader != NOBODY and state.isr_size > 0

    for run in _runs([s for s in states if s.value.least is not None], refuses):
        state = run.states[0].value
        shrink = shrinks.last_until(run.start)
        end = None if run.after is None and run.end > logs_end else run.end
        possible = span(run.before.end, run.after.start if run.after else end) if run.before else None
        why = f"{state.isr_size} of {state.replicas} replicas were in sync, and min.insync.replicas is {state.least}."
        quotes = [q for piece in run.states for q in piece.value.quotes]
        reason = Reason(None, shrink.outage_id if shrink else None, why, Confidence.CERTAIN, quotes)
        yield BoundedInterval(run.start, end, span(run.start, end), possible, reason)


def _hung(
    states: Intervals[ReplicaState], outages: Iterable[BrokerOutage], shrinks: Sequence[IsrChange], logs_end: datetime
) -> Iterator[BoundedInterval[Reason]]:
    """While a follower in the ISR was down, did not respond, or did not fetch.

    A broker that is shut down leaves the ISRs before it ends. One that was alive, and that the controller did not hear,
    may have fetched from the leader all the time.
    """
    away = (o for o in outages if o.kind != OutageKind.CONTROLLED_SHUTDOWN)
    removals = {(s.broker, s.happened_at): s for s in reversed(shrinks)}
    hangs = [hang for outage in away for hang in _hangs(states, outage, removals, logs_end)]
    return one_after_another([*hangs, *(hang for shrink in shrinks for hang in _unfetched(states, shrink))])


def _waits_for(state: ReplicaState, broker: int) -> bool:
    """Whether a write with acks=all waits for a follower that does not fetch."""
    is_led = state.leader not in (None, NOBODY, broker)
    return is_led and broker in state.known_isr.isr and not state.is_under_min_isr()


def _unfetched(states: Intervals[ReplicaState], shrink: IsrChange) -> Iterator[BoundedInterval[Reason]]:
    """The waits of acks=all for a follower that never fetched from a new leader, which then removed it from the ISR.

    Source: Partition.maybeIncrementLeaderHW waits for each replica in the ISR; its end offset is -1 until it fetches.
    """
    leader, since = shrink.removed_by_leader, shrink.behind_since
    if leader is None or since is None or shrink.records_behind is not None:
        return

    def waits(state: ReplicaState) -> bool:
        return state.leader == leader and _waits_for(state, shrink.broker)

    for run in _runs(states.clip(since, shrink.happened_at).intervals, waits):
        why = f"Broker {shrink.broker} did not fetch from broker {leader}, the leader, and was still in the ISR."
        wait = Reason(None, shrink.outage_id, why, Confidence.CERTAIN, shrink.evidence)
        yield BoundedInterval(run.start, run.end, span(run.start, run.end), span(run.start, run.end), wait)


def _hangs(
    states: Intervals[ReplicaState],
    outage: BrokerOutage,
    removals: Mapping[tuple[int, datetime], IsrChange],
    logs_end: datetime,
) -> Iterator[BoundedInterval[Reason]]:
    """The waits of acks=all for one broker that was away: until it left the ISR, or was back.

    `removals` are the partition's shrinks of the ISR by broker and instant.

    A broker that joins the ISR has fetched all. If that is after it had surely gone, its process is back, even where
    its controllers do not know it yet. Source: Partition.maybeExpandIsr. A controller that detects a broker as down
    removes it from each ISR at once, but where it is the last one. Source: ReplicaStateMachine.
    doRemoveReplicasFromIsr, ReplicationControlManager.handleBrokerFenced.
    """
    gone_by = _gone_by(outage)
    away = states.clip(outage.down_at, max(outage.up_at or logs_end + timedelta.resolution, outage.down_at))
    for run in _runs(away.intervals, lambda state: _waits_for(state, outage.broker)):
        has_joined = run.before is not None and outage.broker not in run.before.value.known_isr.isr
        is_removed = outage.detected_at and outage.detected_at <= run.start
        if not is_removed and not (has_joined and gone_by and gone_by <= run.start):
            yield _hang(run, outage, removals.get((outage.broker, run.end)), logs_end)


def _hang(
    run: _StatesInARow, outage: BrokerOutage, shrink: IsrChange | None, logs_end: datetime
) -> BoundedInterval[Reason]:
    """The time of a run, with the bounds of the outage where that began it.

    A broker that is back may need seconds to catch up. A leader that removes it from the ISR logs when the broker had
    last caught up: nothing waited before, and from then on something may have.
    """
    proof = _gone_by(outage)
    end = None if run.after is None and outage.up_at is None and run.end > logs_end else run.end
    latest = run.after.start if run.after else end
    if outage.detected_at and run.end > outage.detected_at + CLOCK_SKEW:
        # No line at hand shows that the controller removed it.
        end, latest = outage.detected_at, outage.detected_at + CLOCK_SKEW
    proven = span(max(run.start, proof), end) if proof else None
    earliest = run.before.end if run.before else outage.last_heard_at
    if shrink and shrink.behind_since:
        earliest = min(shrink.behind_since, proven.start if proven else run.end)
    possible = span(earliest, run.end + CATCHING_UP if end == outage.up_at else latest)
    why = f"Broker {outage.broker} {noun_of(outage).verb}, and was still in the ISR."
    confidence = outage.confidence.at_most(Confidence.CERTAIN if outage.kind is OutageKind.CRASH else Confidence.LIKELY)
    quotes = [*outage.evidence, run.states[0].value.known_isr.quote]
    return BoundedInterval(run.start, end, proven, possible, Reason(None, outage.outage_id, why, confidence, quotes))


def _gone_by(outage: BrokerOutage) -> datetime | None:
    """The first proof that a broker was away."""
    return (outage.unreachable_at if outage.kind is OutageKind.CRASH else None) or outage.detected_at


@dataclass(frozen=True)
class _StatesInARow:
    """States in a row in which a condition holds, with the state known before them and the one after them."""

    before: Interval[ReplicaState] | None
    states: Sequence[Interval[ReplicaState]]
    after: Interval[ReplicaState] | None

    @property
    def start(self) -> datetime:
        return self.states[0].start

    @property
    def end(self) -> datetime:
        """The instant at which the last of them ended; NEVER where it has no end."""
        return self.states[-1].end or NEVER


def _runs(states: Iterable[Interval[ReplicaState]], holds: Callable[[ReplicaState], bool]) -> Iterator[_StatesInARow]:
    """The stretches in which a condition holds without a break, in order."""

    def goes_on(run: Sequence[Interval[ReplicaState]], state: Interval[ReplicaState]) -> bool:
        return holds(run[-1].value) and holds(state.value) and state.start == run[-1].end

    stretches = runs(states, goes_on)
    for before, own, after in with_neighbours(stretches):
        if holds(own[0].value):
            yield _StatesInARow(before[-1] if before else None, own, after[0] if after else None)
