"""Lines that could not be read: shapes that no pattern claims, and broken lines."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.rows import Quarantine
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import LineShape, PageRows, Section
from kafka_hindsight.report.sections.coverage import unread_sentence
from kafka_hindsight.shared import plain, words

SHAPES = 40
REFUSALS = 40


def unread(page: PageRows) -> Iterator[ui.Block]:
    """Shapes that no pattern claims, the most frequent first, then the quarantine."""
    yield ui.Paragraph(unread_sentence(page))
    shapes = sorted(page.of(LineShape), key=lambda s: (-s.lines, s.template))
    if shapes:
        yield ui.Heading("Lines that matter and that no pattern claims")
        rows = tuple(_shape(shape) for shape in shapes[:SHAPES])
        yield ui.PlainTable("Shapes of unread lines", ("Records", "Lines", "Shape"), rows, "numbers")
        hidden = len(shapes) - SHAPES
        yield from ui.note(f"{words.counted(hidden, 'rarer shape')} in quality.unparsed_lines.", hidden > 0)
    quarantine = sorted(page.of(Quarantine), key=lambda r: (-r.line_count, r.source, r.quarantine_id))
    if quarantine:
        yield ui.Heading("In quarantine")
        yield ui.List(tuple(_refusal(row) for row in quarantine[:REFUSALS]), "refusals")
        yield from ui.left_out_note(len(quarantine) - REFUSALS, "quality.quarantine")


def _shape(shape: LineShape) -> ui.TableRow:
    sample = ui.Expandable("One of them", (ui.Quotation(shape.sample),), "proof")
    content = ui.Cell((ui.Badge(shape.template, "code"), sample), "left wide")
    return ui.row(
        words.exact(shape.records),
        words.exact(shape.lines),
        content,
    )


def _refusal(row: Quarantine) -> ui.Item:
    at = (", ", ui.At(row.happened_at)) if row.happened_at else ""
    origin = ui.Quiet((ui.Name(plain.shortened(row.source)), at, f", {words.counted(row.line_count, 'line')}"))
    original = ui.Expandable("What was read", (ui.Quotation(row.row),), "proof")
    return ui.Item((" ".join(row.sentences), " ", origin), blocks=(original,))


SECTION = Section("coverage", 20, "unread", "What could not be read", unread)
