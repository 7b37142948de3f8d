"""A written page as its script finds it: the views, what lies in each, and where an address leads."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser

_VOID = {"meta", "link", "input", "br", "img"}


class Elements(HTMLParser):
    """The elements of some HTML with their attributes, their text, and what lies inside style and script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.unclosed: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self.unclosed.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self.unclosed[-1] if self.unclosed else ""
        self.raw.get(inside, self.texts).append(data)

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.elements if attribute in attributes]

    @property
    def text(self) -> str:
        """All text but that of paged tables, which is data."""
        return " ".join("".join(self.texts).split())

    @cached_property
    def ids(self) -> set[str]:
        return set(self.values("id"))

    def paged_cells(self) -> Iterator[tuple[str, str]]:
        """The text and the address of each cell of each paged table; the address is empty where the cell is no link."""
        for rows in map(json.loads, self.values("data-rows")):
            for _, cells in rows:
                yield from ((cell, "") if isinstance(cell, str) else tuple(cell) for cell in cells)

    def addresses(self) -> set[str]:
        """Every address in the page that a link, a cell of a paged table or a span of a timeline here leads to."""
        links = {href[1:] for href in self.values("href") if href.startswith("#")}
        spans = {line.split("\t")[4] for items in self.values("data-items") for line in items.split("\n") if line}
        return (links | spans | {address for _, address in self.paged_cells()}) - {""}


@dataclass
class Views:
    """The page itself, which has the first view, and each other view by name."""

    html: str
    page: Elements = field(init=False)
    views: dict[str, Elements] = field(init=False)
    titles: dict[str, str] = field(init=False)
    markdown: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.page = Elements(self.html)
        packed = json.loads(next(text for text in self.page.raw["script"] if text.startswith("{")))
        chunks = [json.loads(zlib.decompress(base64.b64decode(chunk))) for chunk in packed["chunks"]]
        views = {name: view for chunk in chunks for name, view in chunk.items()}
        assert all(name in chunks[place] for name, place in packed["places"].items())
        self.holders: dict[str, str] = packed["holders"]
        self.first = next(iter(views))
        self.views = {name: self.page if name == self.first else Elements(v["html"]) for name, v in views.items()}
        self.titles = {name: view["title"] for name, view in views.items()}
        self.markdown = {name: view["markdown"] for name, view in views.items()}

    def place_of(self, address: str) -> tuple[str, str] | None:
        """The view that an address leads to, and the anchor there. None where the page would show its first view."""
        name, _, anchor = address.partition("?")[0].partition("/")
        if name in self.views:
            return name, anchor
        if name in self.page.ids:
            return self.first, name
        holder = self.holders.get(name) or self.holders.get(name.split("-")[0])
        return (holder, name) if holder else None

    def is_found(self, address: str) -> bool:
        """Whether an address leads to a view, and the anchor stands there."""
        place = self.place_of(address)
        return place is not None and (not place[1] or place[1] in self.views[place[0]].ids)

    def all_values(self, attribute: str) -> list[str]:
        """An attribute's values in all views, in their order."""
        return [value for view in self.views.values() for value in view.values(attribute)]

    @property
    def text(self) -> str:
        cells = (cell for view in self.views.values() for cell, _ in view.paged_cells())
        return " ".join((*(view.text for view in self.views.values()), *cells))


def anchors(values: list[str]) -> list[str]:
    """The anchors of rows among ids."""
    return [value for value in values if re.fullmatch(r"[a-z]+-[0-9a-f]{32}", value)]
