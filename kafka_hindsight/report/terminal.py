"""Blocks as lines of a terminal, and the summary of a report that a run ends with."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import chain
from math import ceil

from kafka_hindsight.report import blocks as ui
from kafka_hindsight.shared import words

FINDINGS = 5
"""The most rules whose findings a terminal shows."""

ROWS = 12
"""The most rows of a table that a terminal shows."""

_HEIGHTS = "·▁▂▃▄▅▆▇█"
"""The heights of a strip, none first."""

_LEAST_COLUMNS = 30
"""The least columns of a strip beside notes."""

_MARKS = {"good": "✓ ", "plain": "· ", "warn": "! ", "act": "! ", "look": "· "}


def render_terminal(page: ui.Page, width: int = 100) -> str:
    """The summary of a report as lines of at most `width` columns.

    All characters are printable or line ends, whatever names clients chose.
    """
    return "\n".join(_summary(Terminal(max(40, width), page.day), page)) + "\n"


def render_view(page: ui.Page, width: int = 100) -> str:
    """The first view of a page as lines of at most `width` columns, quoted lines excepted."""
    terminal, view = Terminal(max(40, width), page.day), page.views[0]
    lines = [*terminal.text(view.title), *terminal.text(f"{page.heading}, {terminal.plain(page.subtitle)}"), ""]
    for section in view.sections:
        own = [*terminal.blocks(section.blocks, 2 if section.title else 0)]
        lines += ["", *terminal.text(section.title)] if section.title and own else []
        lines += own
    return "\n".join(lines) + "\n"


class Terminal:
    """A terminal that shows blocks as lines. The same advice is written once."""

    def __init__(self, width: int, day: date | None = None) -> None:
        self.width = width
        self.day = day
        self.advised: set[str] = set()

    def plain(self, content: ui.Content) -> str:
        """The plain text of words; the state of a window in capitals."""
        match content:
            case tuple():
                return "".join(map(self.plain, content))
            case ui.Badge(text, style) if style.startswith("state"):
                return f"{text.upper()}."
        return ui.plain_text(content, self.day)

    def blocks(self, blocks: Iterable[ui.Block], indent: int = 0) -> Iterator[str]:
        """The lines of blocks. Folded blocks are left out; of a picture its lanes are in words."""
        for block in blocks:
            match block:
                case ui.Paragraph(inner):
                    yield from self.text(self.plain(inner), indent)
                case ui.Heading(inner):
                    yield from ("", self.plain(inner))
                case ui.List(items):
                    yield from (line for item in items for line in self.item(item, indent))
                case ui.Facts(facts):
                    yield from self.facts(facts, indent)
                case ui.PlainTable(_, headings, rows):
                    yield from self.rows(headings, [row.cells for row in rows], indent)
                case ui.PagedTable(_, headings, rows):
                    yield from self.rows(headings, [cells for _, cells in rows], indent)
                case ui.TimelinePicture(lanes=lanes):
                    for lane in lanes[:ROWS]:
                        yield from self.text(f"{lane.label}: {lane.says}", indent, hang=2)
                case ui.TimelineStrip():
                    yield from ("", *self.strip(block, indent))
                case ui.Entry():
                    yield from self.entry(block)
                case ui.Box("advice", inner):
                    advice = " ".join(self.plain(part.words) for part in inner if isinstance(part, ui.Paragraph))
                    yield from self.advice(advice, indent)
                case ui.Box(_, inner):
                    yield from self.blocks(inner, indent)
                case ui.EvidenceLines(quotes):
                    for quote in quotes:
                        shows = f": {quote.shows}" if quote.shows else ""
                        yield f"{' ' * indent}{self.plain(quote.at or '')}  {quote.source}{shows}"
                        yield from (f"{' ' * indent}  {line}" for line in quote.text.split("\n"))

    def strip(self, block: ui.TimelineStrip, indent: int) -> Iterator[str]:
        """A strip: a line for each lane, as high in each column as its highest mark there, and one for the axis."""
        labels = max(len(lane.label) for lane in block.lanes)
        notes = max(len(lane.says) for lane in block.lanes) + 2
        columns = self.width - indent - labels - 2
        is_wide = columns - notes >= _LEAST_COLUMNS
        columns -= notes if is_wide else 0
        for lane in block.lanes:
            heights = [0.0] * columns
            for start, length, height, _ in lane.marks:
                first = min(columns - 1, int(start * columns / 100))
                last = max(first + 1, ceil((start + length) * columns / 100))
                heights[first:last] = [max(height, own) for own in heights[first:last]]
            bars = "".join(_HEIGHTS[-(-int(height) * (len(_HEIGHTS) - 1) // 100)] for height in heights)
            yield f"{' ' * indent}{lane.label:{labels}}  {bars}{f'  {lane.says}' if is_wide else ''}"
        first_at, last_at = (self.plain(block.instants[n]) for n in (0, -1))
        yield f"{' ' * (indent + labels + 2)}{first_at}{last_at:>{columns - len(first_at)}}"

    def rows(self, headings: Sequence[str], rows: Sequence[Sequence[ui.Content]], indent: int) -> Iterator[str]:
        """The first rows of a table: the first two cells, then the others with their headings."""
        for cells in rows[:ROWS]:
            texts = [self.plain(cell) for cell in cells]
            others = [f"{h.rstrip('<').lower()} {text}" for h, text in zip(headings[2:], texts[2:]) if text]
            line = "  ".join(texts[:2]) + (f": {', '.join(others)}" if others else "")
            yield from self.text(line, indent, hang=2)
        if rows[ROWS:]:
            yield from self.text(f"and {words.counted(len(rows) - ROWS, 'more row')} in the report", indent)

    def item(self, item: ui.Item, indent: int) -> Iterator[str]:
        """One item of a list, with the mark of its tone. A command is never broken: it is to be copied."""
        if isinstance(item.words, ui.Badge) and item.words.style == "code":
            yield f"{' ' * indent}{item.words.text}"
            return
        yield from self.text(_MARKS.get(item.tone, "") + self.plain(item.words), indent, hang=2)
        yield from self.blocks(item.blocks, indent + 2)

    def entry(self, entry: ui.Entry) -> Iterator[str]:
        """An incident in one line; or a finding with its advice."""
        if entry.when:
            facts = ", ".join(filter(None, [entry.cost, *(badge.text for badge in entry.badges)]))
            yield from self.text(f"{self.plain(entry.when)}  {entry.headline} ({facts})", 2, hang=10)
        else:
            yield from self.text(f"{entry.tone:10}{entry.brief}", 2, hang=10)
            yield from self.advice(entry.advice, 12)

    def advice(self, advice: str, indent: int) -> Iterator[str]:
        """Advice behind an arrow."""
        yield from self.text("→ as above" if advice in self.advised else f"→ {advice}", indent, hang=2)
        self.advised.add(advice)

    def facts(self, facts: Iterable[ui.Fact], indent: int) -> Iterator[str]:
        """Labels in one column, their values in another."""
        column = max((len(fact.label) for fact in facts), default=0) + 2
        for fact in facts:
            value, margin = self.plain(fact.value), " " * indent
            yield from textwrap.wrap(
                value,
                max(self.width, indent + column + 24),
                initial_indent=margin + fact.label.ljust(column),
                subsequent_indent=margin + " " * column,
                break_on_hyphens=False,
            ) or [f"{margin}{fact.label}"]

    def text(self, text: str, indent: int = 0, hang: int = 0) -> list[str]:
        """Words in lines that fit the width."""
        margin = " " * indent
        hanging = margin + " " * hang
        return textwrap.wrap(text, self.width, initial_indent=margin, subsequent_indent=hanging, break_on_hyphens=False)


def _summary(terminal: Terminal, page: ui.Page) -> Iterator[str]:
    blocks = {section.name: section.blocks for view in page.views for section in view.sections}
    yield from terminal.text(f"{page.heading}, {terminal.plain(page.subtitle)}")
    yield ""
    parts = ui.Box | ui.TimelineStrip | ui.Paragraph
    yield from terminal.blocks([block for block in blocks["verdict"] if isinstance(block, parts)])
    yield from ("", "Incidents, the most urgent first")
    yield from terminal.blocks(blocks["incident-list"], 2)
    findings, standing = (
        [b for b in blocks.get(name, ()) if isinstance(b, ui.Entry)] for name in ("findings", "standing")
    )
    yield from _rules(terminal, "Findings", [[*terminal.entry(entry)] for entry in findings])
    yield from _rules(
        terminal, "Standing facts", [terminal.text(f"{e.tone:10}{e.brief}", 2, hang=10) for e in standing]
    )
    yield from ("", "Coverage")
    yield from terminal.blocks([block for block in blocks["coverage"] if isinstance(block, ui.List)], 2)
    yield ""
    for label, place in (("Report", page.place), ("Log", page.log)):
        if place:
            yield f"{label:8}{place}"


def _rules(terminal: Terminal, title: str, entries: Sequence[Sequence[str]]) -> Iterator[str]:
    """The first rules of a list, each in its lines, and the number of the others."""
    if entries:
        yield from ("", title, *chain.from_iterable(entries[:FINDINGS]))
    if entries[FINDINGS:]:
        further = words.counted(len(entries) - FINDINGS, "further rule")
        yield from terminal.text(f"and {further} in the report", 2)
