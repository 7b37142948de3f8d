"""What partitions could not be used for, and when: rows of gold.unavailability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.catalog.codes import NOBODY, Confidence, IsrChangeKind, OutageKind, UnavailabilityKind
from kafka_hindsight.catalog.rows import BrokerOutage, IsrChange, Unavailability
from kafka_hindsight.judgements.brokers.outages import CAUSED_BY
from kafka_hindsight.judgements.partitions.incarnations import by_partition
from kafka_hindsight.judgements.partitions.replicas.replica_states import History, State
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, one_after_another, span
from kafka_hindsight.judgements.reasoning.ledger import ledger_row
from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals
from kafka_hindsight.shared.durations import CATCHING_UP, NEVER
from kafka_hindsight.shared.windows import Window

_States = Sequence[Interval[State]]
_Hang = BoundedInterval[tuple[BrokerOutage, State]]


def rebuild_unavailability(
    histories: Iterable[History],
    outages: Sequence[BrokerOutage],
    changes: Iterable[IsrChange],
    logs_end: datetime,
    seen: Window,
) -> list[Unavailability]:
    """Rows of gold.unavailability about partitions.

    Args:
        histories: What is known of partitions, in order.
        outages: Rows of gold.broker_outages.
        changes: Rows of gold.isr_changes of the partitions, in order of time.
        logs_end: The last line of any broker.
        seen: The window with its look-back and look-ahead.

    Returns:
        The rows by partition, kind and time. Those of one partition and kind do not overlap.
    """
    shrinks = by_partition(c for c in changes if c.change is IsrChangeKind.SHRINK)
    rows: list[Unavailability] = []
    for history in histories:
        states = history.states(seen)
        rows += _without_leader(history, logs_end)
        rows += _refused(history, states, shrinks[history.key], logs_end)
        rows += _hung(history, states, outages, logs_end)
    return rows


def _without_leader(history: History, logs_end: datetime) -> Iterator[Unavailability]:
    """From the loss of a leader to the next one; none where a leader surely gave way to the next at once."""
    for interval in history.leaderless:
        loss = interval.value
        if interval.high is None or interval.high:
            yield ledger_row(
                UnavailabilityKind.NO_LEADER,
                history.key,
                interval,
                logs_end,
                loss.explanation,
                loss.confidence,
                loss.quotes,
                failover_id=loss.failover_id,
                outage_id=loss.outage_id,
            )


def _refused(
    history: History, states: Intervals[State], shrinks: Sequence[IsrChange], logs_end: datetime
) -> Iterator[Unavailability]:
    """While the partition had a leader, which is always in sync, and fewer in sync than min.insync.replicas."""
    judged = [s for s in states if s.value.least is not None]
    for run in _runs(judged, _refuses):
        state = run.states[0].value
        shrink = next((s for s in reversed(shrinks) if s.happened_at <= run.start), None)
        yield ledger_row(
            UnavailabilityKind.ACKS_ALL_REFUSED,
            history.key,
            _refusal(run, logs_end),
            logs_end,
            f"{state.isr_size} of {state.replicas} replicas were in sync, and min.insync.replicas is {state.least}.",
            Confidence.CERTAIN,
            [q for piece in run.states for q in piece.value.quotes],
            outage_id=shrink.outage_id if shrink else None,
        )


def _refuses(state: State) -> bool:
    return state.is_under_min_isr() and state.leader != NOBODY and state.isr_size > 0


def _refusal(run: _Run, logs_end: datetime) -> BoundedInterval[None]:
    """The time of a run. In a time next to it in which the ISR or the setting is not known it is possible."""
    end = None if run.after is None and run.end >= logs_end else run.end
    possible = span(run.before.end, run.after.start if run.after else end) if run.before else None
    return BoundedInterval(run.start, end, span(run.start, end), possible, None)


def _hung(
    history: History, states: Intervals[State], outages: Sequence[BrokerOutage], logs_end: datetime
) -> Iterator[Unavailability]:
    """While a follower in the ISR was down or did not respond.

    Edge case: a broker that is shut down leaves the ISRs before it ends. One that was alive, and that the controller
    did not hear, may have fetched from the leader all the time.
    """
    hangs = (hang for o in outages if o.kind != OutageKind.CONTROLLED_SHUTDOWN for hang in _hangs(states, o, logs_end))
    for hang in one_after_another(hangs):
        outage, state = hang.value
        yield ledger_row(
            UnavailabilityKind.ACKS_ALL_HUNG,
            history.key,
            hang,
            logs_end,
            f"Broker {outage.broker} {CAUSED_BY[outage.kind]}, and was still in the ISR.",
            outage.confidence.at_most(Confidence.CERTAIN if outage.kind is OutageKind.CRASH else Confidence.LIKELY),
            [*outage.evidence, state.known.quote],
            outage_id=outage.outage_id,
        )


def _hangs(states: Intervals[State], outage: BrokerOutage, logs_end: datetime) -> Iterator[_Hang]:
    """When acks=all waited for one broker, which was away: until it left the ISR, or was back."""

    def waits(state: State) -> bool:
        is_led = state.leader not in (None, NOBODY, outage.broker)
        return is_led and outage.broker in state.known.isr and not state.is_under_min_isr()

    away = states.clip(outage.down_at, max(outage.up_at or logs_end, outage.down_at))
    for run in _runs(away.intervals, waits):
        yield _hang(run, outage, logs_end)


def _hang(run: _Run, outage: BrokerOutage, logs_end: datetime) -> _Hang:
    """The time of a run, with the bounds of the outage where that began it.

    Edge case: a broker that is back may need seconds to catch up.
    """
    proof = (outage.unreachable_at if outage.kind is OutageKind.CRASH else None) or outage.detected_at
    end = None if run.after is None and outage.up_at is None and run.end >= logs_end else run.end
    latest = run.after.start if run.after else end
    possible = span(
        run.before.end if run.before else outage.last_heard_at,
        run.end + CATCHING_UP if run.end == outage.up_at else latest,
    )
    proven = span(max(run.start, proof), end) if proof else None
    return BoundedInterval(run.start, end, proven, possible, (outage, run.states[0].value))


@dataclass(frozen=True)
class _Run:
    """States in a row in which a condition holds, with the state known before them and the one after them."""

    before: Interval[State] | None
    states: _States
    after: Interval[State] | None

    @property
    def start(self) -> datetime:
        """When the first of them began."""
        return self.states[0].start

    @property
    def end(self) -> datetime:
        """When the last of them was over, or the logs."""
        return self.states[-1].end or NEVER


def _runs(states: _States, holds: Callable[[State], bool]) -> Iterator[_Run]:
    """The stretches in which a condition holds without a break, in order."""
    run: list[Interval[State]] = []
    before: Interval[State] | None = None
    for state in states:
        if run and not (holds(state.value) and state.start == run[-1].end):
            yield _Run(before, run, state)
            run, before = [], run[-1]
        if holds(state.value):
            run.append(state)
        else:
            before = state
    if run:
        yield _Run(before, run, None)
