"""The life of each broker, cut into its absences: where signals show that it went, and that it served again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial, reduce
from itertools import dropwhile, takewhile

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.brokers.absences import (
    ENDS,
    LATE_REPORT,
    STARTS,
    Absence,
    AbsenceSignal,
    BrokerProcess,
    begin,
    extend,
    with_lines,
)
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch
from kafka_hindsight.judgements.brokers.liveness import (
    EXITS,
    FOUND_AT_START,
    OF_EACH_LOG,
    SAME_START,
    SHUTDOWN_LASTS,
    STARTED_ON_ZOOKEEPER,
    LivenessSignal,
    Signal,
    earliest_line,
    is_lock_held,
)
from kafka_hindsight.judgements.brokers.observed import Observed
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW, LONG_AGO, LOOK_BACK, NEVER
from kafka_hindsight.shared.instants import latest

_UNDONE_WITHIN = timedelta(minutes=1)
"""What a controller decides so shortly before another one follows it may never have been committed. Our choice."""

_START_BEHIND = timedelta(seconds=5)
"""A clock that is set on or back by so much, as NTP does at once, puts a broker's own start behind the return that
others saw. Our choice: no process fails, is missed and starts again within that time."""

_SAME_LIFE: Mapping[Signal, timedelta] = {Signal.SERVES: CATCHING_UP, Signal.FAILED: SAME_START}
"""How long before each signal a sign of life is part of what the signal shows."""


@dataclass(frozen=True)
class Life:
    """The life of one broker, as far as its signals were read.

    `absence` is the one that goes on, `steps` are its signals; `absences` are those that are over. `second_signals` are
    of processes that failed to start while another one served. `is_second`: the last signal is one of these, or says
    why such a process ends.
    """

    broker: int
    process: BrokerProcess = field(default_factory=BrokerProcess)
    absence: Absence | None = None
    steps: tuple[AbsenceSignal, ...] = ()
    absences: tuple[Absence, ...] = ()
    second_signals: tuple[LivenessSignal, ...] = ()
    is_second: bool = False

    @property
    def served_since(self) -> datetime | None:
        """The end of its last absence."""
        return self.absences[-1].up_at if self.absences else None


def lives_of(observed: Observed | None) -> list[Life]:
    """The life of each broker, by id; none where there is no line.

    No sign of life of a broker lies in an absence of it, except those of a broker that was cut off. A missing log never
    counts as silence.
    """
    return [_life_of(broker, observed) for broker in sorted(observed.signals)] if observed else []


def _life_of(broker: int, observed: Observed) -> Life:
    life = reduce(partial(_after, observed), observed.signals[broker], Life(broker))
    life = _ended_before(None, life, observed)
    return _closed(life, observed) if life.absence else life


def _after(observed: Observed, life: Life, signal: LivenessSignal) -> Life:
    """The life as of one more signal."""
    if _is_of_second(signal, life, observed):
        return replace(life, second_signals=(*life.second_signals, signal), is_second=True)
    life = replace(life, is_second=life.is_second and signal.shows is Signal.REASON)
    if _is_repeated(signal, life):
        return life
    signal = _as_failed_start(signal, life.process.start, observed)
    if _is_start_behind(signal, life):
        return replace(life, absences=_with_start(life.absences, signal), process=life.process.after(signal))
    # A return that only other lines show comes first: the signal may begin the next absence.
    life = _ended_before(signal, life, observed)
    if life.absence is None and _begins(signal, life, observed):
        life = replace(life, absence=begin(signal, life.process, life.served_since, observed))
    if life.absence:
        absence, step = extend(life.absence, signal, observed), AbsenceSignal(signal, life.process.reasons)
        life = replace(life, absence=absence, steps=(*life.steps, step))
        life = _closed(life, observed) if absence.up_at else life
    return replace(life, process=life.process.after(signal))


def _is_of_second(signal: LivenessSignal, life: Life, observed: Observed) -> bool:
    """Whether a line is of a second process, which fails to start while the broker goes on to serve."""
    if life.is_second and signal.event.kind == Kind.BROKER_REGISTRATION_REFUSED:
        return True  # The process that serves is registered.
    if life.absence or not signal.is_own or signal.shows not in (*STARTS, Signal.FAILED):
        return False
    if life.is_second and signal.shows is Signal.FAILED:
        return True
    own = (s for s in observed.signals[life.broker] if s.is_own and s.at >= signal.at)
    return _fails_beside_another(own, partial(observed.signs.is_active_between, life.broker))


def _fails_beside_another(signals: Iterable[LivenessSignal], is_active: Callable[[datetime, datetime], bool]) -> bool:
    """Whether a process of a broker starts, once or several times, and fails, while another one serves.

    `signals` are the broker's own, from that start, or its failure, on. The other process lives if it holds the lock
    of the log directories, if it writes lines afterwards, or if it ends afterwards and no start was between. The time
    between separates its lines from those of the next process.
    """
    later = [s for s in signals if s.shows is not Signal.REASON]
    while fails := list(takewhile(lambda s: s.shows is Signal.FAILED, dropwhile(lambda s: s.shows in STARTS, later))):
        later = later[later.index(fails[-1]) + 1 :]
        if any(is_lock_held(s.event) for s in fails):
            return True
        until = later[0].at - CATCHING_UP if later else NEVER
        has_exited = any(s.event.pattern_id in EXITS or s.event.kind == Kind.BROKER_STOPPED for s in fails)
        if is_active(fails[-1].at + CATCHING_UP, until) or (has_exited and later and later[0].shows in ENDS):
            return True
    return False


def _is_repeated(signal: LivenessSignal, life: Life) -> bool:
    """Whether a line shows no more than a new process that another line of it has shown."""
    if signal.shows is not Signal.IS_NEW or life.absence is None:
        return False
    if signal.event.kind not in FOUND_AT_START:
        return life.absence.restart is not None
    return any(e.pattern_id == signal.event.pattern_id == OF_EACH_LOG for e in life.process.conditions)


def _is_start_behind(signal: LivenessSignal, life: Life) -> bool:
    """Whether a broker's own line of its start is that of the return which others saw just before it."""
    if life.absence or not life.absences or not signal.is_own or signal.shows not in STARTS:
        return False
    last = life.absences[-1]
    is_shown = last.restart is not None and last.restart.is_own
    is_by_others = last.lines[-1].broker != life.broker
    is_new = signal.shows is Signal.IS_NEW or not is_shown
    return is_new and is_by_others and last.up_at is not None and signal.at - last.up_at <= _START_BEHIND


def _with_start(absences: Sequence[Absence], signal: LivenessSignal) -> tuple[Absence, ...]:
    """The absences, the last of which ended with this start."""
    last = absences[-1]
    restart = last.restart if last.restart and last.restart.is_own else signal
    return (*absences[:-1], replace(last, restart=restart, lines=(*last.lines, signal.event)))


def _as_failed_start(signal: LivenessSignal, start: LivenessSignal | None, observed: Observed) -> LivenessSignal:
    """The signal, as a failed start where the process ends before it has served."""
    if start is None or not signal.is_own or signal.shows not in ENDS:
        return signal
    proof = observed.first_service(signal.broker, start.at, start, is_over=True)
    return signal if proof and proof.happened_at < signal.at else replace(signal, shows=Signal.FAILED)


def _begins(signal: LivenessSignal, life: Life, observed: Observed) -> bool:
    """Whether a signal begins an absence of a broker that, as far as known, serves."""
    if signal.shows is Signal.SERVES:
        return _is_unseen_start(signal, life, observed)
    if signal.shows in (Signal.EXPIRED, Signal.IS_NEW):
        return _is_unseen_end(signal, life, observed)
    if signal.shows is not Signal.RESTARTED:
        return signal.shows in (*ENDS, Signal.DOWN, Signal.FAILED)
    if signal.is_own:
        is_known = life.process.start or life.served_since or observed.signs.last_before(life.broker, signal.at)
        return bool(is_known)
    # A controller that starts repeats old incarnations, and ZooKeeper's report may be late.
    is_late = life.served_since is not None and signal.at - life.served_since < LATE_REPORT
    return signal.event.kind == Kind.BROKERS_CHANGED and not is_late


def _is_unseen_start(signal: LivenessSignal, life: Life, observed: Observed) -> bool:
    """Whether a broker on ZooKeeper says that it started, and no line shows its start or its absence.

    Where several brokers write one log, the line of the start names none of them.
    """
    served_at = latest(life.process.served_at, life.served_since) or LONG_AGO
    is_unseen = life.process.start is None and signal.at - served_at > LATE_REPORT
    last_line = observed.signs.last_before(life.broker, signal.at - CATCHING_UP)
    return is_unseen and last_line is not None and signal.event.pattern_id == STARTED_ON_ZOOKEEPER


def _is_unseen_end(signal: LivenessSignal, life: Life, observed: Observed) -> bool:
    """Whether a session's end, or a line of a new process, shows that the broker was away, where no other line does.

    What a process logs as it starts follows the line of its start, and comes before it serves.
    """
    served_at = latest(life.process.served_at, life.served_since) or LONG_AGO
    is_unseen = life.process.start is None and (signal.at - served_at > LATE_REPORT or signal.at == served_at)
    return is_unseen and signal.is_own and observed.signs.last_before(life.broker, signal.at - SAME_START) is not None


def _ended_before(coming: LivenessSignal | None, life: Life, observed: Observed) -> Life:
    """The life, its absence ended by a sign of life before the next signal, unless that shows the same return."""
    absence = life.absence
    if absence is None:
        return life
    margin = timedelta() if absence.detected_at or absence.is_over else observed.session
    since = max(absence.silent_from, absence.down_at + margin)
    proof = _first_service(absence, since, life.process.start, observed)
    tolerance = _SAME_LIFE.get(coming.shows) if coming else None
    if proof and coming and tolerance and coming.at - proof.happened_at <= tolerance:
        return life
    if proof and (coming is None or proof.happened_at < coming.at):
        return _closed(replace(life, process=replace(life.process, start=None)), observed, proof)
    if coming and since < coming.at and _must_have_served(coming, absence, life.process.start, observed):
        return _closed(life, observed, coming.event)
    return life


def _first_service(absence: Absence, since: datetime, start: LivenessSignal | None, observed: Observed) -> Event | None:
    """The first proof of the broker's return.

    No controller makes a leader of a broker that it has let go. Such a line shows the return even where other lines
    may still be of the time before.
    """
    proof = observed.first_service(absence.broker, since, start, is_over=absence.is_over)
    if not absence.is_over:
        return proof
    leadership = observed.first_leadership(absence.broker, absence.proven_until + CLOCK_SKEW, start)
    return earliest_line(proof, leadership)


def _must_have_served(
    coming: LivenessSignal, absence: Absence, start: LivenessSignal | None, observed: Observed
) -> bool:
    """Whether a broker whose shutdown begins must have come back before it.

    Its return is in a log that is not at hand, or a controller lets it move its leaders first, which KRaft does for
    unfenced brokers alone (BrokerHeartbeatManager). A session that expires long after a shutdown began is one that a
    later process had.
    """
    if coming.shows is Signal.EXPIRED:
        return coming.is_own and coming.at - absence.gone_by > SHUTDOWN_LASTS and absence.detected_at is None
    if coming.shows is not Signal.SHUTDOWN:
        return False
    if coming.event.kind == Kind.BROKER_CONTROLLED_SHUTDOWN_GRANTED:
        return True
    is_unheard = coming.is_own and start is None
    return is_unheard and not observed.logs.is_controllers_whole(absence.gone_by, coming.at)


def _closed(life: Life, observed: Observed, return_line: Event | None = None) -> Life:
    """The life without an open absence: that is one more of those that are over, unless it never happened.

    `return_line` shows that the broker served by then, where no signal shows the return itself.
    """
    assert life.absence is not None
    absence = with_lines(life.absence, life.steps, return_line)
    is_none = _was_undone(absence, observed.terms) or _may_be_first(absence)
    absences = life.absences if is_none else (*life.absences, absence)
    return replace(life, absence=None, steps=(), absences=absences)


def _was_undone(absence: Absence, terms: Sequence[ControllerEpoch]) -> bool:
    """Whether a controller of KRaft declared the broker down, and was replaced before that was committed.

    The next controller knows what was committed. It does not let back in a broker that it never took for down. A
    controller that wakes fences brokers, and lets them in, just before it learns that another one is active.
    """
    fence = next((e for e in absence.lines if e.kind == Kind.BROKER_FENCED), None)
    if fence is None or absence.began_with or absence.restart or absence.up_at is None:
        return False
    until = min(absence.up_at, fence.happened_at + _UNDONE_WITHIN)
    if absence.is_end_exact:
        last_line = absence.lines[-1]
        is_same = (last_line.kind, last_line.broker) == (Kind.BROKER_UNFENCE_GRANTED, fence.broker)
        until = fence.happened_at + CLOCK_SKEW if is_same else fence.happened_at
    return any(fence.happened_at < t.since <= until for t in terms)


def _may_be_first(absence: Absence) -> bool:
    """Whether nothing shows that the broker was up within a day before its start, nor how it had ended."""
    is_start = absence.restart is not None and absence.restart.is_own and absence.detected_at is None
    is_shown = absence.shows_start or any(e.kind in FOUND_AT_START for e in absence.lines)
    seen_at = absence.last_seen_at
    return is_start and not is_shown and seen_at is not None and absence.down_at - seen_at > LOOK_BACK
