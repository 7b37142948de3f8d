"""Rows of gold.broker_outages: each absence of a broker, judged with all that the logs at hand show of it.

Three phases, each from rows to rows: witnesses are gathered (observed.py), lives are cut into absences (lives.py), and
here absences are completed and judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice

from kafka_hindsight.catalog.codes import Intent, OutageKind, StartFailure
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerOutage, BrokerSnapshot, Event, Quote
from kafka_hindsight.judgements.brokers.absences import Absence, replaced_at
from kafka_hindsight.judgements.brokers.lives import Life
from kafka_hindsight.judgements.brokers.observed import Observed
from kafka_hindsight.judgements.brokers.outage_rulings import OUTAGE_RULINGS
from kafka_hindsight.judgements.brokers.unlisted import unlisted_absences
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.judgements.reasoning.read_times import ROTATED_WITHIN
from kafka_hindsight.judgements.reasoning.rulings import verdict_of
from kafka_hindsight.knowledge.start_failures import QUOTED, why_start_failed
from kafka_hindsight.measures.time_away import away, starts_exactly
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW, MS, NEVER
from kafka_hindsight.shared.instants import earliest
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted

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
    completed = [
        _with_logs(_with_activity(_with_start_behind(a, observed), observed), observed)
        for a in chain(*in_lines.values())
        if observed
    ]
    absences = (*completed, *unlisted_absences(readings, in_lines, observed))
    return [_row(cluster, a) for a in absences if window.holds(a.down_at)]


def _with_start_behind(absence: Absence, observed: Observed) -> Absence:
    """The absence with the line in which a new process says that it started, just after others saw it serve.

    On ZooKeeper a start names its broker only there, if several brokers write one log.
    """
    up_at = absence.up_at
    if absence.restart or up_at is None:
        return absence
    own = (s for s in observed.signals[absence.broker] if s.is_own and s.at >= up_at)
    following = next((s for s in own if s.event.kind != Kind.CONTROLLER_THREAD_STARTED), None)
    if following and following.event.kind == Kind.BROKER_STARTED and following.at - up_at <= CATCHING_UP:
        return replace(absence, restart=following, lines=(*absence.lines, following.event))
    return absence


def _with_activity(absence: Absence, observed: Observed) -> Absence:
    """The absence with the activity of the broker meanwhile.

    Where only a controller shows the new process, which registers, either process may have written the lines.
    """
    broker, restart, detected_at = absence.broker, absence.restart, absence.detected_at
    until = earliest(restart.at if restart else None, absence.up_at) or NEVER
    if detected_at is None:
        absence = replace(absence, detected_at=replaced_at(broker, absence.down_at, until, observed.terms))
    elif restart is None or restart.is_own:
        absence = replace(absence, was_active=observed.signs.is_active_between(broker, detected_at, until))
    return replace(absence, last_seen_at=None) if restart and not restart.is_own else absence


def _with_logs(absence: Absence, observed: Observed) -> Absence:
    """The absence with which logs are at hand that would show the broker's return and its starts."""
    broker, gone_by, up_at = absence.broker, absence.gone_by, absence.up_at
    known_until = observed.logs.known_until(broker, gone_by)
    # Where the logs of all brokers end only a little later than those that would show a return, up to these.
    end = up_at or (known_until if observed.until - known_until <= ROTATED_WITHIN else observed.until)
    by_controllers = observed.logs.is_controllers_whole(gone_by, end)
    is_return_logged = not absence.is_session_alone or observed.logs.shows_registrations(broker)
    by_itself = is_return_logged and observed.logs.is_own_whole(broker, gone_by, end)
    # Whether a broker that was active meanwhile served is what only controllers know.
    is_own_start = absence.restart is not None and absence.restart.is_own and not absence.was_active
    is_own_return = is_own_start or absence.lines[-1].kind == Kind.BROKER_REGISTERED
    shows_end = by_controllers or (by_itself and (not up_at or (is_own_return and absence.is_end_exact)))
    # A controller of KRaft names each new process that registers; ZooKeeper's cannot tell it from the old one.
    is_named = by_controllers and not observed.uses_zookeeper
    is_log_unbroken = observed.logs.is_own_unbroken(broker, gone_by, end)
    return replace(
        absence,
        known_until=None if up_at and shows_end else known_until,
        shows_end=shows_end,
        shows_starts=is_named or is_log_unbroken,
        is_log_unbroken=is_log_unbroken,
    )


def _row(cluster: str, absence: Absence) -> BrokerOutage:
    verdict = verdict_of(OUTAGE_RULINGS, absence)
    kind = OutageKind(verdict.code)
    codes = [reason for reason, _ in _reasons(absence)]
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
        evidence=evidence_of(*_quotes(absence)),
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
    yield from dict.fromkeys(reason.noun.advice for reason, _ in reasons)


def _why(run: Sequence[tuple[StartFailure, Event]], *, is_dated: bool) -> str:
    """Why starts failed one after another for one reason, with what the first of them wrote."""
    reason, line = run[0]
    words = (line.error or line.detail or "")[:QUOTED]
    since = (
        f"at {line.happened_at:%H:%M:%S} "
        if len(run) == 1
        else f"{len(run)} times from {line.happened_at:%H:%M:%S} on "
    )
    return f"{since if is_dated else ''}{reason.noun.clause}{f' ({words})' if words else ''}"


def _reasons(absence: Absence) -> list[tuple[StartFailure, Event]]:
    """Why each start failed whose lines are at hand, and the line that shows it, in order of time."""
    own = ([e for e in start if e.broker == absence.broker] for start in absence.failures)
    return [why_start_failed(start) for start in own if start]


def _quotes(absence: Absence) -> Iterator[Iterable[Quote]]:
    """The evidence: the first and the last sign, what asked it to stop, why each start failed; then the other lines."""
    yield map(quote, absence.lines[:1])
    yield map(quote, absence.lines[-1:])
    yield map(quote, islice((e for e in absence.lines if e.kind == Kind.PROCESS_SIGNALLED), 2))
    yield (quote(line) for _, line in _reasons(absence))
    yield map(quote, absence.lines)
    yield absence.snapshots


def _ending(absence: Absence, outage: BrokerOutage) -> str:
    if absence.up_at is None:
        if not absence.shows_end and absence.is_session_alone:
            return "It is not known whether it came back: no line of KafkaZkClient shows its registrations."
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
