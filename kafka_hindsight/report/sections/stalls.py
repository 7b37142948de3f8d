"""Stalls: the partitions that stood still or fell behind while they had an owner, and what was checked."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.codes import InputKind
from kafka_hindsight.catalog.rows import InputSpan, PartitionStall
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.not_known import unread_inputs
from kafka_hindsight.report.page_rows import LagReading, PageRows, Section
from kafka_hindsight.report.stall_table import stall_table
from kafka_hindsight.shared import words


def stalls(page: PageRows) -> Iterator[ui.Block]:
    """The input that shows stalls, and each of them."""
    yield ui.Paragraph(counts_of(page))
    yield from map(ui.Paragraph, unread_inputs(page.of(InputSpan), InputKind.READINGS, day=page.day))
    yield from stall_table(page, page.of(PartitionStall))


def counts_of(page: PageRows) -> str:
    """How many partitions stood or fell behind, by how many readings; or why that is not known."""
    readings, rows = len(page.of(LagReading)), page.of(PartitionStall)
    if not readings and not rows:
        return "Whether partitions stood still or fell behind is not known: no reading shows committed offsets."
    places = {(row.group_id, row.topic, row.partition) for row in rows}
    stands = {(row.group_id, row.topic, row.partition) for row in rows if row.kind.noun.is_stand}
    source = f"{words.counted(readings, 'reading')} {words.verb(readings, 'shows', 'show')} committed offsets"
    return (
        f"{words.sentence(source)}. While records waited for an owner that readings or records show,"
        f" {words.counted(len(stands), 'partition')} stood still and"
        f" {words.counted(len(places - stands), 'partition')} fell behind."
    )


SECTION = Section("groups", 30, "stalls", "Partitions that stood still or fell behind", stalls)
