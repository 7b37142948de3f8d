"""Remedies: settings under which rebalances of a group, or their cost, would not have happened."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.codes import RemedySetting
from kafka_hindsight.catalog.rows import Rebalance, Remedy
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.shared import words

SHOWN = 100
LINKS_PER_REMEDY = 20
HEADINGS = (
    "Group", "Under<", "Now", "At least", "Rebalances avoided", "Partition-seconds avoided", "Confidence",
    "Effect<",
)  # fmt: skip


def remedies(page: PageRows) -> Iterator[ui.Block]:
    """The replays: first those that avoid the most rebalances, then those that avoid the most cost."""
    rows = sorted(
        page.of(Remedy),
        key=lambda r: (-r.rebalances_avoided, -(r.partition_seconds_avoided or 0.0), r.group_id, r.setting),
    )
    if not rows:
        yield ui.Paragraph("No setting is known that would have avoided a rebalance, or its cost.")
    else:
        groups = words.counted(len({row.group_id for row in rows}), "group")
        yield ui.Paragraph(
            f"A replay of the window for {groups}, one setting at a time and all else as it was: not a promise."
        )
        table_rows = tuple(_remedy(page, row) for row in rows[:SHOWN])
        yield ui.PlainTable("What would have helped, by group and setting", HEADINGS, table_rows, "numbers")
        yield from ui.left_out_note(len(rows) - SHOWN, "gold.remedies")
    settings = {row.setting for row in rows}
    for noun in (setting.noun for setting in RemedySetting if setting in settings):
        price = f"{words.sentence(noun.label)} ({noun.option}) has a cost: {noun.costs}. Source: {noun.source}."
        yield ui.Paragraph(price, "quiet")


def _remedy(page: PageRows, row: Remedy) -> ui.TableRow:
    noun = row.setting.noun
    rebalances = {r.rebalance_id: r for r in page.rows_of(Rebalance, "group_id", row.group_id)}
    avoided = [rebalances[i] for i in row.rebalance_ids if i in rebalances][:LINKS_PER_REMEDY]
    hidden = row.rebalances_avoided - len(avoided)
    links = [ui.Link(words.instant(r.started_at, page.day), page.rebalance_anchor(r)) for r in avoided]
    line = (" ", ui.join(links, " "), (" ", ui.Quiet(f"and {hidden} more")) if hidden > 0 else "") if links else ""
    return ui.row(
        ui.head(page.link("group", row.group_id), "id"),
        ui.Cell((noun.label, " ", ui.Quiet(noun.option)), "left"),
        words.duration(row.value_now),
        words.duration(row.value_smallest),
        f"{row.rebalances_avoided} of {row.rebalances_total}",
        words.exact(row.partition_seconds_avoided),
        ui.confidence_badge(row.confidence),
        ui.Cell((row.explanation, line, page.evidence(row.evidence)), "left wide"),
    )


SECTION = Section("groups", 40, "remedies", "What would have helped", remedies)
