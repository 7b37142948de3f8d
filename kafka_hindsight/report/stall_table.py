"""The table of partitions that stood still or fell behind: of a night, of a group, of a topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.rows import PartitionStall
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

_NAME = 24
"""The most letters of a name, so that the whole table fits a screen."""

HEADINGS = (
    "Group", "Topic<", "Partitions<", "What they did<", "Since<", "Until<", "Lag before", "Largest lag", "Owner<",
    "Its others<", "Sure<", "Proof",
)  # fmt: skip


def stall_table(page: PageRows, rows: Iterable[PartitionStall]) -> Iterator[ui.Block]:
    """The stalls by group, topic, kind, owner and start, in order of time; empty where there is none."""
    ordered = sorted(rows, key=lambda s: (s.started_at, s.group_id, s.topic, s.partition))
    alike = grouped(ordered, lambda s: (s.group_id, s.topic, s.kind, s.member_id, s.started_at)).values()
    if alike:
        table_rows = tuple(_stalls(page, own) for own in alike)
        yield ui.PlainTable("Partitions that stood still or fell behind", HEADINGS, table_rows, "numbers fleet")


def _since(page: PageRows, row: PartitionStall) -> str:
    """The time since when it stood: from the earliest to the latest instant at which it may have begun."""
    latest = words.instant(row.started_at, page.day)
    earliest = words.instant(row.started_low, page.day) if row.started_low else "before"
    return latest if earliest == latest else f"{earliest} to {latest}"


def _stalls(page: PageRows, rows: Sequence[PartitionStall]) -> ui.TableRow:
    worst = max(rows, key=lambda s: (s.lag_max, -s.partition))
    owner = plain.shortened(worst.client_id or worst.member_id or "not known", _NAME)
    generation = "" if worst.generation is None else f", generation {worst.generation}"
    ends = [words.instant(s.ended_at, page.day) if s.ended_at else "the last reading" for s in rows]
    return ui.row(
        ui.head(page.link("group", worst.group_id, _NAME), "id"),
        ui.Cell(page.link("topic", worst.topic, _NAME), "left id"),
        ui.Cell(words.ranges([s.partition for s in rows]), "left"),
        ui.Cell(worst.kind.noun.label, f"{worst.kind.noun.grade} left"),
        ui.Cell(_since(page, worst), "left"),
        ui.Cell(" or ".join(dict.fromkeys(ends)), "left"),
        words.exact(sum(s.lag_first for s in rows)),
        words.exact(sum(s.lag_max for s in rows)),
        ui.Cell(f"{owner}{generation}", "left id"),
        ui.Cell("" if worst.owned_partitions is None else _others(worst), "left"),
        ui.Cell(Confidence.least(s.confidence for s in rows), "left"),
        ui.Cell(page.evidence(worst.evidence), "left"),
    )


def _others(row: PartitionStall) -> str:
    """The clause on the owner's other partitions meanwhile."""
    others = (row.owned_partitions or 1) - 1
    moved = f"{words.number(row.moving_partitions or 0)} of {words.number(others)} moved"
    return f"{moved}, {words.number(row.idle_partitions)} had nothing to read" if row.idle_partitions else moved
