"""Readings of the cluster become snapshot rows; what did not answer is kept, reported, and concludes nothing."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.intake import snapshot_rows as snapshots
from kafka_hindsight.intake.json_lines import LandedLine
from kafka_hindsight.intake.reading_files import read_readings
from kafka_hindsight.intake.snapshot_rows import ReadLine

AT = "2026-11-21T01:40:55.389+00:00"
INSTANT = datetime(2026, 11, 21, 1, 40, 55, 389000, tzinfo=UTC)
MEMBER = {"member_id": "m-1", "client_id": "c", "host": "/127.0.0.1", "instance_id": None, "assignment": [["t", 0]]}
GROUP = {
    "group": "g",
    "state": "STABLE",
    "type": "Classic",
    "assignor": "range",
    "coordinator": 2,
    "members": [MEMBER],
    "committed": [["t", 0, 7], ["t", 1, -1001], ["t", 2, None], ["gone", 0, 3]],
}
READING = {
    "at": AT,
    "cluster_id": "abc",
    "controller": 1,
    "brokers": [{"id": 1, "host": "h", "port": 9092, "rack": None}, {"id": 2, "host": "h", "port": 9093, "rack": "b"}],
    "topics": [
        {
            "topic": "t",
            "internal": False,
            "partitions": [
                {"partition": 0, "leader": 2, "replicas": [1, 2], "isr": [2]},
                {"partition": 1, "leader": -1, "replicas": [2, 1], "isr": []},
                {"partition": 2, "leader": None, "replicas": None, "isr": None},
            ],
        }
    ],
    "end_offsets": [["t", 0, 10, 4], ["t", 1, -1001, None], ["t", 2, 5, -1]],
    "groups": [GROUP],
    "configs": [
        {"resource_type": "TOPIC", "resource": "t", "name": "min.insync.replicas", "value": "2", "source": "D"}
    ],
}

Row = dict[str, Any]


def read(*lines: Row | str) -> list[ReadLine]:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return [snapshots.read_line(LandedLine(text)) for text in texts]


def rows(table: Table, *lines: Row | str) -> list[Row]:
    """The rows of a table, without the columns that all of them share."""
    content = snapshots.tables_of_readings(snapshots.readings(read(*lines)), "prod")[table]
    shared = ("cluster", "snapshot_id", "snapshot_at")
    names = [n for n in table.content_columns if n not in shared]
    held: list[Row] = content.select(names).to_pylist()
    return sorted(held, key=lambda row: [str(row[n]) for n in names[:3]])


def only(table: Table, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(r[c] for c in columns) for r in rows(table, READING)]


def test_reading_becomes_rows_of_every_table() -> None:
    assert rows(bronze.SNAPSHOT_READINGS, READING) == [
        {"cluster_id": "abc", "controller": 1, "missing": None, "reasons": None, "error": None}
    ]
    assert only(bronze.BROKER_SNAPSHOTS, "broker", "rack", "is_controller") == [(1, None, True), (2, "b", False)]
    assert only(
        bronze.PARTITION_SNAPSHOTS,
        "partition",
        "leader",
        "leader_epoch",
        "isr",
        "preferred_leader",
        "end_offset",
    ) == [(0, 2, 4, [2], 1, 10), (1, None, None, [], 2, None), (2, None, None, None, None, 5)]
    assert only(bronze.GROUP_SNAPSHOTS, "group_id", "state", "type", "assignor", "coordinator", "member_count") == [
        ("g", "stable", "classic", "range", 2, 1)
    ]
    assert only(bronze.MEMBER_SNAPSHOTS, "member_id", "client_id", "assignment") == [
        ("m-1", "c", [{"topic": "t", "partition": 0}])
    ]
    assert only(bronze.OFFSET_SNAPSHOTS, "topic", "partition", "committed_offset", "end_offset", "lag") == [
        ("gone", 0, 3, None, None),
        ("t", 0, 7, 10, 3),
        ("t", 1, None, None, None),
        ("t", 2, None, 5, None),
    ]
    assert only(bronze.CONFIG_SNAPSHOTS, "resource_type", "name", "value") == [("topic", "min.insync.replicas", "2")]


def test_reading_has_log_start_last_stable_offset_and_epoch_of_commits_where_they_were_asked() -> None:
    columns = ("topic", "partition", "log_start", "last_stable", "leader_epoch")
    assert set(only(bronze.OFFSET_SNAPSHOTS, *columns)) == {
        ("gone", 0, *[None] * 3),
        *(("t", n, *[None] * 3) for n in range(3)),
    }
    asked = {
        "begin_offsets": [["t", 0, 2, 4], ["t", 1, -1001, None]],
        "stable_offsets": [["t", 0, 9]],
        "groups": [GROUP | {"committed_epochs": [["t", 0, 4, "metadata"], ["t", 1, None], ["gone", 0, -1]]}],
    }
    found = rows(bronze.OFFSET_SNAPSHOTS, READING | asked)
    assert [tuple(r[c] for c in columns) for r in found] == [
        ("gone", 0, None, None, -1),
        ("t", 0, 2, 9, 4),
        ("t", 1, None, None, -1),
        ("t", 2, None, None, None),
    ]


def test_snapshot_id_is_hash_of_cluster_and_instant() -> None:
    whole = datetime(2026, 11, 21, 1, 41, tzinfo=UTC)
    lines = snapshots.readings(read(READING, {"at": "2026-11-21T02:41:00+01:00"}))
    readings = snapshots.tables_of_readings(lines, "prod")[bronze.SNAPSHOT_READINGS]
    assert set(readings["snapshot_id"].to_pylist()) == {row_id("prod", INSTANT), row_id("prod", whole)}


def test_parts_without_answer_are_missing_with_reasons() -> None:
    silent = {"group": "g", "error": "KafkaException(NOT_COORDINATOR)"}
    (group,) = rows(bronze.GROUP_SNAPSHOTS, READING | {"groups": [silent]})
    assert (group["error"], group["member_count"], group["state"]) == (silent["error"], None, None)
    (failed,) = rows(bronze.SNAPSHOT_READINGS, {"at": AT, "error": "KafkaException"})
    assert failed["error"] == "KafkaException"
    assert failed["missing"] == ["cluster_id", "controller", "brokers", "topics", "end_offsets", "groups"]
    (partial,) = rows(bronze.SNAPSHOT_READINGS, {k: v for k, v in READING.items() if k != "end_offsets"})
    assert (partial["missing"], partial["reasons"]) == (["end_offsets"], None)
    why = [{"part": "configs", "reason": "broker 2: timed out"}, {"part": "groups", "reason": "a broker: timed out"}]
    (explained,) = rows(bronze.SNAPSHOT_READINGS, READING | {"missing": why})
    assert (explained["missing"], explained["reasons"]) == (["configs", "groups"], why)


def test_empty_assignor_is_null() -> None:
    empty = GROUP | {"assignor": "", "state": "EMPTY", "members": []}
    (group,) = rows(bronze.GROUP_SNAPSHOTS, READING | {"groups": [empty]})
    assert (group["assignor"], group["state"], group["member_count"]) == (None, "empty", 0)


def test_is_controller_is_null_where_controller_is_unknown() -> None:
    brokers = rows(bronze.BROKER_SNAPSHOTS, READING | {"controller": None})
    assert [b["is_controller"] for b in brokers] == [None, None]


def test_fuller_of_two_readings_of_one_instant_is_kept() -> None:
    less = {"at": AT, "cluster_id": "abc", "controller": 2}
    for lines in ((less, READING), (READING, less), (READING, READING)):
        assert [r["controller"] for r in rows(bronze.SNAPSHOT_READINGS, *lines)] == [1]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('{"at": "2026-11-21T01:40:5', "not JSON"),
        ("garbage", "not JSON"),
        ('{"cluster_id": "abc"}', "lacks `at`"),
        ('{"at": "yesterday"}', "lacks `at`"),
        ("[1, 2]", "lacks `at`"),
    ],
)
def test_line_that_is_not_a_reading_is_quarantined(line: str, word: str) -> None:
    lines = read(READING, line, line)
    (quarantined,) = snapshots.quarantined(lines, "prod", "snapshots")
    assert quarantined["row"] == line
    assert word in quarantined["sentences"][0]
    assert len(snapshots.readings(lines)) == 1


def test_minority_reading_of_other_cluster_is_quarantined(tmp_path: Path) -> None:
    file = tmp_path / "snapshots.jsonl"
    lines = [{"at": f"2026-11-21T01:0{n}:00Z", "cluster_id": "ours"} for n in range(4)]
    lines += [{"at": "2026-11-21T01:05:00Z"}, {"at": "2031-11-21T01:06:00Z", "cluster_id": "\x00"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    readings = read_readings(str(file))
    assert (readings.cluster_ids, len(readings.instants), len(readings.lines)) == ({"ours"}, 5, 6)
    assert max(readings.instants) == datetime(2026, 11, 21, 1, 5, tzinfo=UTC)
    (row,) = snapshots.quarantined(readings.lines, "c", "snapshots")
    assert row["sentences"] == ["It is of cluster \x00, and this audit is of another."]
    assert len(snapshots.readings(readings.lines)) == 5


def test_balanced_readings_of_two_clusters_keep_both_ids(tmp_path: Path) -> None:
    file = tmp_path / "snapshots.jsonl"
    lines = [{"at": f"2026-11-21T01:0{n}:00Z", "cluster_id": "one" if n % 2 else "two"} for n in range(4)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_readings(str(file)).cluster_ids == {"one", "two"}


def test_field_of_wrong_type_is_null_and_text_takes_any_value() -> None:
    odd: Row = {
        "at": AT,
        "cluster_id": 7,
        "controller": "1",
        "brokers": [{"id": 2**31, "host": "h"}, {"id": 3, "host": ["h"], "port": 1.5, "rack": "\ud800"}, None, 4],
        "topics": {"topic": "t"},
        "end_offsets": [["t", "0", 1.5], None, "t"],
        "groups": [{"group": "g", "state": None, "members": [{"member_id": True}], "committed": [["t", True, 2]]}],
    }
    (reading,) = rows(bronze.SNAPSHOT_READINGS, odd)
    assert (reading["cluster_id"], reading["controller"]) == ("7", None)
    (broker,) = rows(bronze.BROKER_SNAPSHOTS, odd)
    assert (broker["broker"], broker["host"], broker["port"], broker["rack"]) == (3, '["h"]', None, "?")
    assert rows(bronze.PARTITION_SNAPSHOTS, odd) == []
    assert [r["member_id"] for r in rows(bronze.MEMBER_SNAPSHOTS, odd)] == ["true"]
    assert rows(bronze.OFFSET_SNAPSHOTS, odd) == [], "true is not the number of a partition"


def test_readings_with_crlf_invalid_utf8_or_deep_nesting_are_handled(tmp_path: Path) -> None:
    deep = '{"at": ' + "[" * 100_000 + "]" * 100_000 + "}"
    file = tmp_path / "snapshots.jsonl"
    file.write_bytes(json.dumps(READING).encode() + b"\r\n \n\xff\n" + deep.encode())
    readings = read_readings(str(file))
    assert (len(readings.instants), len(readings.lines)) == (1, 3)
    assert {line.sentence.partition(":")[0] for line in readings.lines if line.sentence} == {"It is not JSON"}


def test_folder_of_readings_skips_hidden_and_unfinished_files(tmp_path: Path) -> None:
    names = ("a.jsonl", "_b.jsonl", ".c.jsonl", "below/d.jsonl", "e.jsonl.gz")
    for minute, name in enumerate(names):
        text = json.dumps(READING | {"at": f"2026-11-21T01:{minute:02}:00Z"}).encode()
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert sorted(line.at.minute for line in read_readings(str(tmp_path)).lines if line.at) == [0, 4]
    assert read_readings(str(tmp_path / "_b.jsonl")).instants, "the user names it"


def test_readings_are_written_in_ordered_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = read(*(READING | {"at": f"2026-11-21T01:4{n}:00+00:00"} for n in range(5)))
    monkeypatch.setattr(snapshots, "_CHUNK", 2 * len(lines[0].line.text))
    chunks = [*snapshots.in_chunks(lines)]
    assert [len(chunk) for chunk in chunks] == [2, 2, 1]
    assert [line for chunk in chunks for line in chunk] == lines
    assert [*snapshots.in_chunks([])] == []
