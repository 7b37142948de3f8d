"""Absences of brokers: shut down, crashed, or alive and not responding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, groupby, pairwise

from kafka_hindsight.catalog.codes import Intent, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, BrokerSnapshot, Event, LogFile
from kafka_hindsight.judgements.brokers.absence_spans import LATE_REPORT, absences_of
from kafka_hindsight.judgements.brokers.liveness import SignsOfLife
from kafka_hindsight.judgements.brokers.observed import Observed, observe
from kafka_hindsight.judgements.brokers.outage_rulings import OUTAGE_RULINGS, Absence
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.knowledge.start_failures import StartReason, why_starts_failed
from kafka_hindsight.shared.absences import starts_exactly
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW, MS
from kafka_hindsight.shared.windows import Window, in_order
from kafka_hindsight.shared.words import counted, duration

_QUOTED = 200
"""Characters of an exception that a sentence quotes."""

CAUSED_BY: Mapping[str, str] = {
    OutageKind.CONTROLLED_SHUTDOWN: "was shut down in order",
    OutageKind.CRASH: "had crashed",
    OutageKind.UNRESPONSIVE: "was alive but did not respond",
    OutageKind.FAILED_START: "could not start",
    OutageKind.UNKNOWN: "was down for an unknown reason",
}
"""What a broker did whose outage is of that kind, as sentences go on."""


def rebuild_outages(
    events: Iterable[Event],
    readings: Iterable[BrokerSnapshot],
    window: Window,
    files: Iterable[LogFile] = (),
    proofs: Iterable[Event] = (),
) -> list[BrokerOutage]:
    """Rows of gold.broker_outages, each once, by broker and time, as far as brokers and controllers report them.

    Takes: silver.events of all brokers with look-back and look-ahead: all of liveness.PRESENCE_KINDS and
    controllers.CONTROLLER_KINDS, and of all others each broker's last one before and first one after each signal.
    `readings` (may be none) show absences where no line does. A log without one of the `files` is at hand all the time.
    `proofs`: what else of silver.events shows a broker to serve. What an absence did to partitions and groups is left
    out, and `intent` is unknown until it is compared with what was declared.
    Edge case: the first start of a broker of which nothing is known before is not an absence, unless it fails.
    """
    ordered = in_order(events)
    readings = list(readings)
    observed = observe(ordered, in_order(proofs), readings, files) if ordered else None
    cluster = next(chain((e.cluster for e in ordered), (r.cluster for r in readings)), "")
    return find_outages(cluster, observed, readings, window)


def find_outages(
    cluster: str, observed: Observed | None, readings: Sequence[BrokerSnapshot], window: Window
) -> list[BrokerOutage]:
    """What `rebuild_outages` gives, of lines that are read already. Takes: `observed`, None where there is no line."""
    in_lines = absences_of(observed) if observed else {}
    absences = chain(*in_lines.values(), _absences_in_snapshots(readings, in_lines, observed))
    return [_row(cluster, a) for a in absences if window.holds(a.down_at)]


def _row(cluster: str, absence: Absence) -> BrokerOutage:
    verdict = judge(OUTAGE_RULINGS, absence)
    kind = OutageKind(verdict.code)
    own = [e for e in absence.failures if e.broker == absence.broker]
    reason = why_starts_failed(words for e in own for words in (e.text, e.error) if words) if own else None
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
        failed_starts=absence.failed_starts,
        start_failure=reason.code if reason else None,
        away_low_ms=absence.lasted_at_least // MS,
        away_high_ms=None if absence.lasted_at_most is None else absence.lasted_at_most // MS,
        group_ids=[],
        confidence=verdict.confidence,
        explanation=" ".join(filter(None, (verdict.sentence, _starts(absence, reason)))),
        evidence=evidence_of([*map(quote, absence.lines), *absence.snapshots]),
    )
    told = (outage.explanation, _ending(absence, starts_exactly(outage)))
    return replace(outage, explanation=" ".join(filter(None, told)))


def _starts(absence: Absence, reason: StartReason | None) -> str:
    """The starts that failed while the broker was away, with the exception that shows why."""
    failed = f"Its start failed {counted(absence.failed_starts, 'time')}"
    if reason is None:
        return f"{failed}: its log, which would show why, is not at hand." if absence.failures else ""
    errors = [e.error for e in absence.failures if e.error]
    telling = next((error for error in errors if reason.told_by.search(error)), None)
    quoted = f" ({telling[:_QUOTED]})" if telling else ""
    return f"{failed}: {reason.reason}{quoted}. {reason.advice}"


def _ending(absence: Absence, starts_exactly: bool) -> str:
    if absence.up_at is None:
        if not absence.shows_end:
            return "Whether it came back is not known: no log that would show it reaches further."
        if absence.known_until and absence.observed_until - absence.known_until > CLOCK_SKEW:
            return f"It had not come back at {absence.known_until:%H:%M:%S}, when the logs that would show it end."
        return "It had not come back when the lines end."
    if absence.up_at == absence.down_at:
        return ""
    lasted = duration(absence.up_at - absence.down_at)
    if not absence.shows_end:
        return f"It served again after {lasted} at most: no log of all that time is at hand."
    if not absence.is_end_exact:
        return f"It served again after {lasted} at most: no line shows its return, and then it served."
    return f"It served again {f'after {lasted}' if starts_exactly else f'{lasted} after its last sign of life'}."


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
                seen, without = snapshots[last][broker], next(iter(snapshots[last + 1].values()))
                up_at = snapshots[back][broker].snapshot_at if back < len(snapshots) else None
                if not any(a.meets(seen.snapshot_at - LATE_REPORT, up_at) for a in in_lines.get(broker, ())):
                    yield _absence_between(seen, without, up_at, observed)


def _absence_between(
    seen: BrokerSnapshot, without: BrokerSnapshot, up_at: datetime | None, observed: Observed | None
) -> Absence:
    """The absence between two readings, or between lines of the broker that lie closer to it."""
    signs = observed.signs if observed else SignsOfLife(())
    last = observed and observed.signs.last_service(seen.broker, without.snapshot_at, observed.missed_within)
    first = signs.first_service(seen.broker, without.snapshot_at + CATCHING_UP, is_over=False)
    ends = [at for at in (first and first.happened_at, up_at) if at]
    return Absence(
        broker=seen.broker,
        down_at=max(seen.snapshot_at, last or seen.snapshot_at),
        observed_until=observed.until if observed else without.snapshot_at,
        gone_by=without.snapshot_at,
        proven_until=without.snapshot_at,
        silent_from=without.snapshot_at,
        detected_at=without.snapshot_at,
        last_seen_at=seen.snapshot_at,
        up_at=min(ends, default=None),
        is_end_exact=not (first and up_at and first.happened_at < up_at),
        snapshots=(
            quote_snapshot(seen, f"broker {seen.broker} is listed"),
            quote_snapshot(without, f"broker {seen.broker} is not listed"),
        ),
    )
