"""From when to when each broker was absent, by the lines about its liveness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from spark_jobs.catalog.rows import Event, Quote
from spark_jobs.knowledge.kinds import Kind
from spark_jobs.transforms.brokers.liveness import SESSION, ActivityIndex, LivenessSignal, Signal, signals_by_broker
from spark_jobs.transforms.controllers import ControllerEpoch, active_at, controller_epochs_of
from spark_jobs.transforms.evidence import quote

LATE_REPORT = timedelta(minutes=1)
"""A controller busy with a failover reports a restart when the broker already serves again."""

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Absence:
    """One absence of one broker, as far as lines or snapshots show it.

    `began_with` is the broker's shutdown or halt; None where others detected the absence. `restart` shows a new
    process. `last_line` is the broker's own last line before, `failure` the first failure to reach it. `was_active`:
    it wrote lines while it was considered down. `shows_starts`: a start of the broker would be in the lines.
    `snapshots` quote those that alone show it. `observed_until` is the instant of the last known line.
    """

    broker: int
    down_at: datetime
    observed_until: datetime
    began_with: Signal | None = None
    detected_at: datetime | None = None
    up_at: datetime | None = None
    restart: LivenessSignal | None = None
    last_line: Event | None = None
    failure: Event | None = None
    was_active: bool = False
    shows_starts: bool = False
    lines: tuple[Event, ...] = ()
    snapshots: tuple[Quote, ...] = ()

    @property
    def evidence(self) -> list[Quote]:
        """The lines or snapshots that show it."""
        return [*map(quote, self.lines), *self.snapshots]

    @property
    def last_heard_at(self) -> datetime | None:
        """The broker's own last sign of life. A shutdown or a halt is one."""
        if self.last_line:
            return self.last_line.happened_at
        return self.down_at if self.began_with else None

    def meets(self, start: datetime, end: datetime | None) -> bool:
        """Whether it lasted at any instant of a span; `end` None: of a span that has not ended."""
        return (end is None or self.down_at <= end) and (self.up_at is None or self.up_at >= start)


@dataclass(frozen=True)
class _Observed:
    """What an absence is rebuilt from, beside the broker's own signals."""

    index: ActivityIndex
    terms: Sequence[ControllerEpoch]
    session: timedelta
    until: datetime
    has_incarnations: bool


def absences_of(ordered: Sequence[Event]) -> dict[int, list[Absence]]:
    """The absences of each broker.

    Takes: events as `rebuild_outages` does, in order, at least one.
    Order: by broker and time.
    """
    kinds = {e.kind for e in ordered}
    observed = _Observed(
        index=ActivityIndex(ordered),
        terms=controller_epochs_of(ordered),
        session=SESSION[not kinds.isdisjoint((Kind.BROKERS_CHANGED, Kind.BROKER_FAILED, Kind.BROKER_CAME))],
        until=ordered[-1].happened_at,
        has_incarnations=Kind.BROKER_INCARNATED in kinds,
    )
    signals = signals_by_broker(ordered, observed.terms)
    return {broker: _absences(own, observed) for broker, own in sorted(signals.items())}


def _absences(signals: Iterable[LivenessSignal], observed: _Observed) -> list[Absence]:
    absences: list[Absence] = []
    current: Absence | None = None
    for signal in signals:
        served_since = absences[-1].up_at if absences else None
        if current is None and _begins(signal, observed.index, served_since):
            current = _begun(signal, observed, served_since)
        if current is None:
            continue
        current = _continued(current, signal, observed.index)
        if current.up_at:
            absences.append(_finished(current, observed))
            current = None
    return [*absences, *([_finished(current, observed)] if current else [])]


def _begins(signal: LivenessSignal, index: ActivityIndex, served_since: datetime | None) -> bool:
    """Whether a signal begins an absence of a broker that, as far as known, serves."""
    if signal.shows is not Signal.RESTARTED:
        return signal.shows in (Signal.SHUTDOWN, Signal.HALTED, Signal.DOWN)
    if signal.is_own:
        return served_since is not None or index.last_before(signal.broker, signal.at) is not None
    # A controller that starts repeats old incarnations, and ZooKeeper's report may be late.
    is_late = served_since is not None and signal.at - served_since < LATE_REPORT
    return signal.event.kind == Kind.BROKERS_CHANGED and not is_late


def _begun(signal: LivenessSignal, observed: _Observed, served_since: datetime | None) -> Absence:
    broker, index = signal.broker, observed.index
    begun = Absence(broker, signal.at, observed.until, shows_starts=observed.has_incarnations or index.has_log(broker))
    if signal.shows in (Signal.SHUTDOWN, Signal.HALTED):
        return replace(begun, began_with=signal.shows)
    last_line = index.last_before(broker, signal.at, since=served_since)
    heard_at = last_line.happened_at if last_line else served_since
    failure = index.first_failure(broker, heard_at, signal.at)
    down_at = failure.happened_at if failure else _silent_since(signal, heard_at, observed.session)
    replaced_at = _replaced_at(broker, heard_at, signal.at, observed.terms)
    return replace(
        begun,
        down_at=min(down_at, replaced_at or signal.at),
        last_line=last_line,
        failure=failure,
        lines=tuple(filter(None, (last_line, failure))),
    )


def _silent_since(signal: LivenessSignal, heard_at: datetime | None, session: timedelta) -> datetime:
    """When the broker fell silent: the controller detects that within about one session."""
    if signal.is_own:
        return heard_at or signal.at
    earliest = signal.at - session
    return max(heard_at, earliest) if heard_at else earliest


def _continued(absence: Absence, signal: LivenessSignal, index: ActivityIndex) -> Absence:
    if signal.shows is Signal.IS_NEW and absence.restart:
        return absence
    absence = replace(absence, lines=(*absence.lines, signal.event))
    match signal.shows:
        case Signal.IS_NEW:
            return replace(absence, restart=signal)
        case Signal.DOWN | Signal.RELEASED:
            return replace(absence, detected_at=absence.detected_at or signal.at)
        case Signal.RESTARTED if signal.is_own or not index.has_log(signal.broker):
            return replace(absence, restart=absence.restart or signal)
        case Signal.SERVES:
            return replace(absence, up_at=signal.at)
    return absence


def _finished(absence: Absence, observed: _Observed) -> Absence:
    """The absence with what only the whole of it shows."""
    until = min((i for i in (absence.restart and absence.restart.at, absence.up_at) if i), default=_NEVER)
    if absence.detected_at:
        was_active = observed.index.is_active_between(absence.broker, absence.detected_at, until)
        return replace(absence, was_active=was_active)
    return replace(absence, detected_at=_replaced_at(absence.broker, absence.down_at, until, observed.terms))


def _replaced_at(
    broker: int, heard_at: datetime | None, until: datetime, terms: Sequence[ControllerEpoch]
) -> datetime | None:
    """When another controller replaced the broker, if it was the active controller when it was last active."""
    if heard_at is None or active_at(terms, heard_at) != broker:
        return None
    return next((t.since for t in terms if heard_at < t.since <= until and t.controller != broker), None)
