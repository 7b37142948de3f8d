"""A page of blocks as HTML that needs nothing but itself: one template for each kind of block."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kafka_hindsight.report.blocks import At, Cell, Content, CurveLane, Page, Span, TableRow
from kafka_hindsight.shared import words

# A browser lays out a part of a long table only when it comes near the screen; a whole one it would lay out at once.
ROWS_OF_A_LONG_TABLE = 300
ROWS_PER_PART = 40
# After so many rows a page shows the first few of each further table: the rest waits as in a long table.
ROWS_OF_A_LONG_PAGE = 640
FIRST_ROWS = 5


def render_html(page: Page, has_script: bool = True) -> str:
    """The page: style, script and pictures inline, and a policy that lets a browser run and load nothing else.

    Every text of the page is escaped, and addresses inside the page come from hashes.
    """
    style = _asset("page.css")
    script = _asset("page.js") + _asset("timeline.js") if has_script else ""
    return (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            show=_Renderer(page.day).show,
            style=Markup(style),
            script=Markup(script),
            policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'",
        )
    )


class _Renderer:
    """Content as HTML, by the macro of blocks.html that has the name of its class."""

    def __init__(self, day: date | None) -> None:
        self.day = day
        self.rows_at_hand = 0
        functions = {"show": self.show, "cells": self.cells, "parts": self.parts}
        self.macros: Any = _environment().get_template("blocks.html").make_module(functions).__dict__

    def show(self, content: Content) -> Markup:
        """Show any content as HTML, its text escaped."""
        if isinstance(content, str):
            return escape(content)
        if isinstance(content, tuple):
            return Markup("".join(map(self.show, content)))
        if isinstance(content, At):
            at = words.instant(content.instant, self.day, content.precise)
            return Markup(f"<time>{at}</time>" if at else "")
        html: Markup = self.macros[type(content).__name__](content)
        return html

    def parts(self, rows: Sequence[TableRow]) -> list[Sequence[TableRow]]:
        """The rows of a table as its parts: the first is at hand, the others wait packed."""
        is_long_page = self.rows_at_hand >= ROWS_OF_A_LONG_PAGE
        limit, size = (FIRST_ROWS, FIRST_ROWS) if is_long_page else (ROWS_OF_A_LONG_TABLE, ROWS_PER_PART)
        first = size if len(rows) > limit else len(rows)
        self.rows_at_hand += first
        return [rows[:first], *(rows[i : i + ROWS_PER_PART] for i in range(first, len(rows), ROWS_PER_PART))]

    def cells(self, row: TableRow, headings: Sequence[str]) -> Markup:
        """The cells of a row, the first with its address, each with its heading for a narrow screen.

        Not a macro: a page may hold a hundred thousand of them.
        """
        html = []
        for i, (content, heading) in enumerate(zip(row.cells, headings, strict=False)):
            cell = content if isinstance(content, Cell) else Cell(content)
            tag = 'th scope="row"' if cell.is_head else "td"
            style = f' class="{escape(cell.style)}"' if cell.style else ""
            label = f' data-of="{escape(heading.rstrip("<"))}"' if i and heading and not row.detail else ""
            address = self.macros["Address"](row) if row.anchor and not i else ""
            html.append(f"<{tag}{style}{label}>{address}{self.show(cell.content)}</{tag[:2]}>")
        return Markup("".join(html))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("kafka_hindsight.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "counted": words.counted,
        "exact": words.exact,
        "listed": words.listed,
        "packed": _packed,
        # A part of a long table, small: a browser unpacks it when it comes near the screen.
        "deflated": lambda html: base64.b64encode(zlib.compress(html.encode(), 9)).decode(),
        "stepped": _stepped,
        "epoch_ms": lambda instant: round(1_000 * instant.timestamp()),
    }
    return environment


@cache
def _asset(name: str) -> str:
    return files("kafka_hindsight.report").joinpath("templates", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _stepped(curve: CurveLane) -> str:
    """A curve as a path of steps, in a box as wide as its window has milliseconds and 100 high."""
    steps = "".join(f"H{at}V{98 - 96 * value / curve.top:.1f}" for at, value in curve.points)
    return f"M{curve.points[0][0]} 98{steps}H{curve.span_ms}V98Z"


def _packed(spans: Sequence[Span], begins: datetime, ends: datetime) -> str:
    """Spans in order of time, as lines of fields: texts of a page hold neither tab nor line break."""

    def since(at: datetime) -> int:
        return round((min(ends, max(begins, at)) - begins) / timedelta(milliseconds=1))

    ordered = sorted(spans, key=lambda s: (s.start, s.shape, s.anchor))
    fields = (
        (s.shape, since(s.start), since(s.end) - since(s.start), s.tone, s.anchor, s.short, s.says) for s in ordered
    )
    return "\n".join("\t".join(map(str, values)) for values in fields)
