"""Parts of a table, and which of its files may have their rows.

Source: PROTOCOL.md of Delta Lake, Per-file Statistics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

TimeRange = tuple[datetime, datetime]

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""Both bounds of an empty span."""

_STEP = timedelta(milliseconds=1)
"""Statistics of an instant are cut to a millisecond."""


@dataclass(frozen=True)
class DataFile:
    """A file of a table, and the statistics of its columns as Delta writes them."""

    path: str
    size: int
    stats: Mapping[str, Any]

    def bounds(self, column: str) -> tuple[Any, Any] | None:
        """Give the least and the greatest value of a column; None where the statistics do not show them."""
        low, high = (self.stats.get(side, {}).get(column) for side in ("minValues", "maxValues"))
        return None if low is None or high is None else (low, high)

    def span(self, column: str) -> TimeRange | None:
        """Give the span of a column's instants, its end left out; None where the statistics do not show it.

        A broken line may name a year that Python does not have.
        """
        try:
            bounds = self.bounds(column)
            return bounds and (datetime.fromisoformat(bounds[0]), datetime.fromisoformat(bounds[1]) + _STEP)
        except (ValueError, OverflowError):
            return None

    def nulls(self, column: str) -> int | None:
        """Count the rows without a value in a column; None where the statistics do not show it."""
        count: int | None = self.stats.get("nullCount", {}).get(column)
        return count


@dataclass(frozen=True)
class Part:
    """Rows of a cluster, or of all clusters.

    With a time column: the rows of a span of instants, its end left out, and those without an instant, as far as either
    is asked for. With values: the rows that have these values in these columns.
    """

    cluster: str | None
    time: str = ""
    span: TimeRange | None = None
    timeless: bool = False
    values: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        span = " to ".join(at.isoformat() for at in self.span or ())
        values = {"cluster": self.cluster, self.time: span, **dict(self.values)}
        return ", ".join(f"{name} {value}" for name, value in values.items() if value)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that show whether a row is of the part."""
        names = ("" if self.cluster is None else "cluster", self.time, *(name for name, _ in self.values))
        return tuple(filter(None, names))

    def may_be_in(self, file: DataFile) -> bool:
        """Whether a file may have one of the rows."""
        clusters = file.bounds("cluster")
        if self.cluster is not None and clusters and not clusters[0] <= self.cluster <= clusters[1]:
            return False
        if not self.time or (self.timeless and file.nulls(self.time) != 0):
            return True
        instants, span = file.span(self.time), self.span
        return span is not None and (instants is None or (instants[0] < span[1] and span[0] < instants[1]))

    def holds(self, rows: pa.RecordBatch | pa.Table) -> pa.Array | pa.ChunkedArray:
        """Whether each row is of the part."""
        laws = [pc.equal(rows[name], pa.scalar(value, rows[name].type)) for name, value in self.values]
        if self.cluster is not None:
            laws.append(pc.equal(rows["cluster"], self.cluster))
        if self.time:
            at = rows[self.time]
            start, end = (pa.scalar(bound, at.type) for bound in self.span or (_NEVER, _NEVER))
            is_within = pc.and_(pc.greater_equal(at, start), pc.less(at, end))
            laws.append(pc.fill_null(is_within, self.timeless))
        return pc.fill_null(reduce(pc.and_, laws), False)

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Keep the rows that are of the part."""
        is_wanted = self.holds(rows)
        return rows if pc.all(is_wanted).as_py() else rows.filter(is_wanted)

    def is_all_of(self, file: DataFile) -> bool:
        """Whether the statistics of a file prove that all of its rows are of the part."""
        if self.values or file.bounds("cluster") != (self.cluster, self.cluster) or file.nulls("cluster") != 0:
            return False
        if not self.time:
            return True
        nulls, rows = file.nulls(self.time), file.stats.get("numRecords")
        if self.timeless and nulls is not None and nulls == rows:
            return True
        instants, span, has_timeless = file.span(self.time), self.span, nulls != 0
        is_within = bool(instants and span and span[0] <= instants[0] and instants[1] <= span[1])
        return is_within and (self.timeless or not has_timeless)
