"""Files of a table say what they hold, as Delta writes it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafka_hindsight.catalog import silver
from kafka_hindsight.lake import table_files
from kafka_hindsight.lake.arrow_types import INSTANT, arrow_schema
from kafka_hindsight.lake.parts import Part
from tests.support.rows import AT, values

EVENTS = silver.EVENTS
HOUR, MS = timedelta(hours=1), timedelta(milliseconds=1)


@pytest.mark.parametrize("after", [timedelta(0), timedelta(days=365 * 7000)])
def test_table_file_has_delta_statistics(tmp_path: Path, after: timedelta) -> None:
    long = "a cluster with a name of more than 32 letters"
    rows = [
        values(EVENTS, line_id=name, happened_at=AT + after + at, cluster=long)
        for name, at in (("a", timedelta(0)), ("b", timedelta(microseconds=1_999)))
    ]
    batches = pa.Table.from_pylist(rows, arrow_schema(EVENTS)).to_batches()
    (file,) = table_files.write_files(str(tmp_path), EVENTS, batches)
    first = (AT + after).isoformat(timespec="milliseconds")[:-6]
    assert file.stats == {
        "numRecords": 2,
        "minValues": {"cluster": long, "happened_at": f"{first}Z"},
        "maxValues": {"cluster": long, "happened_at": f"{first[:-1]}1Z"},
        "nullCount": {"cluster": 0, "happened_at": 0},
    }
    assert Part(long, "happened_at", (AT + after, AT + after + HOUR)).is_all_of(file)
    assert not Part(long, "happened_at", (AT + after + MS, AT + after + HOUR)).is_all_of(file)


def in_files(at: Iterable[int | None], monkeypatch: pytest.MonkeyPatch, size: int = 1) -> list[dict[str, Any]]:
    """The files that a worker makes of events at these microseconds, one in a batch, by what it tells of them."""
    monkeypatch.setattr(table_files, "_GROUP", 1)
    monkeypatch.setattr(table_files, "_FILE", size)
    schema = arrow_schema(EVENTS)
    rows = [{**values(EVENTS, happened_at=None), "happened_at": pa.scalar(n, pa.int64()).cast(INSTANT)} for n in at]
    batches = [pa.record_batch([pa.array([row[f.name]], f.type) for f in schema], schema) for row in rows]
    monkeypatch.setattr(table_files, "write_atomically", lambda place, content: None)
    return [dict(file.stats) for file in table_files.write_files("", EVENTS, batches)]


def test_rows_beyond_the_file_size_make_several_files(monkeypatch: pytest.MonkeyPatch) -> None:
    files = in_files(range(0, 4_000_000, 1_000_000), monkeypatch)
    assert [t["minValues"]["happened_at"] for t in files] == [f"1970-01-01T00:00:0{n}.000Z" for n in range(4)]
    (whole,) = in_files(range(0, 4_000_000, 1_000_000), monkeypatch, 1 << 30)
    assert (whole["numRecords"], whole["maxValues"]["happened_at"]) == (4, "1970-01-01T00:00:03.000Z")


def test_timestamp_beyond_python_years_has_no_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    (stats,) = in_files([0, 1 << 60], monkeypatch, 1 << 30)
    assert (stats["numRecords"], "happened_at" in stats["maxValues"]) == (2, False)
    (before,) = in_files([-1], monkeypatch)
    assert before["minValues"]["happened_at"] == "1969-12-31T23:59:59.999Z"
