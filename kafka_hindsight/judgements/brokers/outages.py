"""Absences of brokers, between a proof that each served and the next one: shut down, crashed, or not responding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, dropwhile, groupby, islice, pairwise, takewhile

from kafka_hindsight.catalog.codes import Confidence, Intent, OutageKind, StartFailure
from kafka_hindsight.catalog.rows import BrokerOutage, BrokerSnapshot, Event, Quote, SecondStart
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch, active_at
from kafka_hindsight.judgements.brokers.liveness import (
    EXITS,
    FOUND_AT_START,
    OF_EACH_LOG,
    SAME_START,
    SHUTDOWN_LASTS,
    STARTED_ON_ZOOKEEPER,
    LivenessSignal,
    Signal,
    SignsOfLife,
    is_lock_held,
    is_registered,
)
from kafka_hindsight.judgements.brokers.observed import ROTATED_WITHIN, Observed
from kafka_hindsight.judgements.brokers.outage_rulings import ENDS, OUTAGE_RULINGS, Absence
from kafka_hindsight.judgements.reasoning.evidence import MAX_QUOTES, evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.start_failures import StartReason, why_start_failed
from kafka_hindsight.measures.absences import away, starts_exactly
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW, LONG_AGO, LOOK_BACK, MS, NEVER
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted

LATE_REPORT = timedelta(minutes=1)
"""A controller busy with a failover reports a restart when the broker already serves again."""

UNDONE_WITHIN = timedelta(minutes=1)
"""What a controller decides so shortly before another one follows it may never have been committed. Our choice."""

_SAME_LIFE: Mapping[Signal, timedelta] = {Signal.SERVES: CATCHING_UP, Signal.FAILED: SAME_START}
"""How long before each signal a sign of life is part of what the signal shows."""

_LAST_WORDS: Mapping[Signal, timedelta] = {
    Signal.SHUTDOWN: SHUTDOWN_LASTS,
    Signal.RELEASED: CATCHING_UP,
    Signal.STOPPED: CATCHING_UP,
    Signal.HALTED: CLOCK_SKEW,
    Signal.FAULTED: CLOCK_SKEW,
    Signal.DOWN: CATCHING_UP,
    Signal.FAILED: CLOCK_SKEW,
}
"""How long after each signal of an absence a line of the broker may still be of the time before it; else not at all."""


def second_starts_of(cluster: str, lives: Iterable[Life]) -> list[SecondStart]:
    """Each start of a broker that failed while another process of it served, in the order of the lives and by time."""
    return [_second_start(cluster, life.broker, lines) for life in lives for lines in life.second_starts]


def _second_start(cluster: str, broker: int, lines: Sequence[Event]) -> SecondStart:
    reason, line = why_start_failed(lines)
    return SecondStart(
        cluster=cluster,
        broker=broker,
        happened_at=line.happened_at,
        start_failure=reason.code,
        confidence=Confidence.CERTAIN if is_lock_held(line) else Confidence.LIKELY,
        explanation=f"{reason.reason}{f' ({line.error[:_QUOTED]})' if line.error else ''}",
        evidence=evidence_of(map(quote, lines)),
    )


def lives_of(observed: Observed | None) -> list[Life]:
    """The life of each broker, by id; none where there is no line.

    No sign of life of a broker lies in an absence of it, except those of a broker that was cut off. A missing log never
    counts as silence.
    """
    if not observed:
        return []
    lives = [Life(broker, observed) for broker in sorted(observed.signals)]
    for life in lives:
        life.read_signals(observed.signals[life.broker])
    return lives


@dataclass
class Life:
    """The life of one broker, as far as its signals were read.

    `start` is its last one, until it served; `conditions` are the lines in which that start says how it found its log
    directories, `reasons` those since then that say why the process ends. `is_second`: the last start failed while
    another process served. `second_starts`: the lines of each such start.
    """

    broker: int
    observed: Observed
    absences: list[Absence] = field(default_factory=list)
    current: Absence | None = None
    start: LivenessSignal | None = None
    conditions: tuple[Event, ...] = ()
    reasons: tuple[Event, ...] = ()
    is_second: bool = False
    second_starts: list[list[Event]] = field(default_factory=list)
    served_at: datetime | None = None

    def read_signals(self, signals: Iterable[LivenessSignal]) -> None:
        for signal in signals:
            if self._is_of_second(signal):
                self._note_second(signal)
            elif not self._is_known(signal):
                self._take(_interpret(signal, self.start, self.observed))
        self._end_by_life(None)
        if self.current:
            self._close(self.current)

    @property
    def _served_since(self) -> datetime | None:
        return self.absences[-1].up_at if self.absences else None

    def _is_known(self, signal: LivenessSignal) -> bool:
        """Whether a line shows no more than a new process that another line of it has shown."""
        if signal.shows is not Signal.IS_NEW or self.current is None:
            return False
        if signal.event.kind not in FOUND_AT_START:
            return self.current.restart is not None
        return any(e.pattern_id == signal.event.pattern_id == OF_EACH_LOG for e in self.conditions)

    def _is_of_second(self, signal: LivenessSignal) -> bool:
        """Whether a line is of a second process, which fails to start while the broker goes on to serve."""
        if self.is_second and signal.event.kind == Kind.BROKER_REGISTRATION_REFUSED:
            return True  # The process that serves is registered.
        if self.current or not signal.is_own or signal.shows not in (*_STARTS, Signal.FAILED):
            self.is_second = self.is_second and signal.shows is Signal.REASON
            return False
        if self.is_second and signal.shows is Signal.FAILED:
            return True
        own = (s for s in self.observed.signals[self.broker] if s.is_own and s.at >= signal.at)
        self.is_second = is_of_second(own, partial(self.observed.signs.is_active_between, self.broker))
        return self.is_second

    def _note_second(self, signal: LivenessSignal) -> None:
        """Keep the line of a second process. After one that exits, the lines of the next try follow."""
        last = self.second_starts[-1] if self.second_starts else []
        if not last or signal.shows is Signal.RESTARTED or signal.at - last[-1].happened_at > SHUTDOWN_LASTS:
            self.second_starts.append(last := [])
        last.append(signal.event)

    def _take(self, signal: LivenessSignal) -> None:
        self._end_by_life(signal)
        if self.current is None and self._begins(signal):
            self.current = self._new_absence(signal)
        if self.current is not None:
            self._add(self.current, signal)
            if self.current.up_at:
                self._close(self.current)
        if signal.shows is Signal.REASON:
            self.reasons = (*self.reasons, signal.event)
        elif signal.is_own and signal.shows is Signal.RESTARTED:
            self.start, self.conditions, self.reasons = signal, (), ()
        elif signal.event.kind in FOUND_AT_START:
            self.conditions = (*self.conditions, signal.event)
        elif signal.shows is Signal.SERVES:
            self.start, self.conditions, self.reasons, self.served_at = None, (), (), signal.at

    def _end_by_life(self, coming: LivenessSignal | None) -> None:
        """End the absence by a sign of life before the next signal, unless that signal shows the same return."""
        if self.current is None:
            return
        margin = timedelta() if self.current.detected_at or self.current.is_over else self.observed.session
        since = max(self.current.silent_from, self.current.down_at + margin)
        life = self._first_service(self.current, since)
        tolerance = _SAME_LIFE.get(coming.shows) if coming else None
        if life and coming and tolerance and coming.at - life.happened_at <= tolerance:
            return
        if life and (coming is None or life.happened_at < coming.at):
            self.start = None
            self._close(self.current, life)
        elif coming and since < coming.at and self._must_have_served(coming, self.current):
            self._close(self.current, coming.event)

    def _first_service(self, absence: Absence, since: datetime) -> Event | None:
        """The first proof of the broker's return.

        No controller makes a leader of a broker that it has let go. Such a line shows the return even where other lines
        may still be of the time before.
        """
        life = self.observed.first_service(self.broker, since, self.start, is_over=absence.is_over)
        if not absence.is_over:
            return life
        leadership = self.observed.first_leadership(self.broker, absence.proven_until + CLOCK_SKEW, self.start)
        return min((e for e in (life, leadership) if e), key=lambda e: e.happened_at, default=None)

    def _must_have_served(self, coming: LivenessSignal, absence: Absence) -> bool:
        """Whether a broker whose shutdown begins must have come back before it.

        Its return is in a log that is not at hand, or a controller lets it move its leaders first, which KRaft does for
        unfenced brokers alone (BrokerHeartbeatManager).
        """
        if coming.shows is not Signal.SHUTDOWN:
            return False
        if coming.event.kind == Kind.BROKER_CONTROLLED_SHUTDOWN_GRANTED:
            return True
        is_unheard = coming.is_own and self.start is None
        return is_unheard and not self.observed.logs.is_controllers_whole(absence.gone_by, coming.at)

    def _begins(self, signal: LivenessSignal) -> bool:
        """Whether a signal begins an absence of a broker that, as far as known, serves."""
        if signal.shows is Signal.SERVES:
            return self._is_unseen_start(signal)
        if signal.shows is not Signal.RESTARTED:
            return signal.shows in (*ENDS, Signal.DOWN, Signal.FAILED)
        if signal.is_own:
            last_sign = self.start or self._served_since or self.observed.signs.last_before(self.broker, signal.at)
            return last_sign is not None
        # A controller that starts repeats old incarnations, and ZooKeeper's report may be late.
        is_late = self._served_since is not None and signal.at - self._served_since < LATE_REPORT
        return signal.event.kind == Kind.BROKERS_CHANGED and not is_late

    def _is_unseen_start(self, signal: LivenessSignal) -> bool:
        """Whether a broker on ZooKeeper says that it started, and no line shows its start or its absence.

        Where several brokers write one log, the line of the start names none of them.
        """
        served_at = max((at for at in (self.served_at, self._served_since) if at), default=LONG_AGO)
        is_unseen = self.start is None and signal.at - served_at > LATE_REPORT
        last_line = self.observed.signs.last_before(self.broker, signal.at - CATCHING_UP)
        return is_unseen and last_line is not None and signal.event.pattern_id == STARTED_ON_ZOOKEEPER

    def _new_absence(self, signal: LivenessSignal) -> Absence:
        at, until = signal.at, self.observed.until
        absence = Absence(self.broker, at, until, gone_by=at, proven_until=at, silent_from=at)
        if signal.shows in ENDS:
            reasons = [e for e in self.reasons if at - e.happened_at <= SAME_START]
            return replace(absence, began_with=signal.shows, is_over=signal.shows is not Signal.SHUTDOWN, lines=reasons)
        if signal.shows is Signal.FAILED or (signal.is_own and self.start):
            # It has not served from that start on.
            start = self.start.event if self.start else signal.event
            at, lines = start.happened_at, [start, *self.reasons] if self.start else [*self.reasons]
            return replace(absence, began_with=Signal.FAILED, down_at=at, gone_by=at, is_over=True, lines=lines)
        # What precedes the line that a start was over is of the new process.
        before = at - CATCHING_UP if signal.shows is Signal.SERVES else at
        last_line = self.observed.signs.last_before(self.broker, before, since=self._served_since)
        heard_at = last_line.happened_at if last_line else self._served_since
        if signal.is_own and heard_at and not self.observed.logs.would_show_start(self.broker, heard_at, at):
            return replace(absence, shows_start=False, last_seen_at=heard_at)
        return self._with_detection(replace(absence, last_line=last_line), signal, heard_at)

    def _with_detection(self, absence: Absence, signal: LivenessSignal, heard_at: datetime | None) -> Absence:
        """The absence that others detected, or that a start shows; it begins when the broker fell silent."""
        signs, logs, session = self.observed.signs, self.observed.logs, self.observed.session
        failure = signs.first_failure(self.broker, heard_at, signal.at)
        silent_since = heard_at or signal.at
        if not (signal.is_own or self._is_first(signal)):
            silent_since = max(heard_at or LONG_AGO, signal.at - session)
        down_at = failure.happened_at if failure else silent_since
        replaced_at = _replaced_at(self.broker, heard_at, signal.at, self.observed.terms)
        if replaced_at and signal.at - replaced_at <= 2 * session:
            down_at = min(down_at, replaced_at)
        proofs = (heard_at, signs.last_service(self.broker, down_at, self.observed.missed_within))
        known_from = self._missed_since(signal, heard_at, down_at)
        return replace(
            absence,
            down_at=down_at,
            last_seen_at=max((at for at in proofs if at and at <= down_at), default=None),
            failure=failure,
            shows_start=logs.would_show_start(self.broker, known_from, signal.at),
            lines=[*(line for line in (absence.last_line, failure) if line), *self.conditions],
        )

    def _missed_since(self, signal: LivenessSignal, heard_at: datetime | None, down_at: datetime) -> datetime:
        """The instant from which logs must show what happened to the broker.

        A controller that lists all brokers at once does not know which of them were gone before. Any other controller
        counted the broker in until a session before.
        """
        if heard_at is None or signal.event.kind == Kind.BROKERS_LISTED:
            return heard_at or down_at
        return max(heard_at, down_at - self.observed.session)

    def _is_first(self, signal: LivenessSignal) -> bool:
        """Whether the controller that misses the broker has just started, so that none was there before.

        On ZooKeeper a broker becomes the controller while it starts where no other is (KafkaController.elect).
        """
        controller = signal.event.broker
        if controller is None or signal.event.kind != Kind.BROKERS_LISTED:
            return False
        starts = (s.at for s in self.observed.signals.get(controller, ()) if s.event.kind == Kind.BROKER_STARTED)
        return any(abs(at - signal.at) <= LATE_REPORT for at in starts)

    def _add(self, absence: Absence, signal: LivenessSignal) -> None:
        if signal.shows is Signal.SERVES:
            absence.restart = absence.restart or (signal if signal.is_own else None)
            absence.end_with(signal.event, is_exact=True)
            return
        absence.lines.append(signal.event)
        if signal.shows is Signal.REASON:
            return
        silent_from = signal.at + _LAST_WORDS.get(signal.shows, timedelta())
        absence.proven_until = max(absence.proven_until, signal.at)
        absence.silent_from = max(absence.silent_from, silent_from)
        if signal.shows in (Signal.RELEASED, Signal.DOWN):
            absence.detected_at = absence.detected_at or signal.at
        stops = [e.happened_at for e in absence.lines if e.kind == Kind.BROKER_STOPPED]
        match signal.shows:
            case Signal.RELEASED | Signal.STOPPED:
                absence.is_over, absence.silent_from = True, silent_from
            # Where the process before had ended, what halts now is a new one, which has not served.
            case Signal.HALTED | Signal.FAULTED if not (absence.failures or stops):
                absence.is_over = True
            case Signal.FAILED | Signal.HALTED | Signal.FAULTED:
                absence.is_over = True
                if is_another(absence.lines, absence.failures, signal.event):
                    # What a process wrote until its shutdown was completed is not of the start that fails after it.
                    since = max(stops, default=LONG_AGO)
                    absence.failures.append([e for e in self.reasons if e.happened_at > since])
                absence.failures[-1].append(signal.event)
            case Signal.RESTARTED | Signal.IS_NEW if self._is_restart(absence, signal):
                absence.is_over = True
                # What the broker writes from its own start on is not of the process that ended.
                if signal.is_own:
                    absence.silent_from = signal.at
                # How that one ended is in another log than the controller's.
                if signal.event.kind != Kind.CONTROLLER_THREAD_STARTED:
                    absence.restart = absence.restart or signal

    def _is_restart(self, absence: Absence, signal: LivenessSignal) -> bool:
        """Whether a line shows a new process.

        The broker's own line does; its controller's does where that registers one, or where the broker's own log is not
        at hand. A process may have begun long before its controllers let it register. (16 s in a recorded night.)
        """
        return (
            signal.is_own
            or is_registered(signal.event)
            or not self.observed.logs.is_own_unbroken(self.broker, absence.down_at - LATE_REPORT, signal.at)
        )

    def _close(self, absence: Absence, later: Event | None = None) -> None:
        """Keep the absence, completed by what only the whole of it shows, unless it never happened.

        `later`: a line that shows that the broker served by then, where none shows the return itself.
        """
        self.current = None
        if later:
            absence.end_with(later, is_exact=False)
        if not (self._was_undone(absence) or _may_be_first(absence)):
            self._add_start_behind(absence)
            self._add_life(absence)
            self._complete(absence)
            self.absences.append(absence)

    def _was_undone(self, absence: Absence) -> bool:
        """Whether a controller of KRaft declared the broker down, and was replaced before that was committed.

        The next controller knows what was committed. It does not let back in a broker that it never took for down. A
        controller that wakes fences brokers, and lets them in, just before it learns that another one is active.
        """
        fence = next((e for e in absence.lines if e.kind == Kind.BROKER_FENCED), None)
        if fence is None or absence.began_with or absence.restart or absence.up_at is None:
            return False
        until = min(absence.up_at, fence.happened_at + UNDONE_WITHIN)
        if absence.is_end_exact:
            last_line = absence.lines[-1]
            is_same = (last_line.kind, last_line.broker) == (Kind.BROKER_UNFENCE_GRANTED, fence.broker)
            until = fence.happened_at + CLOCK_SKEW if is_same else fence.happened_at
        return any(fence.happened_at < t.since <= until for t in self.observed.terms)

    def _complete(self, absence: Absence) -> None:
        """Note which logs are at hand that would show the broker's return and its starts."""
        observed = self.observed
        known_until = observed.logs.known_until(self.broker, absence.gone_by)
        # Where the logs of all brokers end only a little later than those that would show a return, up to these.
        end = absence.up_at or (known_until if observed.until - known_until <= ROTATED_WITHIN else observed.until)
        by_controllers = observed.logs.is_controllers_whole(absence.gone_by, end)
        by_itself = observed.logs.is_own_whole(absence.broker, absence.gone_by, end)
        # Whether a broker that was active meanwhile served is what only controllers know.
        has_own_start = absence.restart is not None and absence.restart.is_own and not absence.was_active
        shows_end = by_controllers or (by_itself and (not absence.up_at or (has_own_start and absence.is_end_exact)))
        absence.known_until = None if absence.up_at and shows_end else known_until
        absence.shows_end = shows_end
        # A controller of KRaft names each new process that registers; ZooKeeper's cannot tell it from the old one.
        is_named = by_controllers and not observed.uses_zookeeper
        absence.shows_starts = is_named or observed.logs.is_own_unbroken(absence.broker, absence.gone_by, end)

    def _add_life(self, absence: Absence) -> None:
        """Note the activity of the broker meanwhile.

        Where only a controller shows the new process, which registers, either process may have written the lines.
        """
        restart = absence.restart
        until = min(restart.at if restart else NEVER, absence.up_at or NEVER)
        if absence.detected_at is None:
            absence.detected_at = _replaced_at(absence.broker, absence.down_at, until, self.observed.terms)
        elif restart is None or restart.is_own:
            absence.was_active = self.observed.signs.is_active_between(absence.broker, absence.detected_at, until)
        if restart and not restart.is_own:
            absence.last_seen_at = None

    def _add_start_behind(self, absence: Absence) -> None:
        """Note the line in which a new process says that it started, just after others saw it serve.

        On ZooKeeper a start names its broker only there, if several brokers write one log.
        """
        up_at = absence.up_at
        if absence.restart or up_at is None:
            return
        own = (s for s in self.observed.signals[self.broker] if s.is_own and s.at >= up_at)
        following = next((s for s in own if s.event.kind != Kind.CONTROLLER_THREAD_STARTED), None)
        if following and following.event.kind == Kind.BROKER_STARTED and following.at - up_at <= CATCHING_UP:
            absence.restart = following
            absence.lines.append(following.event)


def _interpret(signal: LivenessSignal, start: LivenessSignal | None, observed: Observed) -> LivenessSignal:
    """The signal, as a failed start where the process ends before it has served."""
    if start is None or not signal.is_own or signal.shows not in ENDS:
        return signal
    life = observed.first_service(signal.broker, start.at, start, is_over=True)
    return signal if life and life.happened_at < signal.at else replace(signal, shows=Signal.FAILED)


def _may_be_first(absence: Absence) -> bool:
    """Whether nothing shows that the broker was up within a day before its start, nor how it had ended."""
    is_start = absence.restart is not None and absence.restart.is_own and absence.detected_at is None
    is_shown = absence.shows_start or any(e.kind in FOUND_AT_START for e in absence.lines)
    seen_at = absence.last_seen_at
    return is_start and not is_shown and seen_at is not None and absence.down_at - seen_at > LOOK_BACK


def _replaced_at(
    broker: int, heard_at: datetime | None, until: datetime, terms: Sequence[ControllerEpoch]
) -> datetime | None:
    """The instant at which another controller replaced the broker, if it was the controller when last heard."""
    if heard_at is None or active_at(terms, heard_at) != broker:
        return None
    return next((t.since for t in terms if heard_at < t.since <= until and t.controller != broker), None)


_ENDING_KINDS = (Kind.BROKER_START_FAILED, Kind.PROCESS_FAULTED)


def is_another(lines: Sequence[Event], failures: Sequence[Sequence[Event]], failure: Event) -> bool:
    """Whether a line shows another failed start than those of the same absence before it."""
    if not failures:
        return True
    ends = [(e.pattern_id, e.detail) for e in failures[-1] if e.kind in _ENDING_KINDS]
    # A process says once why it exits, and once of each of its servers that it failed.
    is_end, identity = failure.kind in _ENDING_KINDS, (failure.pattern_id, failure.detail)
    if ends and is_end and (ends[-1][0] in EXITS or ends[-1] == identity):
        return True
    last = failures[-1][-1].happened_at
    start_times = (e.happened_at for e in lines if e.kind in (Kind.BROKER_STARTING, Kind.BROKER_INCARNATED))
    return failure.happened_at - last > SHUTDOWN_LASTS or any(last < at for at in start_times)


_STARTS = (Signal.RESTARTED, Signal.IS_NEW)


def is_of_second(signals: Iterable[LivenessSignal], is_active: Callable[[datetime, datetime], bool]) -> bool:
    """Whether a process of a broker starts, once or several times, and fails, while another one serves.

    `signals` are the broker's own, from that start, or its failure, on. The other process lives if it holds the lock
    of the log directories, if it writes lines afterwards, or if it ends afterwards and no start was between. The time
    between separates its lines from those of the next process.
    """
    later = [s for s in signals if s.shows is not Signal.REASON]
    while fails := list(takewhile(lambda s: s.shows is Signal.FAILED, dropwhile(lambda s: s.shows in _STARTS, later))):
        later = later[later.index(fails[-1]) + 1 :]
        if any(is_lock_held(s.event) for s in fails):
            return True
        until = later[0].at - CATCHING_UP if later else NEVER
        has_exited = any(s.event.pattern_id in EXITS or s.event.kind == Kind.BROKER_STOPPED for s in fails)
        if is_active(fails[-1].at + CATCHING_UP, until) or (has_exited and later and later[0].shows in ENDS):
            return True
    return False


_QUOTED = 200
"""Characters of an exception that a sentence quotes."""
_NAMED = 5
"""Reasons of failed starts that a sentence names."""


def find_outages(
    cluster: str, observed: Observed | None, lives: Iterable[Life], readings: Sequence[BrokerSnapshot], window: Window
) -> list[BrokerOutage]:
    """Rows of gold.broker_outages, each once, by broker and time, as far as brokers and controllers report them.

    The effects on partitions and groups are left out, and `intent` is unknown until it is compared with what was
    declared. The first start of a broker of which nothing is known before is not an absence, unless it fails.
    `observed` is None where there is no line, and `lives` are those in it; `readings` show absences where no line does.
    """
    in_lines = {life.broker: life.absences for life in lives}
    absences = chain(*in_lines.values(), _absences_in_snapshots(readings, in_lines, observed))
    return [_row(cluster, a) for a in absences if window.holds(a.down_at)]


def _row(cluster: str, absence: Absence) -> BrokerOutage:
    verdict = judge(OUTAGE_RULINGS, absence)
    kind = OutageKind(verdict.code)
    codes = [reason.code for reason, _ in _reasons(absence)]
    telling = [code for code in codes if code != StartFailure.STOPPED] or codes
    outage = BrokerOutage(
        cluster=cluster,
        outage_id=row_id(cluster, "outage", absence.broker, absence.down_at),
        broker=absence.broker,
        kind=kind,
        intent=Intent.UNKNOWN,
        down_at=absence.down_at,
        detected_at=absence.detected_at,
        last_heard_at=absence.last_heard_at,
        unreachable_at=absence.failure.happened_at if absence.failure else None,
        up_at=absence.up_at,
        failed_starts=len(absence.failures),
        start_failure=telling[-1] if telling else None,
        away_low_ms=absence.lasted_at_least // MS,
        away_high_ms=None if absence.lasted_at_most is None else absence.lasted_at_most // MS,
        group_ids=[],
        confidence=verdict.confidence,
        explanation=" ".join((verdict.sentence, *_starts(absence))),
        evidence=evidence_of(_quotes(absence)),
    )
    sentences = (outage.explanation, _ending(absence, outage))
    return replace(outage, explanation=" ".join(filter(None, sentences)))


def _starts(absence: Absence) -> Iterator[str]:
    """Each start that failed while the broker was away, with the line that shows why: those of one reason as one."""
    if not absence.failures:
        return
    opening = f"Its start failed {counted(len(absence.failures), 'time')}"
    reasons = _reasons(absence)
    if not reasons:
        yield f"{opening}: its log, which would show why, is not at hand."
        return
    runs = [list(same) for _, same in groupby(reasons, key=lambda r: r[0])]
    clauses = [_why(run, is_dated=len(runs) > 1) for run in runs[:_NAMED]]
    more = [f"{len(runs) - _NAMED} more reasons"] if len(runs) > _NAMED else []
    yield f"{opening}: {'; '.join([*clauses, *more])}."
    yield from dict.fromkeys(reason.advice for reason, _ in reasons)


def _why(run: Sequence[tuple[StartReason, Event]], *, is_dated: bool) -> str:
    """Why starts failed one after another for one reason, with what the first of them wrote."""
    reason, line = run[0]
    words = (line.error or line.detail or "")[:_QUOTED]
    since = (
        f"at {line.happened_at:%H:%M:%S} "
        if len(run) == 1
        else f"{len(run)} times from {line.happened_at:%H:%M:%S} on "
    )
    return f"{since if is_dated else ''}{reason.reason}{f' ({words})' if words else ''}"


def _reasons(absence: Absence) -> list[tuple[StartReason, Event]]:
    """Why each start failed whose lines are at hand, and the line that shows it, in order of time."""
    own = ([e for e in start if e.broker == absence.broker] for start in absence.failures)
    return [why_start_failed(start) for start in own if start]


def _quotes(absence: Absence) -> Iterator[Quote]:
    """The evidence: what shows why it ended, and why each start failed, always; then the other lines."""
    requests = (e for e in absence.lines if e.kind == Kind.PROCESS_SIGNALLED)
    whys = (line for _, line in _reasons(absence))
    ends = (*absence.lines[:1], *absence.lines[-1:])
    firm = list({e.line_id: e for e in (*ends, *islice(requests, 2), *islice(whys, MAX_QUOTES - 4))}.values())
    others = (e for e in absence.lines if e not in firm)
    yield from map(quote, (*firm, *islice(others, MAX_QUOTES - len(firm))))
    yield from absence.snapshots


def _ending(absence: Absence, outage: BrokerOutage) -> str:
    if absence.up_at is None:
        if not absence.shows_end:
            return "It is not known whether it came back: the logs that would show it end before."
        if absence.known_until and absence.observed_until - absence.known_until > CLOCK_SKEW:
            return f"It had not come back at {absence.known_until:%H:%M:%S}, when the logs that would show it end."
        return "It had not come back when the logs end."
    length = away(outage)
    if absence.up_at == absence.down_at or not length:
        return ""
    if not absence.shows_end:
        return f"It served again after {length}; the logs do not cover all of that time."
    if not absence.is_end_exact:
        return f"It served again after {length}: a line shows that it served, and none shows its return."
    if starts_exactly(outage):
        return f"It served again after {length}."
    return f"It was away for {length}."


def _absences_in_snapshots(
    readings: Iterable[BrokerSnapshot], in_lines: Mapping[int, Sequence[Absence]], observed: Observed | None
) -> Iterator[Absence]:
    """Absences that only snapshots show: of a broker that they list, then do not list."""
    ordered = sorted(readings, key=lambda r: (r.snapshot_at, r.broker))
    snapshots = [{r.broker: r for r in rows} for _, rows in groupby(ordered, key=lambda r: r.snapshot_at)]
    for broker in sorted({r.broker for r in ordered}):
        listing = [n for n, snapshot in enumerate(snapshots) if broker in snapshot]
        for last, back in pairwise([*listing, len(snapshots)]):
            if back > last + 1:
                last_reading, without = snapshots[last][broker], next(iter(snapshots[last + 1].values()))
                up_at = snapshots[back][broker].snapshot_at if back < len(snapshots) else None
                if not any(a.meets(last_reading.snapshot_at - LATE_REPORT, up_at) for a in in_lines.get(broker, ())):
                    yield _absence_between(last_reading, without, up_at, observed)


def _absence_between(
    last_reading: BrokerSnapshot, without: BrokerSnapshot, up_at: datetime | None, observed: Observed | None
) -> Absence:
    """The absence between two readings, or between lines of the broker that lie closer to it."""
    signs = observed.signs if observed else SignsOfLife(())
    last = observed and observed.signs.last_service(last_reading.broker, without.snapshot_at, observed.missed_within)
    first = signs.first_service(last_reading.broker, without.snapshot_at + CATCHING_UP, is_over=False)
    ends = [at for at in (first and first.happened_at, up_at) if at]
    return Absence(
        broker=last_reading.broker,
        down_at=max(last_reading.snapshot_at, last or last_reading.snapshot_at),
        observed_until=observed.until if observed else without.snapshot_at,
        gone_by=without.snapshot_at,
        proven_until=without.snapshot_at,
        silent_from=without.snapshot_at,
        detected_at=without.snapshot_at,
        last_seen_at=last_reading.snapshot_at,
        up_at=min(ends, default=None),
        is_end_exact=not (first and up_at and first.happened_at < up_at),
        snapshots=(
            quote_snapshot(last_reading, f"broker {last_reading.broker} is listed"),
            quote_snapshot(without, f"broker {last_reading.broker} is not listed"),
        ),
    )
