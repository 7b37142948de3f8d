"""Sources: logs outside of files, read from a position on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from kafka_hindsight.logs.envelope_lines import origin_of
from kafka_hindsight.logs.json_records import object_in

T = TypeVar("T")


class SourceFails(RuntimeError):
    """A source does not answer, or ends early. A retry may succeed."""


class Line(NamedTuple):
    """One line. `log` is the name of its log, as a path."""

    log: str
    text: bytes


class Batch(NamedTuple):
    """Lines in order, and the position after them, as a JSON value."""

    lines: Sequence[Line]
    position: Any


class Period(NamedTuple):
    """The instant from which a source is read the first time, and the instant of this run."""

    since: datetime
    until: datetime


class Source(Protocol):
    """Logs outside of files. The fields of its class are the keys of its file."""

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """Read the lines after the position of an earlier batch, or from the beginning if it is None.

        Each line is in one batch, as long as reading goes on from the position of the last batch that was written.

        Raises:
            BadInput: The settings cannot work.
            SourceFails: A retry may succeed.
        """


def batched(items: Iterable[T], count: int) -> Iterator[list[T]]:
    """Items in batches of `count` (as itertools.batched of Python 3.12 on)."""
    iterator = iter(items)
    while batch := list(islice(iterator, count)):
        yield batch


def lines_in(value: bytes, log: str) -> list[Line]:
    """The lines of a value: one, several, or a shipper's object. `log` is their log if the object names none."""
    name = origin_of(object_in(value) or {}) or log
    return [Line(name, text) for text in value.removesuffix(b"\n").split(b"\n")] if value else []
