"""The changes since the window before, in a few lines on the first screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.rows import Finding, Incident
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.shared import plain, words

SHOWN = 3
SEVERE = {"critical": "bad", "warning": "warn"}


def changes(page: PageRows) -> Iterator[ui.Block]:
    """The incidents and the findings that are new, came back or are gone; nothing without a window before."""
    if not page.earlier_windows:
        return
    last = page.earlier_windows[-1]
    since = words.instant(last.window_from)
    labels = Counter(
        recurrence[0]
        for rows in figures.equal_incidents(figures.urgent_first(page.of(Incident)))
        if (recurrence := page.recurrence(rows[0]))
    )
    now = {row.recurrence_id for row in page.of(Incident)}
    ends = sum(last.window_from in e.windows and e.recurrence_id not in now for e in page.earlier_incidents.values())
    counts = [f"{words.number(count)} {label}" for label, count in sorted(labels.items())]
    counts += [f"{words.number(ends)} of that window {words.verb(ends, 'is', 'are')} gone"] if ends else []
    incidents = f"Incidents: {words.listed(counts)}. " if counts else ""
    numbers = f"{_numbers(page)} " if last.is_comparable else "That window had another length: no number is compared. "
    link = ui.Link(f"The {words.counted(len(page.earlier_windows), 'window')} before", "history")
    yield ui.Paragraph((f"Against the window from {since}: {incidents}{numbers}", link, "."))
    items = (*_items(_new(page), "New: ", "new findings"), *_items(_past(page), "No longer found: ", "findings gone"))
    if items:
        yield ui.List(items, "statements")


def _numbers(page: PageRows) -> str:
    this, last = page.as_window, page.earlier_windows[-1]
    rebalances = _comparison(this.rebalances, last.rebalances, "rebalance")
    return f"{words.sentence(rebalances)}; {_comparison(this.failovers, last.failovers, 'leader change')}."


def _comparison(now: float, before: float, noun: str) -> str:
    count = words.counted(int(now), noun)
    if now == before:
        return f"{count}, as many"
    return f"{count}, {words.number(abs(now - before))} {'more' if now > before else 'fewer'}"


def _new(page: PageRows) -> list[tuple[Finding, str]]:
    before = {_key(row) for row in page.run.history.findings}
    return [(row, SEVERE[row.severity]) for row in _severe(page.of(Finding)) if _key(row) not in before]


def _past(page: PageRows) -> list[tuple[Finding, str]]:
    now = {_key(row) for row in page.of(Finding)}
    return [(row, "good") for row in _severe(page.run.history.findings) if _key(row) not in now]


def _items(rows: Sequence[tuple[Finding, str]], label: str, noun: str) -> Iterator[ui.Item]:
    for row, tone in rows[:SHOWN]:
        text = f"{label}{row.message}"
        yield ui.Item(ui.Link(text, plain.anchor("finding", row.finding_id)) if tone != "good" else text, tone)
    if rows[SHOWN:]:
        yield ui.Item(f"{words.number(len(rows) - SHOWN)} more {noun}.", "plain")


def _severe(rows: Sequence[Finding]) -> list[Finding]:
    """Critical findings, then warnings: the order of SEVERE is that of the alphabet."""
    return sorted((r for r in rows if r.severity in SEVERE), key=lambda r: (r.severity, r.rule_id, r.subject))


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.rule_id, finding.subject_kind, finding.subject


SECTION = Section("night", 20, "changes", "What changed", changes)
