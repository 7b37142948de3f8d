"""The few kinds of block that a page consists of, and the kinds of words in them. All of their text is harmless."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from kafka_hindsight.catalog.codes import Intent
from kafka_hindsight.shared.words import instant as instant_text


@dataclass(frozen=True)
class At:
    """An instant, shown without its date where the page has one date; `precise` shows milliseconds."""

    instant: datetime | None
    precise: bool = False


@dataclass(frozen=True)
class Name:
    """A name from outside, such as a topic's: its direction of writing is isolated. Shown in monospace."""

    text: str


@dataclass(frozen=True)
class Link:
    """A link to another place of the page."""

    text: Words
    anchor: str


@dataclass(frozen=True)
class PageLink:
    """A link to another page of the lake: the name of its file, and a place on it or an empty `anchor`.

    `says` is the link in more words, `style` its look.
    """

    text: str
    page: str
    anchor: str = ""
    says: str = ""
    style: str = ""


@dataclass(frozen=True)
class Strip:
    """Days in a row, each a square with its tone and what it says; `says` describes all of them."""

    squares: tuple[tuple[str, str], ...]
    says: str


@dataclass(frozen=True)
class Badge:
    """Words with a look of their own: `tag`, `sure certain`, `cause t-lost`, `severity`, `lead`, `code`."""

    text: str
    style: str = "tag"


@dataclass(frozen=True)
class Strong:
    """Words in bold."""

    words: Words


@dataclass(frozen=True)
class Quiet:
    """Words in grey."""

    words: Words


Words = str | At | Name | Link | PageLink | Strip | Badge | Strong | Quiet | tuple["Words", ...]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph: `quiet`, `advice`, or plain."""

    words: Words
    style: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    words: Words


@dataclass(frozen=True)
class Item:
    """One item of a list. `tone` is its class: good, plain, warn or bad among `statements`."""

    words: Words
    tone: str = ""
    anchor: str = ""
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class List:
    """A list: `statements`, `names`, `tiles`, `refusals`, or plain."""

    items: tuple[Item, ...]
    style: str = ""


@dataclass(frozen=True)
class Fact:
    """A label and its value."""

    label: str
    value: Content


@dataclass(frozen=True)
class Facts:
    """Labels and their values."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Cell:
    """A cell of a table. `style` is `id`, `wide`, `left`, `bad`, `warn`, or several of them."""

    content: Content
    style: str = ""
    is_head: bool = False


@dataclass(frozen=True)
class TableRow:
    """A row of a table; `anchor` is its address, if any."""

    cells: tuple[Content, ...]
    anchor: str = ""


@dataclass(frozen=True)
class PlainTable:
    """A table; screen readers call it `label`. A heading that ends in `<` is aligned left.

    Style `numbers` aligns cells to the right.
    """

    label: str
    headings: tuple[str, ...]
    rows: tuple[TableRow, ...]
    style: str = ""

    def __post_init__(self) -> None:
        """Refuse a row with more or fewer cells than headings."""
        if any(len(row.cells) != len(self.headings) for row in self.rows):
            raise ValueError(f"The table {self.label!r} has rows with more or fewer cells than its headings.")


@dataclass(frozen=True)
class Expandable:
    """Blocks that a click on the summary shows."""

    summary: Words
    blocks: tuple[Block, ...]
    style: str = "more"
    is_open: bool = False


@dataclass(frozen=True)
class Quotation:
    """A line as it was read. `shows`: what it shows, in words."""

    text: str
    source: str = ""
    at: At | None = None
    shows: str = ""


@dataclass(frozen=True)
class EvidenceLines:
    """The lines that prove a statement, folded behind `label`. The lake holds `left_out` more."""

    quotes: tuple[Quotation, ...]
    left_out: int = 0
    label: str = ""
    is_open: bool = False


@dataclass(frozen=True)
class Entry:
    """One thing that happened, as one line that opens: when, what, how sure, at what cost; then its blocks.

    A terminal shows `brief` and `advice`.
    """

    headline: str
    blocks: tuple[Block, ...]
    anchor: str = ""
    style: str = "incident"
    tone: str = ""
    when: At | None = None
    badges: tuple[Badge, ...] = ()
    cost: str = ""
    is_open: bool = False
    brief: str = ""
    advice: str = ""


@dataclass(frozen=True)
class Box:
    """Blocks that belong together: `advice`, `lead act`, `refusal`, `verdict`."""

    style: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Trend:
    """One number window by window, oldest first. `bars` are (place, width, height, in percent, what it says)."""

    label: str
    last: str
    usual: str
    bars: tuple[tuple[float, float, float, str], ...]


@dataclass(frozen=True)
class Trends:
    """Numbers window by window."""

    trends: tuple[Trend, ...]


@dataclass(frozen=True)
class Bars:
    """Numbers side by side: (label, value in words, length in percent, tone)."""

    label: str
    bars: tuple[tuple[Words, str, float, str], ...]


@dataclass(frozen=True)
class PagedTable:
    """A long table that a browser filters and draws a page at a time: its rows are data, not elements.

    `rows` are (tone, words of each cell); a cell is a text, or a Link. `tones` are (tone, label) of the filter.
    """

    label: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Words, ...]], ...]
    tones: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Span:
    """Something that lasted, on a lane. `says` is its text alone, `short` where several are drawn as one.

    `shape` is bar, tail or tick; `tone` its colour; `anchor` the place with more, empty where there is none.
    """

    shape: str
    start: datetime
    end: datetime
    tone: str
    says: str
    short: str
    anchor: str


@dataclass(frozen=True)
class Lane:
    """One broker, partition or group, or the controller, through the window. `says` is the same in words."""

    kind: str
    label: str
    note: str
    says: str
    anchor: str
    spans: Sequence[Span]


@dataclass(frozen=True)
class CurveLane:
    """A number through the window: points of (milliseconds from its first instant, value from there on).

    `top` is the greatest value, `span_ms` the length of the window. `says` is the same in words.
    """

    label: str
    note: str
    says: str
    points: tuple[tuple[int, int], ...]
    top: int
    span_ms: int


@dataclass(frozen=True)
class TimelinePicture:
    """The picture of the window.

    `focus` is where most of it happened, in percent of the axis; `legend` what the colours mean: (tone, label). `note`
    says how to read it.
    """

    begins: datetime
    ends: datetime
    absences: Sequence[Span] = ()
    curves: tuple[CurveLane, ...] = ()
    lanes: tuple[Lane, ...] = ()
    left_out: tuple[str, ...] = ()
    focus: float = 50.0
    legend: tuple[tuple[str, str], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class StripLane:
    """One lane of a strip. `marks` are (start, length and height in percent, tone). `says` is the same in words."""

    label: str
    anchor: str
    says: str
    marks: tuple[tuple[float, float, float, str], ...]


@dataclass(frozen=True)
class TimelineStrip:
    """The window in a few lanes, drawn without a script. `instants` are as far apart as the marks of its axis."""

    lanes: tuple[StripLane, ...]
    instants: tuple[At, ...]


Block = (
    Paragraph | Heading | List | Facts | PlainTable | PagedTable | Expandable | EvidenceLines | Quotation | Entry | Box
    | Trends | Bars | TimelinePicture | TimelineStrip
)  # fmt: skip

Content = Words | Block | Cell | tuple["Content", ...]
"""What a cell or a fact holds."""


@dataclass(frozen=True)
class ShownSection:
    """A section of a view: its name is its address."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class View:
    """One view of a page. The first one is drawn at once, each other one when an address leads to it.

    `name` is its address. `nav` is its label in the navigation, empty for a view that is only linked. `holds` are the
    kinds of anchors that lie in it: `#finding-1a2b` leads to the view that holds `finding`. `ticket` is what a ticket
    needs of it, in a few lines; empty for a view that is a list. `address` is another address, for people to write:
    `group/orders`.
    """

    name: str
    title: str
    sections: tuple[ShownSection, ...]
    nav: str = ""
    holds: tuple[str, ...] = ()
    ticket: tuple[Words, ...] = ()
    address: str = ""


@dataclass(frozen=True)
class Page:
    """A whole page. `day` is the one date of its instants, None where they have several.

    `log` and `place` are the paths of the log and of the page, `file_name` is the page's name in the lake; empty where
    not known.
    """

    title: str
    heading: str
    subtitle: Words
    day: date | None
    views: tuple[View, ...]
    log: str = ""
    place: str = ""
    file_name: str = ""


def plain_text(content: Content, day: date | None = None) -> str:
    """The plain text of words; instants of the date `day` without it."""
    match content:
        case str():
            return content
        case tuple():
            return "".join(plain_text(part, day) for part in content)
        case At(instant, precise):
            return instant_text(instant, day, precise)
        case Name(text) | PageLink(text) | Badge(text):
            return text
        case Strong(inner) | Quiet(inner) | Link(inner) | Cell(inner):
            return plain_text(inner, day)
    return ""


DECLARED = Badge("declared")


def confidence_badge(confidence: str) -> Badge:
    """The badge of a verdict's confidence."""
    return Badge(confidence, f"sure {confidence}")


def badges(intent: str, confidence: str) -> tuple[Badge, ...]:
    """The badges of a verdict: whether the work was declared, and the confidence."""
    return (*((DECLARED,) if intent == Intent.DECLARED else ()), confidence_badge(confidence))


def row(*cells: Content, anchor: str = "") -> TableRow:
    """A row of a table."""
    return TableRow(cells, anchor)


def head(content: Content, style: str = "") -> Cell:
    """The cell that names its row."""
    return Cell(content, style, is_head=True)


def facts(*pairs: tuple[str, Content | None]) -> tuple[Fact, ...]:
    """Labels with their values, without those that have none."""
    return tuple(Fact(label, value) for label, value in pairs if value)


def paged_table(
    label: str,
    headings: Sequence[str],
    rows: Sequence[tuple[str, tuple[Words, ...]]],
    tones: Sequence[tuple[str, str]] = (),
) -> tuple[PagedTable, ...]:
    """A paged table without the columns that no row fills, and with the tones that a row has; empty without rows."""
    filled = [i for i in range(len(headings)) if any(cells[i] for _, cells in rows)]
    own_tones = {tone for tone, _ in rows}
    table = PagedTable(
        label,
        tuple(headings[i] for i in filled),
        tuple((tone, tuple(cells[i] for i in filled)) for tone, cells in rows),
        tuple((tone, text) for tone, text in tones if tone in own_tones),
    )
    return (table,) if rows else ()


def note(words: Words, condition: object = True) -> tuple[Paragraph, ...]:
    """A quiet paragraph to be spliced into blocks; empty where the condition is false or there are no words."""
    return (Paragraph(words, "quiet"),) if condition and words else ()


def statements(sentences: Sequence[tuple[str, Words]]) -> tuple[List, ...]:
    """A list of sentences, (tone, words) each; empty where there is none."""
    return (List(tuple(Item(words, tone) for tone, words in sentences), "statements"),) if sentences else ()


def names(texts: Sequence[str], at_most: int) -> List:
    """A list of the first names; the others are counted."""
    hidden = len(texts) - at_most
    more = (Item(f"and {hidden} more", "quiet"),) if hidden > 0 else ()
    return List((*(Item(Name(text)) for text in texts[:at_most]), *more), "names")


def join(parts: Sequence[Words], separator: str = ", ") -> Words:
    """Join words with a separator between them."""
    return tuple(word for i, part in enumerate(parts) for word in ((separator, part) if i else (part,)))


def advice_box(advice: str) -> Box:
    """The box that says what to do."""
    return Box("advice", (Heading("What to do"), Paragraph(advice)))


def left_out_note(count: int, table: str) -> tuple[Paragraph, ...]:
    """A note of how many rows of a table are not shown; empty where all are."""
    return note(f"{count:,} more in {table}.", count > 0)
