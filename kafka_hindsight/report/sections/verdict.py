"""What a reader sees first: the harm done, what to do, what was not seen; then the window in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    Coverage,
    Failover,
    Finding,
    Incident,
    Rebalance,
    Unavailability,
    ValidationResult,
)
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.lead import lead, tiles
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.sections import coverage
from kafka_hindsight.report.unread_logs import unread_first
from kafka_hindsight.report.verdict_brokers import broker_sentences
from kafka_hindsight.report.verdict_groups import GroupVerdict
from kafka_hindsight.shared import words

BROKEN = 6


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
    brokers = broker_sentences(page, set() if groups.is_from_outages else groups.outages_named)
    coverage_of_it = (
        _findings(page),
        coverage.generations_sentence(page),
        coverage.leaders_sentence(page),
        coverage.unread_sentence(page),
    )
    happened = (brokers, groups.sentences()) if groups.is_from_outages else (groups.sentences(), brokers)
    return ((unread_first(page),), *happened, coverage_of_it)


def _refusal(broken: Sequence[ValidationResult]) -> ui.Box:
    count = words.counted(len(broken), "critical expectation")
    why = [f"{r.table}: {r.expectation}. {' '.join(r.sentences or ())}".strip() for r in broken[:BROKEN]]
    said = (
        f"This run was not published: {count} did not hold. "
        "What follows is what had been published before, if anything had."
    )
    return ui.Box("refusal", (ui.Paragraph(ui.Strong(said)), ui.List(tuple(ui.Item(line) for line in why))))


def _findings(page: PageRows) -> str:
    counts = Counter(row.severity for row in page.of(Finding))
    nouns = ((FindingSeverity.CRITICAL, "critical finding"), (FindingSeverity.WARNING, "warning"))
    said = [words.counted(counts[severity], noun) for severity, noun in nouns if counts[severity]]
    return f"{words.listed(said)}." if said else ""


READS = (BrokerOutage, Coverage, Failover, Finding, Incident, Rebalance, Unavailability, ValidationResult)
SECTION = Section(10, "verdict", "", "Verdict", verdict, READS)
