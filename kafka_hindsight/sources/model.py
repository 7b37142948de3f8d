"""What a source is: logs outside of files, and what is new there since a position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from kafka_hindsight.logs.envelopes import origin_of
from kafka_hindsight.logs.json_records import object_in

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
    name = origin_of(object_in(value) or {}) or log
    return [Line(name, text) for text in value.removesuffix(b"\n").split(b"\n")] if value else []
