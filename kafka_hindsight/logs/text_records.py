"""The records of a text in memory, cut as an audit cuts those of files."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.cutting import cut
from kafka_hindsight.logs.file_bytes import InMemory
from kafka_hindsight.logs.forms import Form, every_layout
from kafka_hindsight.logs.pieces import Way, look, ranges_of
from kafka_hindsight.logs.unwrapping import Unwrapped


def records_of(data: bytes, form: Form, pattern: str | None) -> Iterator[tuple[str | None, str, int, bool]]:
    """The arguments of `read_record` for each record."""
    way, text = Way(form.others), data
    if not form.is_plain:
        unwrapped = Unwrapped(InMemory(data), len(data), form, pattern)
        way, text = Way(every_layout(pattern), unwrapped.sources), unwrapped.between(0, sys.maxsize)
    clock = Clock("UTC")
    for part in ranges_of([look(text, 0, 0, len(text), clock, way)]):
        for row in cut(text, part, clock, None, way).to_pylist():
            name = way.layouts[row["layout"]] if row["layout"] >= 0 else None
            yield name, row["text"], row["line_count"], row["happened_at"] is not None
