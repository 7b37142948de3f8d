"""What a source is: logs outside of files, and what is new there since a position."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from kafka_hindsight.knowledge.envelopes import ORIGINS

T = TypeVar("T")


class SourceFails(RuntimeError):
    """A source does not answer, or breaks off. A retry may succeed."""


class Line(NamedTuple):
    """One line as it lands. `log` names the log that it belongs to, as a path."""

    log: str
    text: bytes


class Batch(NamedTuple):
    """Lines in their order, and the position that follows them: whatever JSON can hold."""

    lines: Sequence[Line]
    position: Any


class Period(NamedTuple):
    """Where the first reading of a source starts that knows no beginning; when it is read."""

    since: datetime
    until: datetime


class Source(Protocol):
    """Logs outside of files. The fields of its class are the keys of its file."""

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """What is new since the position of an earlier batch; None: since the beginning.

        Keeps: each line is in one batch, where it is asked again with the position of the batch that was kept last.
        Raises: BadInput where the settings cannot work; SourceFails where a retry may succeed.
        """


def batched(items: Iterable[T], count: int) -> Iterator[list[T]]:
    """Lines or events, so many at once (itertools has it from Python 3.12 on)."""
    left = iter(items)
    while some := list(islice(left, count)):
        yield some


def lines_in(value: bytes, log: str) -> list[Line]:
    """The lines of a value: one, several, or an object of a shipper's. Takes: the log, where it names none."""
    said = object_of(value)
    name = (written_by(said) if said else "") or log
    return [Line(name, text) for text in value.removesuffix(b"\n").split(b"\n")] if value else []


def written_by(document: Mapping[str, Any]) -> str:
    """Who wrote the line in an object of JSON, by the first fields that are all there, as the ingest finds it."""
    for paths in ORIGINS:
        told = [_at(document, path.split(".")) for path in paths]
        if all(isinstance(text, str) and text for text in told):
            return "/".join(map(str, told))
    return ""


def _at(value: Any, path: Sequence[str]) -> Any:
    """The field at a path. Edge case: a name may hold dots itself."""
    if not path:
        return value
    if not isinstance(value, dict):
        return None
    heads = (".".join(path[:n]) for n in range(len(path), 0, -1))
    found = next((name for name in heads if name in value), None)
    return None if found is None else _at(value[found], path[found.count(".") + 1 :])


def object_of(text: bytes) -> dict[str, Any] | None:
    """An object of JSON; None for a line that is none."""
    try:
        said = json.loads(text) if text.startswith(b"{") else None
    except ValueError:
        return None
    return said if isinstance(said, dict) else None
