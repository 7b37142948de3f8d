"""Findings: what a person should know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import FindingSeverity, Harm
from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.knowledge.rules import RULE_BY_ID
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.settings.alerts import concerned
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

SHOWN_OPEN = 6
MOST_NAMED = 3


def findings(page: PageRows) -> Iterator[ui.Block]:
    """The findings, one entry for each rule, severity and piece of advice; critical ones are open.

    They come by severity, then by harm (what was not seen after lag), then by time.
    """
    events = figures.by_standing(page.of(Finding))[1]
    if not events:
        yield ui.Paragraph("No rule found anything that happened.")
    yield from _entries(page, events)


def standing(page: PageRows) -> Iterator[ui.Block]:
    """The settings and placements that would make a failure worse: they stand until someone changes them."""
    facts = figures.by_standing(page.of(Finding))[0]
    if facts:
        yield ui.Paragraph("Nothing happened to these: each would make a failure worse.", "quiet")
    yield from _entries(page, facts)


def _entries(page: PageRows, findings: Sequence[Finding]) -> Iterator[ui.Block]:
    rows = sorted(findings, key=lambda r: (r.first_at, r.subject, r.finding_id))
    groups = grouped(rows, lambda r: (r.severity, r.rule_id, r.advice, r.source)).values()
    for group in sorted(groups, key=_order):
        yield _rule(page, group)


def _order(rows: Sequence[Finding]) -> tuple[object, ...]:
    first = rows[0]
    severity = list(FindingSeverity).index(first.severity)
    rule = RULE_BY_ID.get(first.rule_id)
    harm = list(Harm).index(rule.harm or Harm.LAG_GREW if rule else Harm.POSTURE)
    return severity, harm, first.first_at, first.rule_id, first.advice, first.source


def _rule(page: PageRows, rows: Sequence[Finding]) -> ui.Entry:
    first, items = rows[0], tuple(_item(page, row) for row in rows)
    others = items[SHOWN_OPEN:]
    subjects = [plain.shortened(row.subject) for row in rows[1:]]
    more = f" (also {words.listed(subjects, MOST_NAMED)})" if subjects else ""
    return ui.Entry(
        words.sentence(first.rule_id.replace("_", " ")),
        (
            ui.List(items[:SHOWN_OPEN]),
            *((ui.Expandable(f"{len(others):,} more of this rule", (ui.List(others),)),) if others else ()),
            ui.advice_box(first.advice),
            ui.Paragraph(f"Threshold: {first.source}", "quiet"),
        ),
        style=f"finding {first.severity}",
        badges=(ui.Badge(first.severity, "severity"),),
        tone=first.severity,
        is_open=first.severity == FindingSeverity.CRITICAL,
        brief=f"{first.message}{more}",
        advice=first.advice,
    )


def _item(page: PageRows, row: Finding) -> ui.Item:
    first, last = (words.instant(at, page.day) for at in (row.first_at, row.last_at))
    until = (" to ", ui.At(row.last_at)) if last != first else ""
    # Many messages say when; the same instant is not written twice.
    has_instant = first in row.message
    label, owners = page.whose(*concerned(row.subject_kind, row.subject))
    when = "" if has_instant else (" ", ui.Quiet((ui.At(row.first_at), until)))
    ownership = (" ", ui.Quiet(f"{label}: {owners}")) if owners else ""
    return ui.Item(
        (row.message, when, ownership),
        anchor=plain.anchor("finding", row.finding_id),
        blocks=(page.evidence(row.evidence),),
    )


SECTION = Section("findings", 10, "findings", "", findings)
STANDING = Section("findings", 20, "standing", "Standing facts", standing)
