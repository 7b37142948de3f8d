"""What a reader sees first: the harm done, what to do, what was not seen; then the window in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from kafka_hindsight.catalog.codes import FailoverKind, FindingSeverity, OutOfSyncKind, TruncationVerdict
from kafka_hindsight.catalog.rows import (
    Failover,
    Finding,
    OutOfSyncPeriod,
    RollingRestart,
    Truncation,
    ValidationResult,
)
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.lead import lead, tiles
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import brokers_named, declared, lost_records, outage_at, unread_first
from kafka_hindsight.report.sections import coverage
from kafka_hindsight.report.sections.danger import exposure, worst_simulation
from kafka_hindsight.report.sections.restarts import headline, in_order
from kafka_hindsight.report.verdict_groups import GroupVerdict
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.absences import away, is_orderly

BROKEN = 6
RESTARTS_NAMED = 2
_IN_ORDER = frozenset({FailoverKind.CONTROLLED_SHUTDOWN, FailoverKind.PREFERRED_ELECTION, FailoverKind.REASSIGNMENT})


def verdict(page: PageRows) -> Iterator[ui.Block]:
    """Why the window was not published, where it was not; the first screen; all of it in sentences, folded."""
    broken = coverage.broken_expectations(page, "critical")
    if broken:
        yield _refusal(broken)
    yield lead(page)
    yield ui.Tiles(tuple(tiles(page)))
    said = [[words.sentence(sentence) for sentence in part if sentence] for part in _paragraphs(page)]
    prose = tuple(ui.Paragraph(ui.separated(sentences, " ")) for sentences in said if sentences)
    yield ui.Expandable("The window in sentences", (ui.Box("verdict", prose),))


def _paragraphs(page: PageRows) -> tuple[Sequence[str], ...]:
    groups = GroupVerdict.of(page)
    brokers = _broker_sentences(page, set() if groups.is_from_outages else groups.outages_named)
    happened = (brokers, groups.sentences()) if groups.is_from_outages else (groups.sentences(), brokers)
    counts = Counter(row.severity for row in page.of(Finding))
    nouns = ((FindingSeverity.CRITICAL, "critical finding"), (FindingSeverity.WARNING, "warning"))
    findings = words.listed([words.counted(counts[severity], noun) for severity, noun in nouns if counts[severity]])
    seen = (coverage.generations_sentence(page), coverage.leaders_sentence(page), coverage.unread_sentence(page))
    return ((unread_first(page),), *happened, (findings and f"{findings}.", *seen))


def _refusal(broken: Sequence[ValidationResult]) -> ui.Box:
    count = words.counted(len(broken), "critical expectation")
    why = [f"{r.table}: {r.expectation}. {' '.join(r.sentences or ())}".strip() for r in broken[:BROKEN]]
    said = (
        f"This run was not published: {count} did not hold. "
        "What follows is what had been published before, if anything had."
    )
    return ui.Box("refusal", (ui.Paragraph(ui.Strong(said)), ui.List(tuple(ui.Item(line) for line in why))))


def _broker_sentences(page: PageRows, named: Collection[str]) -> tuple[str, ...]:
    """What the brokers went through, but for outages that are named already, by id; some may be empty."""
    lost = [row for row in page.of(Truncation) if row.verdict == TruncationVerdict.COMMITTED_LOST]
    slow = {row.broker for row in page.of(OutOfSyncPeriod) if row.kind == OutOfSyncKind.SLOW}
    return (
        " ".join(f"{words.sentence(s)}." for s in _outages(page, named)),
        *_restarts(page),
        _failovers(page),
        f"{words.counted(len(lost), 'truncation')} took committed records." if lost else "",
        " ".join(said for _, said in exposure(page)),
        f"{words.sentence(brokers_named(slow, 6))} fell out of sync though alive." if slow else "",
        _simulation(page),
    )


def _restarts(page: PageRows) -> Iterator[str]:
    rows = in_order(page)
    for row in rows[:RESTARTS_NAMED]:
        first, last = (at and words.minute(at, page.day) for at in (row.started_at, row.ended_at))
        since = f"at {first}" if last == first else f"from {first} to {last}"
        when = since if last else f"from {first}, and it was not over by the end"
        yield f"{headline(row)}, {when}{declared(row)}."
    rest = len(rows) - RESTARTS_NAMED
    if rest > 0:
        yield f"{words.counted(rest, 'further rolling restart')}."


def _outages(page: PageRows, named: Collection[str]) -> Iterator[str]:
    restarts = {row.restart_id for row in page.of(RollingRestart)}
    rows = [o for o in page.outages.values() if o.outage_id not in named and o.restart_id not in restarts]
    lasted = [(row, away(row)) for row in rows if not is_orderly(row)]
    sudden = [outage_at(page, row) + (f" for {gone}" if gone else "") for row, gone in lasted]
    if sudden:
        yield ("also " if any(named) else "") + words.listed(sudden, at_most=4)
    orderly = [row for row in rows if is_orderly(row)]
    if len(orderly) == 1:
        yield f"{outage_at(page, orderly[0])}{declared(orderly[0])}"
    elif orderly:
        yield f"{len(orderly)} shutdowns in order, of {brokers_named({row.broker for row in orderly}, 6)}"
    last_of = {row.broker: row for row in page.outages.values()}
    missing = [broker for broker, last in last_of.items() if last.up_at is None]
    if missing:
        yield f"{brokers_named(missing, 6)} had not come back by the end"


def _failovers(page: PageRows) -> str:
    rows = [row for row in page.of(Failover) if row.kind not in _IN_ORDER]
    apart = len(page.of(Failover)) - len(rows)
    if not rows and not apart:
        return ""
    clauses = [
        words.counted(len(rows), "leader change") + (f" besides {words.number(apart)} in order" if apart else "")
    ]
    offline = sum(row.kind == FailoverKind.OFFLINE for row in rows)
    if offline:
        clauses.append(f"a partition was left without a leader {words.times(offline)}")
    unclean = [row for row in rows if row.kind == FailoverKind.UNCLEAN_ELECTION]
    if unclean:
        lows = [r.records_lost_low for r in unclean if r.records_lost_low is not None]
        highs = [r.records_lost_high for r in unclean if r.records_lost_high is not None]
        low, high = sum(lows) if lows else None, sum(highs) if len(highs) == len(lows) and highs else None
        lost = f" that lost {lost_records(low, high)}" if high or low else ""
        clauses.append(f"{words.counted(len(unclean), 'unclean election')}{lost}")
    return ", ".join(clauses) + "."


def _simulation(page: PageRows) -> str:
    worst = worst_simulation(page)
    if worst is None:
        return ""
    harms = ((worst.partitions_offline, "would have no leader"), (worst.partitions_unclean, "would lose records"))
    said = [f"{words.counted(count, 'partition')} {harm}" for count, harm in harms if count]
    lost = f"{worst.scope_kind} {plain.shortened(worst.scope, 48)}"
    return f"Were {lost} lost now, {words.listed(said)}." if said else ""


SECTION = Section(10, "verdict", "", "Verdict", verdict)
