"""Rows that come out of Arrow columns are those that their dicts make, and go back as the same column."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kafka_hindsight.catalog.codes import Outcome
from kafka_hindsight.catalog.rows import Event, Incident, PartitionSnapshot, Rebalance
from kafka_hindsight.shared.arrow_rows import array_of, rows_of
from kafka_hindsight.shared.plain import harmless

AT = datetime(2026, 10, 1, 3, 0, 0, 123456, tzinfo=UTC)
QUOTE = pa.struct(
    {"line_id": pa.string(), "source": pa.string(), "happened_at": pa.timestamp("us", "UTC"), "text": pa.string()}
)
KIND = pa.struct(
    {
        "cluster": pa.string(),
        "snapshot_id": pa.string(),
        "snapshot_at": pa.timestamp("us", "UTC"),
        "topic": pa.string(),
        "partition": pa.int32(),
        "is_internal": pa.bool_(),
        "leader": pa.int32(),
        "leader_epoch": pa.int32(),
        "replicas": pa.list_(pa.int32()),
        "isr": pa.list_(pa.int32()),
        "preferred_leader": pa.int32(),
        "end_offset": pa.int64(),
    }
)

numbers = some.none() | some.integers(-(2**31), 2**31 - 1)
brokers = some.none() | some.lists(numbers, max_size=3)
instants = some.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=some.just(UTC))
readings = some.fixed_dictionaries(
    {
        "cluster": some.text(max_size=3),
        "snapshot_id": some.text(max_size=3),
        "snapshot_at": instants,
        "topic": some.text(max_size=3),
        "partition": some.integers(0, 9),
        "is_internal": some.booleans(),
        "leader": numbers,
        "leader_epoch": numbers,
        "replicas": brokers,
        "isr": brokers,
        "preferred_leader": numbers,
        "end_offset": some.none() | some.integers(-(2**63), 2**63 - 1),
    }
)


@given(some.lists(readings, max_size=6), some.integers(0, 6))
def test_rows_survive_round_trip_through_arrow_batches(values: list[dict], cut: int) -> None:
    parts = [pa.RecordBatch.from_struct_array(pa.array(part, KIND)) for part in (values[:cut], values[cut:])]
    rows = rows_of(parts, PartitionSnapshot)
    assert rows == [PartitionSnapshot.of(v) for v in values]
    assert array_of([*rows, None], KIND).to_pylist() == [*values, None]


def test_reworded_rows_are_those_of_harmless_dicts() -> None:
    odd = "a\u202eb\x1b[2J"
    quote = {"line_id": "1", "source": odd, "happened_at": AT, "text": f"{odd}\nsecond line"}
    row = {
        "headline": odd,
        "harm": "records_lost",
        "evidence": [quote],
        "group_ids": [odd, None, "c"],
        "commands": None,
    }
    full = dict.fromkeys(Incident.__slots__) | row
    batch = pa.RecordBatch.from_pylist([full, full])
    assert rows_of([batch], Incident, harmless) == [Incident.of(harmless(full))] * 2
    assert rows_of([batch], Incident)[0].headline == odd


def test_codes_and_nested_rows_keep_their_classes() -> None:
    quote = {"line_id": "1", "source": "s", "happened_at": AT, "text": "a line"}
    delay = {"client_id": "a", "member_id": "m", "waited_ms": 5}
    given = [
        {"outcome": "completed", "evidence": [quote], "delayed_by": [delay, delay]},
        {"outcome": "emptied", "evidence": [], "delayed_by": None},
    ]
    full = [dict.fromkeys(Rebalance.__slots__) | row for row in given]
    rows = rows_of([pa.RecordBatch.from_pylist(full)], Rebalance)
    assert rows == [Rebalance.of(row) for row in full]
    assert rows[0].outcome is Outcome.COMPLETED and rows[0].evidence[0].happened_at == AT
    lists = pa.struct({"outcome": pa.string(), "evidence": pa.list_(QUOTE)})
    assert array_of(rows, lists).to_pylist() == [{k: row[k] for k in ("outcome", "evidence")} for row in given]


def test_missing_column_is_refused_unless_nullable() -> None:
    batch = pa.record_batch({"topic": ["t"], "partition": [1]})
    with pytest.raises(TypeError, match="cluster, is_internal, snapshot_at, snapshot_id"):
        rows_of([batch], PartitionSnapshot)
    required = {"cluster": ["c"], "is_internal": [False], "snapshot_at": [AT], "snapshot_id": ["r"]}
    whole = pa.record_batch({**required, "topic": ["t"], "partition": [1]})
    assert rows_of([whole], PartitionSnapshot)[0].leader is None


def test_unknown_code_is_refused() -> None:
    values = dict.fromkeys(Event.__slots__) | {"origin": "a rumour"}
    with pytest.raises(ValueError, match="a rumour"):
        rows_of([pa.RecordBatch.from_pylist([values])], Event)
