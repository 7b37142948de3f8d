"""Which rows of a table are meant, and which of its files may hold them.

Source: PROTOCOL.md of Delta Lake, Per-file Statistics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Span = tuple[datetime, datetime]

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""Both bounds of a span that holds nothing."""

_STEP = timedelta(milliseconds=1)
"""Statistics of an instant are cut to a millisecond."""


@dataclass(frozen=True)
class File:
    """A file of a table, with what is known of the values of its columns."""

    path: str
    size: int
    stats: Mapping[str, Any]

    def bounds(self, column: str) -> tuple[Any, Any] | None:
        """Between which values all that are not null lie; None where that is not known."""
        low, high = (self.stats.get(side, {}).get(column) for side in ("minValues", "maxValues"))
        return None if low is None or high is None else (low, high)

    def span(self, column: str) -> Span | None:
        """From when to when the instants of the column lie, the end left out; None where that is not known.

        Edge case: a broken line may name a year that Python does not have.
        """
        try:
            held = self.bounds(column)
            return (datetime.fromisoformat(held[0]), datetime.fromisoformat(held[1]) + _STEP) if held else None
        except (ValueError, OverflowError):
            return None

    def nulls(self, column: str) -> int | None:
        """How many rows have no value in the column; None where that is not known."""
        found: int | None = self.stats.get("nullCount", {}).get(column)
        return found


@dataclass(frozen=True)
class Part:
    """Rows of a cluster: all of them; or those of a span of instants, its end left out, and those without an instant,
    as far as either is asked for. Of these, those that have some values in other columns.
    """

    cluster: str
    time: str = ""
    span: Span | None = None
    timeless: bool = False
    values: tuple[tuple[str, Any], ...] = ()

    def may_be_in(self, file: File) -> bool:
        """Whether a file may hold one of the rows."""
        named = file.bounds("cluster")
        if named and not named[0] <= self.cluster <= named[1]:
            return False
        if not self.time or (self.timeless and file.nulls(self.time) != 0):
            return True
        held, span = file.span(self.time), self.span
        return span is not None and (held is None or (held[0] < span[1] and span[0] < held[1]))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that say whether a row is of the part."""
        return tuple(
            dict.fromkeys(("cluster", *([self.time] if self.time else []), *(name for name, _ in self.values)))
        )

    def holds(self, rows: pa.RecordBatch | pa.Table) -> pa.Array | pa.ChunkedArray:
        """For each of these rows, whether it is of the part."""
        is_wanted = pc.equal(rows["cluster"], self.cluster)
        if self.time:
            at = rows[self.time]
            bounds = [pa.scalar(bound, at.type) for bound in self.span or (_NEVER, _NEVER)]
            is_within = pc.and_(pc.greater_equal(at, bounds[0]), pc.less(at, bounds[1]))
            is_wanted = pc.and_(is_wanted, pc.fill_null(is_within, self.timeless))
        for name, value in self.values:
            is_wanted = pc.and_(is_wanted, pc.equal(rows[name], pa.scalar(value, rows[name].type)))
        return pc.fill_null(is_wanted, False)

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Those of these rows that are of the part."""
        is_wanted = self.holds(rows)
        return rows if pc.all(is_wanted).as_py() else rows.filter(is_wanted)

    def is_all_of(self, file: File) -> bool:
        """Whether a file is known to hold such rows alone."""
        if self.values or file.bounds("cluster") != (self.cluster, self.cluster) or file.nulls("cluster") != 0:
            return False
        if not self.time:
            return True
        held, span, has_timeless = file.span(self.time), self.span, file.nulls(self.time) != 0
        is_within = bool(held and span and span[0] <= held[0] and held[1] <= span[1])
        return is_within and (self.timeless or not has_timeless)
