"""The jumps of groups' offsets: what was skipped and read again, for the page, answers and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.rows import OffsetJump
from kafka_hindsight.measures.records_moved import records_moved
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

ROWS = 60
"""The most rows of a table; gold.offset_jumps has all."""

_HEADINGS = ("Group", "Partition", "At", "From", "To", "Records", "What", "Confidence", "Why")


def summary_of(jumps: Sequence[OffsetJump]) -> Iterator[str]:
    """A sentence for each group and harm: how many records, and why; or that no member has come back."""
    for (group, harm, is_back), rows in grouped(
        jumps, lambda j: (j.group_id, j.harm, j.resumed_at is not None)
    ).items():
        causes = words.listed(list(dict.fromkeys(j.cause.noun.clause for j in rows)))
        if not is_back:
            yield f"Group {plain.shortened(group, 48)} has not come back: {causes}."
            continue
        moved = records_moved(rows, harm)
        verb = f"{'' if moved.low else 'may have '}{harm.noun.did.format(moved.records)}"
        yield f"Group {plain.shortened(group, 48)} {verb}: {causes}."


def jumps_block(page: PageRows, jumps: Sequence[OffsetJump]) -> Iterator[ui.Block]:
    """A sentence for each group and harm, then jump by jump."""
    for sentence in summary_of(jumps):
        yield ui.Paragraph(sentence)
    if jumps:
        rows = tuple(_jump(page, row) for row in jumps[:ROWS])
        yield ui.PlainTable("Where groups went on elsewhere than where they had come to", _HEADINGS, rows)
        yield from ui.left_out_note(len(jumps) - len(rows), "gold.offset_jumps")


def _jump(page: PageRows, row: OffsetJump) -> ui.TableRow:
    return ui.row(
        ui.head(page.link("group", row.group_id), "id"),
        ui.Name(plain.shortened(f"{row.topic}-{row.partition}")),
        ui.At(row.jumped_at),
        words.exact(row.offset_from) or "not known",
        words.exact(row.offset_to) or "not known",
        _count(row),
        row.harm.noun.label if row.resumed_at else "not back",
        ui.confidence_badge(row.confidence),
        ui.Cell(page.evidence(row.evidence, row.explanation), "wide"),
    )


def _count(row: OffsetJump) -> str:
    if row.records_high is None:
        return f"{words.number(row.records_low)}+"
    return words.number_range(row.records_low, row.records_high)
