"""Absences of brokers: shut down, crashed, or alive and not heard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from spark_jobs.transforms.brokers.liveness import (
    HALTED,
    LET_GO,
    MISSED,
    RESTARTED,
    SERVES,
    SESSION,
    SHUTDOWN,
    ActivityIndex,
    Mark,
    marks_by_broker,
)
from spark_jobs.transforms.controllers import Term, active_at, terms_of
from spark_jobs.transforms.evidence import evidence_of, quote, quote_snapshot, row_id
from spark_jobs.transforms.windows import OutRow, Row, Window, in_order, took

CAUSED_BY = {
    "controlled_shutdown": "was shut down in order",
    "crash": "had crashed",
    "unresponsive": "was alive but not heard",
    "unknown": "had gone, nobody can tell why",
}
"""What a broker did whose absence is of that kind, as sentences go on."""

GIVEN_UP_AFTER = timedelta(minutes=10)
"""A broker that is silent this long without a line of its own is taken for dead."""

_OLD_NEWS = timedelta(minutes=1)
"""A controller busy with a failover tells of a restart when the broker already serves again."""


@dataclass
class Absence:
    """One absence while it is being rebuilt."""

    broker: int
    down_at: datetime
    is_shutdown: bool
    detected_at: datetime | None = None
    up_at: datetime | None = None
    restart: Mark | None = None
    last_life: Row | None = None
    failure: Row | None = None
    is_halted: bool = False
    is_heard: bool = False
    shows_starts: bool = False
    lines: list[Row] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        """Whether only a record shows that it was missed, which looks the same where a broker that leads nothing ends.

        Source: BrokerHeartbeatManager.calculateNextBrokerState: who leads nothing is let go at once.
        """
        kinds = {line["kind"] for line in self.lines}
        return "broker_fenced_idle" in kinds and "broker_fenced" not in kinds


def rebuild_outages(events: Iterable[Row], readings: Iterable[Row], window: Window) -> list[OutRow]:
    """Rows of gold.broker_outages, each once, as far as brokers and controllers tell them.

    Takes: silver.events of all brokers with look-back and look-ahead: all of presence.PRESENCE_KINDS and
    controllers.CONTROLLER_KINDS, and of all others one for each broker and second is enough;
    rows of bronze.broker_snapshots (may be none), which tell of absences where no line does.
    Gives: isr_recovered_at, leadership_restored_at, elections, partitions_led_before are null and group_ids empty:
    `impacts.add_impact` fills them from the timelines of partitions and groups.
    Order: by broker and time.
    Keeps: the absences of one broker do not overlap; up_at and detected_at are no earlier than down_at.
    Odd: the first start of a broker that nobody had seen is no absence.
    """
    ordered = in_order(events)
    if not ordered:
        return _seen_by_readings(readings, {}, window)
    terms = terms_of(ordered)
    signs = ActivityIndex(ordered)
    by_zookeeper = any(e["kind"] in ("brokers_changed", "broker_failed", "broker_came") for e in ordered)
    last_at = ordered[-1]["happened_at"]
    absences = {
        broker: _absences_of(marks, signs, terms, SESSION[by_zookeeper])
        for broker, marks in sorted(marks_by_broker(ordered, terms).items())
    }
    tells_starts = any(e["kind"] == "broker_incarnated" for e in ordered)
    for absence in (a for some in absences.values() for a in some):
        absence.shows_starts = tells_starts or signs.has_log(absence.broker)
    rows = [
        _row(ordered[0]["cluster"], a, last_at) for some in absences.values() for a in some if window.holds(a.down_at)
    ]
    return rows + _seen_by_readings(readings, absences, window)


def _absences_of(
    marks: Sequence[Mark], signs: ActivityIndex, terms: Sequence[Term], session: timedelta
) -> list[Absence]:
    absences: list[Absence] = []
    now: Absence | None = None
    for mark in marks:
        before = absences[-1] if absences else None
        if now is None and _begins(mark, signs, before):
            now = _begun(mark, signs, terms, session, before.up_at if before else None)
            absences.append(now)
        if now is None:
            continue
        now.lines.append(mark.event)
        if mark.says in (MISSED, LET_GO):
            now.detected_at = now.detected_at or mark.at
        elif mark.says == RESTARTED and (mark.is_own or not signs.has_log(mark.broker)):
            now.restart = now.restart or mark
        elif mark.says == SERVES:
            now.up_at = mark.at
            _finish(now, signs, terms)
            now = None
    if now:
        _finish(now, signs, terms)
    return absences


def _begins(mark: Mark, signs: ActivityIndex, before: Absence | None) -> bool:
    """Whether a mark begins an absence of a broker that, as far as known, serves."""
    if mark.says in (SHUTDOWN, HALTED, MISSED):
        return True
    if mark.says != RESTARTED:
        return False
    if not mark.is_own:
        # A controller that starts repeats old incarnations; ZooKeeper's word, a moment too late, is old news as well.
        is_old_news = before and before.up_at and mark.at - before.up_at < _OLD_NEWS
        return mark.event["kind"] == "brokers_changed" and not is_old_news
    return before is not None or signs.last_before(mark.broker, mark.at) is not None


def _begun(
    mark: Mark, signs: ActivityIndex, terms: Sequence[Term], session: timedelta, since: datetime | None
) -> Absence:
    if mark.says == SHUTDOWN:
        return Absence(mark.broker, mark.at, True)
    if mark.says == HALTED:
        return Absence(mark.broker, mark.at, False, is_halted=True)
    life = signs.last_before(mark.broker, mark.at)
    if life and since and life["happened_at"] < since:
        life = None
    heard_at = life["happened_at"] if life else since
    failure = signs.first_failure(mark.broker, heard_at, mark.at)
    if failure:
        down_at = failure["happened_at"]
    else:
        # Nobody who is missed only now was silent for much longer than a session.
        known = [i for i in (heard_at, None if mark.is_own else mark.at - session) if i]
        down_at = max(known, default=mark.at)
    deposed_at = _deposed_at(mark.broker, heard_at, mark.at, terms)
    absence = Absence(mark.broker, min(down_at, deposed_at or mark.at), False, last_life=life, failure=failure)
    absence.lines += [line for line in (life, failure) if line]
    return absence


def _deposed_at(broker: int, heard_at: datetime | None, until: datetime, terms: Sequence[Term]) -> datetime | None:
    """When others replaced the broker as controller, if it was the controller when it was heard of last."""
    if heard_at is None or active_at(terms, heard_at) != broker:
        return None
    return next((t.since for t in terms if heard_at < t.since <= until and t.controller != broker), None)


def _finish(absence: Absence, signs: ActivityIndex, terms: Sequence[Term]) -> None:
    """What only the whole absence shows: whether it spoke while it was missed, and who missed it."""
    ends = [i for i in (absence.restart.at if absence.restart else None, absence.up_at) if i]
    until = min(ends, default=datetime.max.replace(tzinfo=UTC))
    if absence.detected_at:
        absence.is_heard = signs.is_heard_within(absence.broker, absence.detected_at, until)
    else:
        absence.detected_at = _deposed_at(absence.broker, absence.down_at, until, terms)


def _row(cluster: str, absence: Absence, last_at: datetime) -> OutRow:
    kind, confidence, explanation = _judge(absence, last_at)
    return {
        "cluster": cluster,
        "outage_id": row_id(cluster, "outage", absence.broker, absence.down_at),
        "broker": absence.broker,
        "kind": kind,
        "planned": kind == "controlled_shutdown",
        "down_at": absence.down_at,
        "detected_at": absence.detected_at,
        "last_heard_at": _last_heard_at(absence),
        "unreachable_at": absence.failure["happened_at"] if absence.failure else None,
        "up_at": absence.up_at,
        "isr_recovered_at": None,
        "leadership_restored_at": None,
        "elections": None,
        "partitions_led_before": None,
        "group_ids": [],
        "confidence": confidence,
        "explanation": f"{explanation} {_ending(absence)}",
        "evidence": evidence_of(quote(line) for line in absence.lines),
    }


def _last_heard_at(absence: Absence) -> datetime | None:
    """The broker's own last sign of life; the order or the end that it told of itself is one."""
    if absence.last_life:
        heard_at: datetime = absence.last_life["happened_at"]
        return heard_at
    return absence.down_at if absence.is_shutdown or absence.is_halted else None


def _judge(absence: Absence, last_at: datetime) -> tuple[str, str, str]:
    """Kind, confidence, and what happened.

    Source: a broker halts over its disks (LogManager.handleLogDirFailure); a start without a shutdown before it is a
    crash (BrokerServer.shutdown, KafkaServer.shutdown); a fenced broker that is unfenced without a new incarnation was
    alive all the time (BrokerHeartbeatManager, ClusterControlManager.registerBroker).
    """
    who = f"Broker {absence.broker}"
    if absence.is_shutdown:
        return "controlled_shutdown", "certain", f"{who} was shut down in order."
    if absence.is_halted:
        return "crash", "certain", f"{who} ended itself, since a log directory that it cannot do without had failed."
    if absence.is_heard:
        return "unresponsive", "certain", f"{who} was alive while the cluster missed it: a pause, or the network."
    if absence.is_idle and not (absence.restart and absence.restart.is_own):
        return "unknown", "unknown", f"{who} was fenced while it led nothing: shut down in order, or silent."
    if absence.restart:
        seen = "certain" if absence.restart.is_own and absence.last_life else "likely"
        return "crash", seen, f"{who} ended without a shutdown, and a new process took its place."
    if absence.up_at and absence.shows_starts:
        seen = "certain" if absence.last_life else "likely"
        return "unresponsive", seen, f"{who} was missed and came back with the same process: a pause, or the network."
    if absence.up_at:
        return "unknown", "unknown", f"{who} was missed and came back; whether as a new process no line tells."
    if last_at - absence.down_at >= GIVEN_UP_AFTER:
        return "crash", "likely", f"{who} fell silent without a shutdown."
    return "unknown", "unknown", f"{who} fell silent; whether its process ended or was cut off cannot be told yet."


def _ending(absence: Absence) -> str:
    if absence.up_at:
        return f"It served again after {took(absence.down_at, absence.up_at)}."
    return "It had not come back when the records end."


def _seen_by_readings(readings: Iterable[Row], told: dict[int, list[Absence]], window: Window) -> list[OutRow]:
    """Absences that only readings of the cluster show: a broker they list, then do not list."""
    listed: dict[datetime, dict[int, Row]] = {}
    for row in sorted(readings, key=lambda r: (r["snapshot_at"], r["broker"])):
        listed.setdefault(row["snapshot_at"], {})[row["broker"]] = row
    rows = []
    for broker in sorted({b for brokers in listed.values() for b in brokers}):
        last: Row | None = None
        missing: list[datetime] = []
        for at, brokers in [*listed.items(), (None, {})]:
            if at is not None and broker not in brokers:
                missing += [at] if last else []
                continue
            if last and missing and not _is_told(last["snapshot_at"], at, told.get(broker, [])):
                rows.append(_reading_row(last, missing, listed, brokers.get(broker)))
            last, missing = brokers.get(broker), []
    return [r for r in rows if window.holds(r["down_at"])]


def _is_told(start: datetime, end: datetime | None, told: list[Absence]) -> bool:
    """Whether a line tells of an absence that meets the span; readings lag behind the lines."""
    early = start - _OLD_NEWS
    return any((end is None or a.down_at <= end) and (a.up_at is None or a.up_at >= early) for a in told)


def _reading_row(
    last: Row, missing: list[datetime], listed: dict[datetime, dict[int, Row]], back: Row | None
) -> OutRow:
    broker = last["broker"]
    absence = Absence(broker, last["snapshot_at"], False, missing[0], back["snapshot_at"] if back else None)
    others = next(iter(listed[missing[0]].values()))
    return _row(last["cluster"], absence, absence.down_at) | {
        "kind": "unknown",
        "confidence": "unknown",
        "explanation": f"Readings of the cluster missed broker {broker}; no line tells why. {_ending(absence)}",
        "evidence": evidence_of(
            [
                quote_snapshot(last["snapshot_id"], last["snapshot_at"], f"broker {broker} is listed"),
                quote_snapshot(others["snapshot_id"], missing[0], f"broker {broker} is not listed"),
            ]
        ),
    }
