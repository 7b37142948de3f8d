"""What a page of blocks says: its blocks of a kind, wherever they lie, and their text as a reader sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from kafka_hindsight.report.blocks import (
    Cell,
    Entry,
    EvidenceLines,
    Expandable,
    Fact,
    Item,
    List,
    Page,
    PagedTable,
    Paragraph,
    PlainTable,
    TableRow,
    TimelinePicture,
)
from kafka_hindsight.report.build import report_of
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.terminal import Terminal
from tests.support.report_rows import DAY

T = TypeVar("T")

_TERMINAL = Terminal(100, DAY.date())


def build_report(tables: Mapping[str, Sequence[Mapping[str, Any]]], about: Mapping[str, Any]) -> Page:
    """The report of rows by full table name."""
    return report_of(PageRows.from_tables(tables, about), about.get("report_path", ""))


def section(page: Page, name: str) -> Any:
    """The blocks of a section, such as `incidents`, or `VIEW/SECTION`; none where the page leaves it out."""
    of_view, _, own = name.rpartition("/")
    views = [view for view in page.views if of_view in ("", view.name)]
    return next((s.blocks for view in views for s in view.sections if s.name == own), ())


def walk(content: Any) -> Iterator[Any]:
    """Everything that content holds, itself first, in the order in which it is shown."""
    yield content
    inside = [getattr(content, f.name) for f in fields(content)] if is_dataclass(content) else ()
    for each in content if isinstance(content, tuple) else inside:
        yield from walk(each)


def found(kind: type[T], content: Any) -> list[T]:
    """All blocks of a kind."""
    return [each for each in walk(content) if isinstance(each, kind)]


def text(content: Any) -> str:
    """Words as a reader sees them; of a block that folds others its first line."""
    match content:
        case tuple():
            return "".join(map(text, content))
        case Cell(inner) | Paragraph(inner) | Item(inner) | Expandable(inner) | Fact(_, inner):
            return text(inner)
        case EvidenceLines():
            return content.label
    return _TERMINAL.plain(content)


def cells(row: TableRow) -> list[str]:
    """The text of each cell of a row."""
    return [text(cell) for cell in row.cells]


def rows(page: Page, name: str, label: str = "") -> list[TableRow]:
    """The rows of the tables of a section, or of that with this label."""
    return [row for table in found(PlainTable, section(page, name)) if label in ("", table.label) for row in table.rows]


def entries(page: Page, name: str) -> list[Entry]:
    """The entries of a section, those inside others left out."""
    return [block for block in section(page, name) if isinstance(block, Entry)]


def paged_table(page: Page, name: str) -> list[dict[str, str]]:
    """The rows of the paged tables of a section: the text of each cell by its heading."""
    found_rows = [(each.headings, row) for each in found(PagedTable, section(page, name)) for _, row in each.rows]
    return [dict(zip(headings, map(text, row), strict=True)) for headings, row in found_rows]


def statements(page: Page, name: str) -> list[tuple[str, str]]:
    """The statements of a section: tone and words."""
    lists = [block for block in section(page, name) if isinstance(block, List) and block.style == "statements"]
    return [(item.tone, text(item.words).strip()) for each in lists for item in each.items]


def first_paragraph(page: Page, name: str) -> str:
    """What a section says first."""
    return text(next(block for block in section(page, name) if isinstance(block, Paragraph)).words)


def timeline(page: Page) -> TimelinePicture:
    """The picture of the page."""
    return found(TimelinePicture, section(page, "timeline"))[0]
