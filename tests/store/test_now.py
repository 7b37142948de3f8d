"""The newest landed reading of each cluster, asked in SQL."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.lake.damage import sealed
from kafka_hindsight.lake.landing import SNAPSHOTS, landed_name, landing_folder, write_atomically
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sql import prompt as sql
from kafka_hindsight.sql.duck_types import duck_type
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from kafka_hindsight.sql.now_views import VIEWS

AT = datetime(2026, 11, 20, 3, 5, tzinfo=UTC)


def partition(number: int, leader: int, replicas: list[int], isr: list[int]) -> dict[str, Any]:
    return {"partition": number, "leader": leader, "replicas": replicas, "isr": isr}


def member(name: str, *owned: int) -> dict[str, Any]:
    return {
        "member_id": name,
        "client_id": "c",
        "host": "/h",
        "instance_id": "",
        "assignment": [["t", n] for n in owned],
    }


PROD = {
    "at": AT.isoformat(),
    "cluster_id": "id-prod",
    "controller": 1,
    "brokers": [{"id": n, "host": "h", "port": 9092, "rack": "abc"[n - 1]} for n in (1, 2)],
    "topics": [
        {
            "topic": "t",
            "internal": False,
            "partitions": [partition(0, 1, [1, 2], [1, 2]), partition(1, 1, [2, 1], [1]), partition(2, -1, [2], [])],
        }
    ],
    "end_offsets": [["t", 0, 100, 4], ["t", 1, 50, 0]],
    "begin_offsets": [["t", 0, 3, 4]],
    "stable_offsets": [["t", 0, 95, 4], ["t", 1, -1001, 0]],
    "groups": [
        {
            "group": "orders",
            "state": "STABLE",
            "type": "CLASSIC",
            "assignor": "range",
            "coordinator": 2,
            "members": [member("m-1", 0), member("m-2", 1)],
            "committed": [["t", 0, 90], ["t", 1, 60], ["t", 2, 5], ["t", 3, -1001]],
            "committed_epochs": [["t", 0, 4], ["t", 1, None]],
        },
        {"group": "silent", "error": "_TIMED_OUT: Local: Timed out"},
    ],
    "configs": [{"resource_type": "topic", "resource": "t", "name": "n", "value": None, "source": "DEFAULT_CONFIG"}],
    "missing": [{"part": "end_offsets", "reason": "t-2: nobody leads it"}],
    "what a later version adds": 1,
}
FAILED = {"at": (AT + timedelta(minutes=5)).isoformat(), "cluster": "eu", "error": "nobody answered"}

EXPECTED: dict[str, list[dict[str, Any]]] = {
    "lag_now": [
        {"cluster": "id-prod", "group_id": "orders", "state": "stable", "members": 2, "lag": 10,
         "partitions_behind": 1, "worst_lag": 10, "worst_partition": "t-0", "read_at": "2026-11-20T03:05:00.000Z"},
    ],
    "lag_now group_id=silent": [],
    "lag_now cluster=eu": [],
    "leaders_now": [
        {"broker": 1, "rack": "a", "leads": 2, "preferred_for": 1, "led_elsewhere": 0, "out_of_sync": 0},
        {"broker": 2, "rack": "b", "leads": 0, "preferred_for": 2, "led_elsewhere": 2, "out_of_sync": 2},
    ],
    "leaders_now cluster=eu": [],
    "topic_gauges": [
        {"topic": "t", "partitions": 3, "under_replicated_partitions": 2, "offline_partitions": 1},
    ],
}  # fmt: skip


def land_reading(lake: Path, cluster: str, at: datetime, text: str) -> None:
    write_atomically(f"{landing_folder(str(lake), SNAPSHOTS)}/{landed_name(cluster, at)}", text)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> sql.Session:
    lake = tmp_path_factory.mktemp("a lake's 100%")
    land_reading(lake, "id-prod", AT - timedelta(minutes=5), json.dumps({**PROD, "groups": []}) + "\n")
    land_reading(lake, "id-prod", AT, json.dumps(PROD) + "\n")
    land_reading(lake, "eu", AT, json.dumps(FAILED) + "\n")
    land_reading(lake, "torn", AT, '{"at": "2026-')
    return sql.Session(open_views(str(lake)), named_queries(), "json")


@pytest.mark.parametrize("asked", EXPECTED)
def test_named_query_on_newest_reading_answers(
    session: sql.Session, asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    session.tell(asked)
    answer = list(json.loads(capsys.readouterr().out))
    assert [{k: f[k] for k in e} for f, e in zip(answer, EXPECTED[asked])] == EXPECTED[asked]
    assert len(answer) == len(EXPECTED[asked])


def rows(session: sql.Session, query: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(query).fetchall()


def test_now_readings_show_missing_parts_and_errors(session: sql.Session) -> None:
    assert rows(session, "SELECT cluster, cluster_id, missing, reasons, error FROM now.readings ORDER BY cluster") == [
        ("eu", None, None, None, "nobody answered"),
        ("id-prod", "id-prod", ["end_offsets"], PROD["missing"], None),
    ]


def test_damaged_newest_reading_is_left_out_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = sealed(json.dumps(PROD) + "\n")
    land_reading(tmp_path, "whole", AT, text)
    land_reading(tmp_path, "flipped", AT, text.replace('"leader": 1', '"leader": 3', 1))
    session = sql.Session(open_views(str(tmp_path)), named_queries(), "json")
    assert rows(session, "SELECT DISTINCT cluster FROM now.partitions") == [(PROD.get("cluster") or "id-prod",)]
    assert (
        "flipped: the newest reading that landed cannot be shown (its file has other bytes" in capsys.readouterr().err
    )


def test_unknown_values_of_reading_are_null(session: sql.Session) -> None:
    assert rows(
        session, "SELECT partition, leader, leader_epoch, end_offset, preferred_leader FROM now.partitions"
    ) == [
        (0, 1, 4, 100, 1),
        (1, 1, 0, 50, 2),
        (2, None, None, None, 2),
    ]
    assert rows(session, "SELECT partition, committed_offset, lag FROM now.offsets ORDER BY 1") == [
        (0, 90, 10),
        (1, 60, 0),
        (2, 5, None),
        (3, None, None),
    ]
    assert rows(session, "SELECT log_start, last_stable, leader_epoch FROM now.offsets ORDER BY partition") == [
        (3, 95, 4),
        (None, None, -1),
        (None, None, None),
        (None, None, None),
    ]
    assert rows(session, "SELECT group_id, state, member_count, error FROM now.groups ORDER BY 1") == [
        ("orders", "stable", 2, None),
        ("silent", None, None, "_TIMED_OUT: Local: Timed out"),
    ]
    assert rows(session, "SELECT member_id, instance_id, assignment FROM now.members WHERE member_id = 'm-2'") == [
        ("m-2", None, [{"topic": "t", "partition": 1}])
    ]
    assert rows(session, "SELECT broker, is_controller FROM now.brokers ORDER BY 1") == [(1, True), (2, False)]
    assert rows(session, "SELECT resource_type, value FROM now.configs") == [("topic", None)]


def test_every_now_view_has_declared_columns_and_types(session: sql.Session) -> None:
    for view in VIEWS:
        columns = rows(
            session,
            "SELECT column_name, replace(data_type, '\"', '') FROM duckdb_columns()"
            f" WHERE schema_name = 'now' AND table_name = '{view.name}' ORDER BY column_index",
        )
        declared = [(c.name, duck_type(c.kind).replace('"', "")) for c in view.columns]
        assert columns == declared, view.name


def test_lake_with_failed_reading_alone_has_empty_views(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"Run `hindsight audit` or `hindsight snapshot` first"):
        open_views(str(tmp_path))
    land_reading(tmp_path, "eu", AT, json.dumps(FAILED))
    connection = open_views(str(tmp_path))
    assert connection.execute("SELECT count(*) FROM now.brokers").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM gold.rebalances").fetchone() == (0,)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({**PROD, "end_offsets": [["t", 2**63, 100, 4]]}, "Could not convert"),
        ({**PROD, "at": 999999}, "invalid timestamp"),
        ({**PROD, "at": {"nested": [1]}}, "invalid timestamp"),
        ({**PROD, "groups": [{"group": "g", "committed": [["t", 2**63, 1]]}]}, "Could not convert"),
        ('{"at": "2026-', "Malformed JSON"),
    ],
)
def test_unreadable_newest_reading_is_named_and_hides_no_other_cluster(
    tmp_path: Path, bad: Any, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    land_reading(tmp_path, "prod", AT, json.dumps(PROD) + "\n")
    land_reading(tmp_path, "bad\x1b", AT, bad if isinstance(bad, str) else json.dumps(bad) + "\n")
    connection = open_views(str(tmp_path))
    assert connection.execute("SELECT cluster, count(*) FROM now.partitions GROUP BY 1").fetchall() == [("id-prod", 3)]
    assert all(
        connection.execute(f"SELECT * FROM {v.full_name}").fetchall() for v in VIEWS if v.table.layer == "bronze"
    )
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("Schema now has no rows of bad~1b: the newest reading that landed cannot be shown (")
    assert why in sentence
