"""The window in a few sentences: what happened, what caused it, and whether all of it was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from spark_jobs.catalog.codes import FindingSeverity
from spark_jobs.catalog.rows import BrokerOutage, Coverage, Failover, Finding, Incident, Rebalance, ValidationResult
from spark_jobs.report import blocks as ui
from spark_jobs.report.page_rows import PageRows, Section
from spark_jobs.report.sections import coverage
from spark_jobs.report.unread_logs import unread_first
from spark_jobs.report.verdict_brokers import broker_sentences
from spark_jobs.report.verdict_groups import GroupVerdict
from spark_jobs.shared import words

BROKEN = 6


def verdict(page: PageRows) -> Iterator[ui.Block]:
    """Why the window was not published, where it was not; the verdict; the numbers that a reader looks for first."""
    broken = coverage.broken_expectations(page, "critical")
    if broken:
        yield _refusal(broken)
    first = True
    paragraphs = []
    for said in _paragraphs(page):
        sentences = [words.sentence(sentence) for sentence in said if sentence]
        if sentences:
            lead: ui.Words = ui.Badge(sentences[0], "lead") if first else sentences[0]
            paragraphs.append(ui.Paragraph(ui.separated((lead, *sentences[1:]), " ")))
            first = False
    yield ui.Box("verdict", tuple(paragraphs))
    yield ui.Tiles(tuple(_tiles(page)))


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


def _tiles(page: PageRows) -> Iterator[ui.Tile]:
    outages, failovers = page.of(BrokerOutage), page.of(Failover)
    unplanned = sum(not row.planned for row in page.of(Incident))
    critical = sum(row.severity == "critical" for row in page.of(Finding))
    endangered = any(row.kind in ("unclean_election", "offline") for row in failovers)
    lost = coverage.totals(page).lost
    yield _tile(len(page.rebalances), "rebalance", "plain", "rebalances")
    yield _tile(unplanned, "unplanned incident", "warn" if unplanned else "good", "incidents")
    yield _tile(len(outages), "broker outage", "plain" if all(o.planned for o in outages) else "bad", "outages")
    yield _tile(len(failovers), "leader change", "bad" if endangered else "plain", "failovers")
    yield _tile(critical, "critical finding", "bad" if critical else "good", "findings")
    label = words.verb(lost, "line not read", "lines not read")
    yield ui.Tile(words.number(lost), label, "warn" if lost else "good", "unread")


def _tile(count: int, noun: str, tone: str, anchor: str) -> ui.Tile:
    return ui.Tile(words.number(count), words.verb(count, noun, f"{noun}s"), tone, anchor)


READS = (BrokerOutage, Coverage, Failover, Finding, Incident, Rebalance, ValidationResult)
SECTION = Section(10, "verdict", "", "Verdict", verdict, READS)
