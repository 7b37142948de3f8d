"""What the loss of one more broker or rack would cost, by DuckDB, compared with a recomputation in Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.report.page_rows import OneMoreLoss
from kafka_hindsight.sql.report_rows import READ, page_rows
from tests.support.draws import drawn
from tests.support.groups import SAMPLE
from tests.support.rows import AT, values

Rows = list[dict[str, Any]]

RACKS = {1: "a", 2: "b", 3: "b"}


@pytest.fixture(scope="module")
def lake() -> duckdb.DuckDBPyConnection:
    """The tables of a report without rows."""
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA bronze; CREATE SCHEMA silver; CREATE SCHEMA gold; CREATE SCHEMA quality")
    for table in READ:
        connection.register("no_rows", arrow_schema(table).empty_table())
        connection.execute(f"CREATE TABLE {table.full_name} AS SELECT * FROM no_rows")
    return connection


def reading(minute: int = 0, **columns: Any) -> dict[str, Any]:
    return {"snapshot_at": AT + timedelta(minutes=minute), "missing": None, "error": None, **columns}


def partition(
    number: int, isr: Sequence[int], replicas: Sequence[int] = (), leader: int | None = 0, minute: int = 0
) -> dict[str, Any]:
    return {
        "topic": "t", "partition": number, "isr": [*isr], "replicas": [*(replicas or isr)],
        "leader": isr[0] if leader == 0 and isr else leader, "snapshot_at": AT + timedelta(minutes=minute),
    }  # fmt: skip


def brokers(racks: dict[int, str | None] | dict[int, str] = RACKS) -> Rows:
    return [{"broker": b, "rack": rack, "snapshot_at": AT} for b, rack in racks.items()]


def risk(number: int, minimum: int) -> dict[str, Any]:
    return {"topic": "t", "partition": number, "min_insync_replicas": minimum, "window_from": AT}


def loss(
    lake: duckdb.DuckDBPyConnection, partitions: Rows, in_rack: Rows = (), risks: Rows = (), readings: Rows = ()
) -> tuple[str, int, int] | None:
    """The scope of the worst loss, the partitions without a replica in sync, and those without writes."""
    tables = {
        "bronze.snapshot_readings": readings or [reading()],
        "bronze.partition_snapshots": partitions,
        "bronze.broker_snapshots": in_rack,
        "gold.partition_risks": risks,
    }
    for name, rows in tables.items():
        table = BY_NAME[name]
        given_rows = pa.Table.from_pylist(
            [values(table, cluster="c", **row) for row in rows], schema=arrow_schema(table)
        )
        lake.execute(f"DELETE FROM {name}")
        lake.register("given_rows", given_rows)
        lake.execute(f"INSERT INTO {name} SELECT * FROM given_rows")
    run = {"cluster": "c", "window_from": AT, "window_to": AT + timedelta(hours=1), "run_id": "r"}
    found = page_rows(lake, run)[0].of(OneMoreLoss)
    assert len(found) <= 1
    return next(((f"{r.scope} {r.name}", r.without_replica, r.without_writes) for r in found), None)


def test_loss_of_the_only_replica_in_sync_costs_the_partition(lake) -> None:
    alone = [partition(0, [1], [1, 2]), partition(1, [2, 3])]
    assert loss(lake, alone[:1], brokers()) == ("broker 1", 1, 0)
    assert loss(lake, alone[1:], brokers()) == ("rack b", 1, 0), "both replicas are in rack b"
    assert loss(lake, alone[1:], brokers({2: None, 3: None})) == ("broker 2", 0, 0)


def test_loss_below_min_isr_costs_writes(lake) -> None:
    two = [partition(0, [1, 2], [1, 2, 3]), partition(1, [1, 3], [1, 2, 3])]
    assert loss(lake, two, risks=[risk(0, 2), risk(1, 2)]) == ("broker 1", 0, 2)
    assert loss(lake, two, risks=[risk(0, 1), risk(1, 1)]) == ("broker 1", 0, 0)
    assert loss(lake, [partition(0, [1])], risks=[risk(0, 2)]) == ("broker 1", 1, 0), "of one replica 1 is enough"


def test_partition_already_offline_or_below_min_isr_costs_nothing(lake) -> None:
    down, short = partition(0, [1], leader=None), partition(1, [1, 2], [1, 2, 3])
    assert loss(lake, [down, short], risks=[risk(0, 3), risk(1, 3)]) == ("broker 1", 0, 0)


def test_last_reading_without_error_and_missing_part_counts(lake) -> None:
    safe, bare = partition(0, [1, 2]), partition(0, [1], [1, 2], minute=1)
    assert loss(lake, [safe, bare], readings=[reading(), reading(1)]) == ("broker 1", 1, 0)
    assert loss(lake, [safe, bare], readings=[reading(), reading(1, missing=["groups"])]) == ("broker 1", 0, 0)
    assert loss(lake, [safe], readings=[reading(), reading(1, error="refused")]) == ("broker 1", 0, 0)
    assert loss(lake, [safe], readings=[reading(missing=["groups"])]) is None
    assert loss(lake, []) is None


def recomputed(state: dict[str, Any], lost: set[int], least: int) -> tuple[int, int]:
    """Without a replica in sync, and without writes, by the raw reading."""
    partitions = [p for t in state["topics"] for p in t["partitions"] if (p["leader"] or 0) > 0]
    bare = [p for p in partitions if p["isr"] and all(b in lost for b in p["isr"])]
    fewer = [p for p in partitions if 0 < sum(b not in lost for b in p["isr"]) < min(least, len(p["replicas"]))]
    return len(bare), len([p for p in fewer if len(p["isr"]) >= min(least, len(p["replicas"]))])


@pytest.mark.parametrize("least", [1, 2])
def test_worst_loss_of_the_recorded_night_equals_a_recomputation(lake, least: int) -> None:
    lines = (SAMPLE / "snapshots.jsonl").read_text().splitlines()
    states = {str(state["topics"]): state for state in map(json.loads, lines) if state.get("topics")}
    costs = set()
    for state in states.values():
        named = [(t["topic"], p) for t in state["topics"] for p in t["partitions"]]
        rows = [
            {**partition(p["partition"], p["isr"], p["replicas"], max(p["leader"] or 0, 0) or None), "topic": topic}
            for topic, p in named
        ]
        risks = [{**risk(p["partition"], least), "topic": topic} for topic, p in named]
        racks = {b["id"]: b["rack"] for b in state["brokers"]}
        scopes = {f"broker {b}": {b} for _, p in named for b in p["isr"]}
        for rack in {*racks.values()} - {None}:
            scopes[f"rack {rack}"] = {b for b, own in racks.items() if own == rack}
        by_scope = {scope: recomputed(state, lost, least) for scope, lost in scopes.items()}
        worst = min(by_scope, key=lambda scope: ([-cost for cost in by_scope[scope]], scope))
        assert loss(lake, rows, brokers(racks), risks) == (worst, *by_scope[worst])
        costs.add(by_scope[worst])
    assert len(costs) > 1


BROKERS = st.sampled_from([1, 2, 3, 4])
PARTITIONS = st.lists(st.tuples(st.lists(BROKERS, min_size=1, max_size=3, unique=True), st.integers(1, 3)), max_size=8)


@drawn(0.25)
@given(PARTITIONS, st.integers(1, 3))
def test_loss_of_a_rack_costs_at_least_the_loss_of_each_of_its_brokers(
    lake, drawn: list[tuple[list[int], int]], least: int
) -> None:
    partitions = [partition(n, sorted(r)[:size], r) for n, (r, size) in enumerate(drawn)]
    risks = [risk(n, least) for n in range(len(drawn))]
    alone = loss(lake, partitions, (), risks)
    together = loss(lake, partitions, brokers(dict.fromkeys((1, 2, 3, 4), "r")), risks)
    if alone and together:
        assert together[1] == len(drawn) >= alone[1] + alone[2]
