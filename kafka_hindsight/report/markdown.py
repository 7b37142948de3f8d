"""Blocks as Markdown, to be pasted into a ticket or read by a program. Text from outside stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kafka_hindsight.report import blocks as ui
from kafka_hindsight.shared import plain, words

TICKET_LINES = 9
"""The most lines of a ticket; its link is one more."""

MAX_LINE = 280
"""Characters of a line of a ticket."""

PAGED_ROWS = 100
"""The most rows of a paged table in Markdown; the lake has all of them."""

_MARKUP = re.compile(r"[\\`*\[\]<>|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[#+=-](?=\s)|^\d+(?=[.)]\s)")


def document(page: ui.Page) -> str:
    """The first view of a page and the views of its incidents, one after the other."""
    markdown = Markdown(page)
    views = [view for view in page.views[1:] if view.name.startswith("incident-")]
    return "\n".join(map(markdown.view, (page.views[0], *views)))


class Markdown:
    """The views of a page as Markdown."""

    def __init__(self, page: ui.Page) -> None:
        self.page = page

    def view(self, view: ui.View) -> str:
        """One view: its title, the cluster and the window, then its sections."""
        window = ui.plain_text(self.page.subtitle).strip()
        lines = [f"# {escaped(view.title)}", "", f"Cluster {_code(self.page.heading)}, {window}", ""]
        for section in view.sections:
            lines += [f"## {escaped(section.title)}", ""] if section.title else []
            lines += self.blocks(section.blocks)
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"

    def ticket(self, view: ui.View) -> str:
        """The ticket of a view, in TICKET_LINES. Empty where the view has no ticket."""
        if not view.ticket:
            return ""
        window = ui.plain_text(self.page.subtitle).strip()
        lines = [f"- {plain.shortened(self.words(line), MAX_LINE)}" for line in view.ticket]
        title = [f"**{escaped(view.title)}**  ", f"Cluster {_code(self.page.heading)}, {window}"]
        return "\n".join([*title, *lines[: TICKET_LINES - len(title)]]) + "\n"

    def blocks(self, blocks: Iterable[ui.Content]) -> Iterator[str]:
        """The lines of blocks, each block followed by an empty line."""
        for block in blocks:
            yield from self._block(block)
            yield ""

    def _block(self, block: ui.Content) -> Iterator[str]:
        match block:
            case ui.Heading(inner):
                yield f"### {self.words(inner)}"
            case ui.List(items):
                for item in items:
                    yield f"- {self.words(item.words)}"
                    yield from (f"  {line}" for line in self.blocks(item.blocks) if line)
            case ui.Facts(facts):
                yield from (f"- {escaped(f.label)}: {self.words(f.value)}" for f in facts)
            case ui.PlainTable(_, headings, rows):
                yield from self._table(headings, [[self.words(cell) for cell in row.cells] for row in rows])
            case ui.PagedTable(_, headings, rows):
                first = [[self.words(cell) for cell in cells] for _, cells in rows[:PAGED_ROWS]]
                yield from self._table(headings, first)
                yield from ["", f"{words.counted(len(rows) - PAGED_ROWS, 'more row')}."] if rows[PAGED_ROWS:] else []
            case ui.Expandable(summary, inner_blocks):
                yield f"**{self.words(summary)}**"
                yield ""
                yield from self.blocks(inner_blocks)
            case ui.EvidenceLines(quotes, left_out, label):
                count = words.counted(len(quotes) + left_out, "quoted line").capitalize()
                yield from [f"{label or count}:", ""] if quotes else [label]
                for quote in quotes:
                    yield from self._block(quote)
                yield from [f"{words.counted(left_out, 'more line')} in the lake."] if left_out else []
            case ui.Quotation(text, source, at, shows):
                yield (
                    f"- {self.words(at or '')} {_code(source)}{f': {escaped(shows)}' if shows else ''}"
                    if source
                    else ""
                )
                yield from ("", *(f"      {line}" for line in text.split("\n")), "")
            case ui.Entry():
                parts = [self.words(block.when or ""), *(badge.text for badge in block.badges), block.cost]
                notes = ", ".join(filter(None, parts))
                yield f"### {escaped(block.headline)}{f' ({notes})' if notes else ''}"
                yield ""
                yield from self.blocks(block.blocks)
            case ui.Box(_, inner_blocks):
                yield from self.blocks(inner_blocks)
            case ui.Trends(trends):
                yield from (f"- {escaped(t.label)}: {t.last}; median of the windows before: {t.usual}" for t in trends)
            case ui.Bars(label, bars):
                yield f"{escaped(label)}:"
                yield ""
                yield from (f"- {self.words(name)}: {value}" for name, value, _, _ in bars)
            case ui.TimelinePicture():
                lanes: list[ui.CurveLane | ui.Lane] = [*block.curves, *block.lanes]
                yield from (f"- {escaped(lane.label)}: {escaped(lane.says)}" for lane in lanes)
            case ui.TimelineStrip(strip_lanes):
                yield from (f"- {escaped(lane.label)}: {escaped(lane.says)}" for lane in strip_lanes)
            case _:
                yield self.words(block)

    def words(self, content: ui.Content) -> str:
        """Words in one line; a name from outside and a command are code."""
        match content:
            case tuple():
                return "".join(map(self.words, content))
            case ui.Name(text) | ui.Badge(text, "code"):
                return _code(text)
            case ui.Badge(text, style) if style.startswith("state"):
                return f"**{text.upper()}.**"
            case ui.Strong(inner):
                text = self.words(inner)
                return text.replace(text.strip(), f"**{text.strip()}**", 1)
            case ui.Quiet(inner) | ui.Link(inner) | ui.Cell(inner) | ui.Paragraph(inner):
                return self.words(inner)
            case ui.List(items):
                return ", ".join(self.words(item.words) for item in items)
            case ui.Expandable(summary):
                return self.words(summary)
        return escaped(ui.plain_text(content, self.page.day))

    def _table(self, headings: Iterable[str], rows: Iterable[list[str]]) -> Iterator[str]:
        titles = [heading.rstrip("<") or " " for heading in headings]
        yield f"| {' | '.join(titles)} |"
        yield "|" + " --- |" * len(titles)
        yield from (f"| {' | '.join(cell.replace(chr(10), ' ') for cell in row)} |" for row in rows)


def escaped(text: str) -> str:
    """The text with each character that Markdown would read as markup escaped."""
    return _MARKUP.sub(lambda match: f"\\{match[0]}" if not match[0].isdigit() else f"{match[0]}\\", text)


def _code(text: str) -> str:
    """Code of one line, fenced by more backticks than it holds in a row."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text.replace('|', chr(0x2502))}{space}{fence}"
