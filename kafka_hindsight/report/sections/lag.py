"""Lag: the verdict on each group and topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import LagStatus
from kafka_hindsight.catalog.rows import LagVerdict
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.shared import words
from kafka_hindsight.shared.grouping import grouped

HEADINGS = ("Group", "Verdict<", "Topic<", "Partitions", "Lag at first", "Lag at last", "Worst partition", "Proof")
ORDER = LagStatus.worst_first()


def lag(page: PageRows) -> Iterator[ui.Block]:
    """Lag by group, topic and verdict, worst first; partitions that keep up are only counted."""
    rows = page.of(LagVerdict)
    yield ui.Paragraph(_summary(Counter(row.status for row in rows)))
    bad = [row for row in rows if row.status != LagStatus.OK]
    groups = sorted(
        grouped(bad, lambda r: (ORDER.index(r.status), r.group_id, r.topic)).items(),
        key=lambda item: (item[0][0], -(_sum(r.lag_last for r in item[1]) or 0), item[0]),
    )
    if groups:
        table_rows = tuple(_group(page, verdicts) for _, verdicts in groups)
        yield ui.PlainTable("Lag by group and topic", HEADINGS, table_rows, "numbers")


def _summary(counts: Counter[LagStatus]) -> str:
    total, well = counts.total(), counts[LagStatus.OK]
    if not total:
        return "No lag was judged: that needs snapshots with committed offsets."
    if well == total:
        return f"All {words.counted(total, 'partition')} that a group reads keep up."
    bad = [
        f"{words.number(counts[s])} {words.verb(counts[s], 'has', 'have')} the verdict “{s}”"
        for s in ORDER
        if counts[s] and s != LagStatus.OK
    ]
    keeps = f"{words.number(well)} {words.verb(well, 'keeps', 'keep')} up"
    return f"Of {words.counted(total, 'partition')} that groups read, {words.listed(bad)}; {keeps}."


def _group(page: PageRows, rows: Sequence[LagVerdict]) -> ui.TableRow:
    worst = max(rows, key=lambda r: (r.lag_max or 0, r.partition))
    noun = worst.status.noun
    return ui.row(
        ui.head(page.link("group", worst.group_id), "id"),
        ui.Cell(f"{worst.status}: {noun.label}", f"{noun.grade} left"),
        ui.Cell(page.link("topic", worst.topic), "left id"),
        words.ranges([r.partition for r in rows]),
        words.exact(_sum(r.lag_first for r in rows)),
        words.exact(_sum(r.lag_last for r in rows)),
        words.exact(worst.lag_max),
        ui.Cell(page.evidence(worst.evidence), "left"),
    )


def _sum(values: Iterator[int | None]) -> int | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


SECTION = Section("groups", 30, "lag", "Lag", lag)
