"""A page of blocks as HTML that needs nothing but itself: one template for each kind of block."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kafka_hindsight.report.blocks import (
    At,
    Cell,
    Content,
    CurveLane,
    Link,
    Page,
    PagedTable,
    Span,
    View,
    Words,
    plain_text,
)
from kafka_hindsight.report.markdown import Markdown
from kafka_hindsight.shared import words

CHUNK_BYTES = 120_000
"""Views are packed together up to this size: those that a reader opens one after another are like each other."""

_OF_SUBJECTS = re.compile(r' id="((?:outage|outofsync|imbalance|truncation|risk)-[^"]+)"')
"""The anchors in the views of brokers and topics to which an address without the view leads."""


def render_html(page: Page, has_script: bool = True) -> str:
    """The page: style, script and pictures inline, and a policy that lets a browser run and load nothing else.

    The first view is part of the page. The others are packed in it, and the script draws one when an address leads to
    it. Every text of the page is escaped, and addresses inside the page come from hashes.
    """
    style = _asset("page.css")
    script = "".join(map(_asset, ("page.js", "paged_table.js", "timeline.js"))) if has_script else ""
    renderer = _Renderer(page)
    return (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            first=renderer.view(page.views[0]),
            packed=Markup(_packed_views(page, renderer)) if has_script else "",
            show=renderer.show,
            style=Markup(style),
            script=Markup(script),
            policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'",
        )
    )


def _packed_views(page: Page, renderer: _Renderer) -> str:
    """The views as JSON: `chunks` of packed views, the chunk of each by name, what they hold, and their addresses."""
    chunks: list[str] = []
    places: dict[str, int] = {}
    waiting: dict[str, dict[str, str]] = {}
    holders = {kind: view.name for view in page.views for kind in view.holds}
    size = 0
    for view in page.views:
        is_first = view is page.views[0]
        html = "" if is_first else renderer.view(view)
        waiting[view.name] = {"title": view.title, "html": html, "markdown": Markdown(page).view(view)}
        if ticket := Markdown(page).ticket(view):
            waiting[view.name]["ticket"] = ticket
        places[view.name] = len(chunks)
        holders |= dict.fromkeys(_OF_SUBJECTS.findall(html), view.name)
        size += len(html)
        if size > CHUNK_BYTES:
            chunks.append(_deflated(waiting))
            waiting, size = {}, 0
    addresses = {view.address: view.name for view in page.views if view.address}
    views = {"chunks": [*chunks, _deflated(waiting)], "places": places, "holders": holders, "addresses": addresses}
    return json.dumps(views).replace("<", "\\u003c")  # a name may end the script


def _deflated(views: Mapping[str, Any]) -> str:
    return base64.b64encode(zlib.compress(json.dumps(views, ensure_ascii=False).encode(), 9)).decode()


class _Renderer:
    """Content as HTML, by the macro of blocks.html that has the name of its class."""

    def __init__(self, page: Page) -> None:
        self.day = page.day
        self.current = self.first = page.views[0]
        self.level = 2
        functions = {
            "show": self.show,
            "cells": self.cells,
            "paged_rows": self.paged_rows,
            "address": self.address,
            "level": lambda: self.level,
        }
        self.macros: Any = _environment().get_template("blocks.html").make_module(functions).__dict__

    def view(self, view: View) -> Markup:
        """Show the sections of a view."""
        self.current = view
        html = []
        for section in view.sections:
            self.level = 3 if section.title else 2
            html.append(self.macros["Section"](section))
        return Markup("".join(html))

    def address(self, anchor: str) -> str:
        """The address of an anchor that stands in the view being shown, from anywhere on the page."""
        is_held = self.current is self.first or anchor.split("-")[0] in self.current.holds
        return anchor if is_held else f"{self.current.name}/{anchor}"

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

    def cells(self, cells: Iterable[Content], headings: Sequence[str]) -> Markup:
        """The cells of a row, each with its heading for a narrow screen."""
        html = []
        for i, (content, heading) in enumerate(zip(cells, headings, strict=False)):
            cell = content if isinstance(content, Cell) else Cell(content)
            tag = 'th scope="row"' if cell.is_head else "td"
            style = f' class="{escape(cell.style)}"' if cell.style else ""
            label = f' data-of="{escape(heading.rstrip("<"))}"' if i and heading else ""
            html.append(f"<{tag}{style}{label}>{self.show(cell.content)}</{tag[:2]}>")
        return Markup("".join(html))

    def paged_rows(self, table: PagedTable) -> str:
        """The rows of a paged table as JSON: [tone, cells], each cell a text or [text, address]."""
        return json.dumps([[tone, [self._cell_data(cell) for cell in cells]] for tone, cells in table.rows])

    def _cell_data(self, cell: Words) -> str | list[str]:
        text = plain_text(cell, self.day)
        return [text, cell.anchor] if isinstance(cell, Link) else text


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
        "listed": words.listed,
        "packed": _packed,
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
