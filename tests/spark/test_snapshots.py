"""Readings of the cluster become snapshot rows; what did not answer is kept, reported, and concludes nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.model import Table
from kafka_hindsight.spark.files.reading_files import read_readings
from kafka_hindsight.spark.frames import snapshot_rows as snapshots

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


def read(spark: SparkSession, *lines: Row | str) -> DataFrame:
    texts = [(line if isinstance(line, str) else json.dumps(line),) for line in lines]
    return snapshots.read_snapshots(spark.createDataFrame(texts, "value STRING").withColumn("landed_as", F.lit(None)))


def rows(spark: SparkSession, table: Table, *lines: Row | str) -> list[Row]:
    """The rows of a table, without the columns that all of them share."""
    found = snapshots.rows_of(table, snapshots.readings(read(spark, *lines), "prod"))
    assert set(found.columns) >= set(table.column_names)
    shared = ("cluster", "snapshot_id", "snapshot_at")
    names = [n for n in table.content_columns if n not in shared]
    return [r.asDict(recursive=True) for r in found.select(*names).orderBy(*names[:3]).collect()]


def only(spark: SparkSession, table: Table, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(r[c] for c in columns) for r in rows(spark, table, READING)]


def test_a_reading_becomes_rows_of_every_table(spark: SparkSession) -> None:
    assert rows(spark, bronze.SNAPSHOT_READINGS, READING) == [
        {"cluster_id": "abc", "controller": 1, "missing": None, "reasons": None, "error": None}
    ]
    assert only(spark, bronze.BROKER_SNAPSHOTS, "broker", "rack", "is_controller") == [(1, None, True), (2, "b", False)]
    assert only(
        spark,
        bronze.PARTITION_SNAPSHOTS,
        "partition",
        "leader",
        "leader_epoch",
        "isr",
        "preferred_leader",
        "end_offset",
    ) == [(0, 2, 4, [2], 1, 10), (1, None, None, [], 2, None), (2, None, None, None, None, 5)]
    assert only(
        spark, bronze.GROUP_SNAPSHOTS, "group_id", "state", "type", "assignor", "coordinator", "member_count"
    ) == [("g", "stable", "classic", "range", 2, 1)]
    assert only(spark, bronze.MEMBER_SNAPSHOTS, "member_id", "client_id", "assignment") == [
        ("m-1", "c", [{"topic": "t", "partition": 0}])
    ]
    assert only(spark, bronze.OFFSET_SNAPSHOTS, "topic", "partition", "committed_offset", "end_offset", "lag") == [
        ("gone", 0, 3, None, None),
        ("t", 0, 7, 10, 3),
        ("t", 1, None, None, None),
        ("t", 2, None, 5, None),
    ]
    assert only(spark, bronze.CONFIG_SNAPSHOTS, "resource_type", "name", "value") == [
        ("topic", "min.insync.replicas", "2")
    ]


def test_an_id_is_what_python_makes_of_cluster_and_instant(spark: SparkSession) -> None:
    whole = datetime(2026, 11, 21, 1, 41, tzinfo=UTC)
    found = snapshots.readings(read(spark, READING, {"at": "2026-11-21T02:41:00+01:00"}), "prod")
    assert {r["snapshot_id"] for r in found.collect()} == {row_id("prod", INSTANT), row_id("prod", whole)}


def test_what_did_not_answer_is_told(spark: SparkSession) -> None:
    silent = {"group": "g", "error": "KafkaException(NOT_COORDINATOR)"}
    (group,) = rows(spark, bronze.GROUP_SNAPSHOTS, READING | {"groups": [silent]})
    assert (group["error"], group["member_count"], group["state"]) == (silent["error"], None, None)
    (failed,) = rows(spark, bronze.SNAPSHOT_READINGS, {"at": AT, "error": "KafkaException"})
    assert failed["error"] == "KafkaException"
    assert failed["missing"] == ["cluster_id", "controller", "brokers", "topics", "end_offsets", "groups"]
    (partial,) = rows(spark, bronze.SNAPSHOT_READINGS, {k: v for k, v in READING.items() if k != "end_offsets"})
    assert (partial["missing"], partial["reasons"]) == (["end_offsets"], None)
    why = [{"part": "configs", "reason": "broker 2: timed out"}, {"part": "groups", "reason": "a broker: timed out"}]
    (told,) = rows(spark, bronze.SNAPSHOT_READINGS, READING | {"missing": why})
    assert (told["missing"], told["reasons"]) == (["configs", "groups"], why)


def test_an_empty_assignor_is_none_and_no_controller_makes_nobody_one(spark: SparkSession) -> None:
    empty = GROUP | {"assignor": "", "state": "EMPTY", "members": []}
    (group,) = rows(spark, bronze.GROUP_SNAPSHOTS, READING | {"groups": [empty]})
    assert (group["assignor"], group["state"], group["member_count"]) == (None, "empty", 0)
    brokers = rows(spark, bronze.BROKER_SNAPSHOTS, READING | {"controller": None})
    assert [b["is_controller"] for b in brokers] == [None, None]


def test_of_two_readings_of_one_instant_the_fuller_one_is_kept(spark: SparkSession) -> None:
    less = {"at": AT, "cluster_id": "abc", "controller": 2}
    for lines in ((less, READING), (READING, less), (READING, READING)):
        assert [r["controller"] for r in rows(spark, bronze.SNAPSHOT_READINGS, *lines)] == [1]


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
def test_a_line_that_is_no_reading_is_quarantined(spark: SparkSession, line: str, word: str) -> None:
    lines = read(spark, READING, line, "", line)
    (told,) = snapshots.quarantined(lines, "prod", "snapshots").collect()
    assert told["row"] == line
    assert word in told["sentences"][0]
    assert snapshots.readings(lines, "prod").count() == 1


def test_a_reading_of_another_cluster_is_outvoted_and_quarantined(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "snapshots.jsonl"
    lines = [{"at": f"2026-11-21T01:0{n}:00Z", "cluster_id": "ours"} for n in range(4)]
    lines += [{"at": "2026-11-21T01:05:00Z"}, {"at": "2031-11-21T01:06:00Z", "cluster_id": "\x00"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = read_readings(spark, str(file))
    assert (found.cluster_ids, found.count, found.broken) == ({"ours"}, 5, 1)
    assert found.last_at == datetime(2026, 11, 21, 1, 5, tzinfo=UTC)
    (row,) = snapshots.quarantined(found.lines, "c", "snapshots").collect()
    assert row["sentences"] == ["It is of cluster \x00, and most readings are of another."]
    assert snapshots.readings(found.lines, "c").count() == 5


def test_readings_of_two_clusters_side_by_side_are_left_to_a_person(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "snapshots.jsonl"
    lines = [{"at": f"2026-11-21T01:0{n}:00Z", "cluster_id": "one" if n % 2 else "two"} for n in range(4)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_readings(spark, str(file)).cluster_ids == {"one", "two"}
