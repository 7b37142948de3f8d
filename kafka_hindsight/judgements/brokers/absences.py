"""An absence of a broker: how it begins, and what each further signal proves of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, Quote
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch, active_at
from kafka_hindsight.judgements.brokers.liveness import (
    EXITS,
    FOUND_AT_START,
    SAME_START,
    SHUTDOWN_LASTS,
    LivenessSignal,
    Signal,
    is_registered,
)
from kafka_hindsight.judgements.brokers.observed import Observed
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW, LONG_AGO
from kafka_hindsight.shared.instants import latest

ENDS = (Signal.SHUTDOWN, Signal.STOPPED, Signal.HALTED, Signal.FAULTED)
"""The signals with which a process says that it ends."""

STARTS = (Signal.RESTARTED, Signal.IS_NEW)
"""The signals of a new process."""

LATE_REPORT = timedelta(minutes=1)
"""A controller busy with a failover reports a restart when the broker already serves again."""

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

_SELF_ENDED = (Signal.HALTED, Signal.FAULTED, Signal.FAILED)
"""The signals of a process that ends itself, or whose start failed."""

_OVER = (Signal.RELEASED, Signal.STOPPED, *_SELF_ENDED)
"""The signals after which the process has ended."""

_FAILURE_KINDS = (Kind.BROKER_START_FAILED, Kind.PROCESS_FAULTED)
_STARTING_KINDS = (Kind.BROKER_STARTING, Kind.BROKER_INCARNATED)


@dataclass(frozen=True)
class BrokerProcess:
    """The lines of the newest process of a broker before it serves.

    `conditions` are the lines in which its start says how it found its log directories, `reasons` those since then that
    say why it ends. `served_at`: when a process of the broker last said that it serves.
    """

    start: LivenessSignal | None = None
    conditions: tuple[Event, ...] = ()
    reasons: tuple[Event, ...] = ()
    served_at: datetime | None = None

    def after(self, signal: LivenessSignal) -> BrokerProcess:
        """The newest process as of one more signal."""
        if signal.shows is Signal.REASON:
            return replace(self, reasons=(*self.reasons, signal.event))
        if signal.is_own and signal.shows is Signal.RESTARTED:
            return BrokerProcess(start=signal, served_at=self.served_at)
        if signal.event.kind in FOUND_AT_START:
            return replace(self, conditions=(*self.conditions, signal.event))
        return BrokerProcess(served_at=signal.at) if signal.shows is Signal.SERVES else self


class AbsenceSignal(NamedTuple):
    """One signal of an absence, with the reasons that the process had given before it."""

    signal: LivenessSignal
    reasons: Sequence[Event]


@dataclass(frozen=True)
class Absence:
    """One absence of one broker, as far as the lines that were read, or snapshots, show it.

    `began_with` is the broker's shutdown, halt or failed start; None where others detected the absence. `restart`
    shows a new process. `last_line` is the broker's own last line before, `failure` the first failure to reach it.
    `last_seen_at` is the last proof before it that the broker served, `gone_by` the first proof that it did not,
    `proven_until` the last one; `silent_from`: from then on a line of the broker is not of the time before.
    `was_active`: it wrote lines while it was considered down. `shows_starts`: a start of the broker would be in the
    lines. `shows_start`: what happened to the broker just before is in logs that are at hand; `shows_end`: so is all
    since; `known_until`: up to then a return would be in logs at hand; `is_end_exact`: a line shows the return itself.
    `is_over`: its process had ended. `failures`: the lines of each start that failed. `snapshots` quote those that
    alone show it. `observed_until` is the last known instant. `is_log_unbroken`: the broker's own log is at hand all
    the time, so that an end of its process would be in it.
    """

    broker: int
    down_at: datetime
    observed_until: datetime
    gone_by: datetime
    proven_until: datetime
    silent_from: datetime
    began_with: Signal | None = None
    detected_at: datetime | None = None
    last_seen_at: datetime | None = None
    up_at: datetime | None = None
    restart: LivenessSignal | None = None
    last_line: Event | None = None
    failure: Event | None = None
    was_active: bool = False
    shows_starts: bool = False
    is_log_unbroken: bool = False
    shows_start: bool = True
    shows_end: bool = True
    is_end_exact: bool = True
    known_until: datetime | None = None
    is_over: bool = False
    failures: Sequence[Sequence[Event]] = ()
    lines: Sequence[Event] = ()
    snapshots: Sequence[Quote] = ()

    @property
    def is_session_alone(self) -> bool:
        """Whether it began with the end of a ZooKeeper session that the broker reports, and no new process is known.

        Only a registration, which a logger of its own writes, ends it. Source: KafkaZkClient.registerBroker.
        """
        is_alone = self.detected_at is None and self.restart is None and self.began_with is None
        return is_alone and any(e.kind == Kind.ZOOKEEPER_SESSION_EXPIRED for e in self.lines)

    @property
    def last_heard_at(self) -> datetime | None:
        """The broker's own last sign of life. A shutdown or a halt is one."""
        if self.last_line:
            return self.last_line.happened_at
        return self.down_at if self.began_with else None

    @property
    def lasted_at_least(self) -> timedelta:
        """From the first proof that it did not serve to the last one: the return itself, where a line shows it.

        Where logs of the time between are missing, it may have served and gone again: up to there.
        """
        if not self.shows_end and self.known_until:
            return max(timedelta(), min(self.known_until, self.proven_until) - self.gone_by)
        last_proof = (self.up_at if self.is_end_exact else None) or self.known_until if self.shows_end else None
        return max(timedelta(), max(last_proof or self.proven_until, self.proven_until) - self.gone_by)

    @property
    def lasted_at_most(self) -> timedelta | None:
        """From the last proof that it served to the next one; None where either is not known."""
        since = self.last_seen_at or (self.down_at if self.began_with in ENDS else None)
        return max(self.lasted_at_least, self.up_at - since) if since and self.up_at else None

    def meets(self, start: datetime, end: datetime | None) -> bool:
        """Whether it lasted at any instant of a span; `end` None: of a span that has not ended."""
        return (end is None or self.down_at <= end) and (self.up_at is None or self.up_at >= start)


def begin(signal: LivenessSignal, process: BrokerProcess, served_since: datetime | None, observed: Observed) -> Absence:
    """The absence that a signal begins. `served_since`: the end of the broker's absence before it."""
    at, until = signal.at, observed.until
    absence = Absence(signal.broker, at, until, gone_by=at, proven_until=at, silent_from=at)
    if signal.shows in ENDS:
        reasons = [e for e in process.reasons if at - e.happened_at <= SAME_START]
        return replace(absence, began_with=signal.shows, is_over=signal.shows is not Signal.SHUTDOWN, lines=reasons)
    if signal.shows is Signal.FAILED or (signal.is_own and process.start):
        # It has not served from that start on.
        start = process.start.event if process.start else signal.event
        at, lines = start.happened_at, [*([start] if process.start else []), *process.reasons]
        return replace(absence, began_with=Signal.FAILED, down_at=at, gone_by=at, is_over=True, lines=lines)
    # What precedes the line that a start was over is of the new process.
    before = at - CATCHING_UP if signal.shows is Signal.SERVES else at
    last_line = observed.signs.last_before(signal.broker, before, since=served_since)
    heard_at = last_line.happened_at if last_line else served_since
    if signal.is_own and heard_at and not observed.logs.would_show_start(signal.broker, heard_at, at):
        return replace(absence, shows_start=False, last_seen_at=heard_at)
    return _with_detection(replace(absence, last_line=last_line, lines=process.conditions), signal, heard_at, observed)


def _with_detection(absence: Absence, signal: LivenessSignal, heard_at: datetime | None, observed: Observed) -> Absence:
    """The absence that others detected, or that a start shows; it begins when the broker fell silent."""
    broker, signs, session = signal.broker, observed.signs, observed.session
    failure = signs.first_failure(broker, heard_at, signal.at)
    silent_since = heard_at or signal.at
    if not (signal.is_own or _is_first(signal, observed)):
        silent_since = max(heard_at or LONG_AGO, signal.at - session)
    down_at = failure.happened_at if failure else silent_since
    replaced = replaced_at(broker, heard_at, signal.at, observed.terms)
    if replaced and signal.at - replaced <= 2 * session:
        down_at = min(down_at, replaced)
    proofs = (heard_at, signs.last_service(broker, down_at, observed.missed_within))
    # A controller that lists all brokers at once does not know which of them were gone before. Any other controller
    # counted the broker in until a session before.
    is_listed = signal.event.kind == Kind.BROKERS_LISTED
    counted_until = max(heard_at, down_at - session) if heard_at and not is_listed else heard_at or down_at
    return replace(
        absence,
        down_at=down_at,
        last_seen_at=latest(*(at for at in proofs if at and at <= down_at)),
        failure=failure,
        shows_start=observed.logs.would_show_start(broker, counted_until, signal.at),
        lines=[*(line for line in (absence.last_line, failure) if line), *absence.lines],
    )


def _is_first(signal: LivenessSignal, observed: Observed) -> bool:
    """Whether the controller that misses the broker has just started, so that none was there before.

    On ZooKeeper a broker becomes the controller while it starts where no other is (KafkaController.elect).
    """
    controller = signal.event.broker
    if controller is None or signal.event.kind != Kind.BROKERS_LISTED:
        return False
    starts = (s.at for s in observed.signals.get(controller, ()) if s.event.kind == Kind.BROKER_STARTED)
    return any(abs(at - signal.at) <= LATE_REPORT for at in starts)


def replaced_at(
    broker: int, heard_at: datetime | None, until: datetime, terms: Sequence[ControllerEpoch]
) -> datetime | None:
    """The instant at which another controller replaced the broker, if it was the controller when last heard."""
    if heard_at is None or active_at(terms, heard_at) != broker:
        return None
    return next((t.since for t in terms if heard_at < t.since <= until and t.controller != broker), None)


def extend(absence: Absence, signal: LivenessSignal, observed: Observed) -> Absence:
    """The absence with what one more signal proves; `with_lines` adds the lines of all of them."""
    is_registration = signal.event.kind == Kind.BROKER_REGISTERED
    if is_registration and absence.detected_at:
        return absence
    if signal.shows is Signal.SERVES:
        restart = absence.restart or (signal if signal.is_own and not is_registration else None)
        return replace(absence, restart=restart, up_at=signal.at, is_end_exact=True)
    if signal.shows is Signal.REASON:
        return absence
    is_restart = signal.shows in STARTS and _is_restart(absence, signal, observed)
    is_detection = signal.shows in (Signal.RELEASED, Signal.DOWN)
    silent_from = signal.at + _LAST_WORDS.get(signal.shows, timedelta())
    # What the broker writes from its own start on is not of the process that ended, nor is what follows its end.
    is_sure = signal.shows in (Signal.RELEASED, Signal.STOPPED) or (is_restart and signal.is_own)
    # The thread of a controller is new; how the process before ended is in another log than the controller's.
    is_new = is_restart and (signal.event.kind != Kind.CONTROLLER_THREAD_STARTED or signal.at == absence.gone_by)
    return replace(
        absence,
        proven_until=max(absence.proven_until, signal.at),
        silent_from=silent_from if is_sure else max(absence.silent_from, silent_from),
        detected_at=absence.detected_at or (signal.at if is_detection else None),
        is_over=absence.is_over or signal.shows in _OVER or is_restart,
        restart=absence.restart or (signal if is_new else None),
    )


def _is_restart(absence: Absence, signal: LivenessSignal, observed: Observed) -> bool:
    """Whether a line shows a new process.

    The broker's own line does; its controller's does where that registers one, or where the broker's own log is not
    at hand. A process may have begun long before its controllers let it register. (16 s in a recorded night.)
    """
    return (
        signal.is_own
        or is_registered(signal.event)
        or not observed.logs.is_own_unbroken(signal.broker, absence.down_at - LATE_REPORT, signal.at)
    )


def with_lines(absence: Absence, steps: Sequence[AbsenceSignal], return_line: Event | None = None) -> Absence:
    """The absence with its lines, from its first signal to the last one, and with the lines of each failed start.

    `return_line` shows that the broker served by then, where no signal shows the return itself.
    """
    lines = (*absence.lines, *(step.signal.event for step in steps))
    absence = replace(absence, lines=lines, failures=_failures(absence.lines, steps))
    if return_line is None:
        return absence
    return replace(absence, up_at=return_line.happened_at, is_end_exact=False, lines=(*lines, return_line))


def _failures(lines: Sequence[Event], steps: Iterable[AbsenceSignal]) -> list[list[Event]]:
    """The lines of each start that failed; `lines` are those before the first step."""
    failures: list[list[Event]] = []
    stopped_at, started_at = _last_at(lines, (Kind.BROKER_STOPPED,)), _last_at(lines, _STARTING_KINDS)
    for signal, reasons in steps:
        line = signal.event
        stopped_at = max(stopped_at, _last_at([line], (Kind.BROKER_STOPPED,)))
        started_at = max(started_at, _last_at([line], _STARTING_KINDS))
        # Where the process before had ended, what halts now is a new one, which has not served.
        is_new = bool(failures) or stopped_at > LONG_AGO
        if signal.shows is Signal.FAILED or (signal.shows in _SELF_ENDED and is_new):
            if not failures or _is_another(failures[-1], line, started_at):
                # What a process wrote until its shutdown was completed is not of the start that fails after it.
                failures.append([e for e in reasons if e.happened_at > stopped_at])
            failures[-1].append(line)
    return failures


def _last_at(lines: Iterable[Event], kinds: Collection[Kind]) -> datetime:
    """The last instant of the lines of these kinds; LONG_AGO without any."""
    return max((e.happened_at for e in lines if e.kind in kinds), default=LONG_AGO)


def _is_another(start: Sequence[Event], failure: Event, started_at: datetime) -> bool:
    """Whether a line shows another failed start than the one with these lines before it.

    `started_at`: the last instant at which a process is known to have started.
    """
    ends = [(e.pattern_id, e.detail) for e in start if e.kind in _FAILURE_KINDS]
    # A process says once why it exits, and once of each of its servers that it failed.
    is_end, identity = failure.kind in _FAILURE_KINDS, (failure.pattern_id, failure.detail)
    if ends and is_end and (ends[-1][0] in EXITS or ends[-1] == identity):
        return True
    last = start[-1].happened_at
    return failure.happened_at - last > SHUTDOWN_LASTS or last < started_at
