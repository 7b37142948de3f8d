"""Several clusters from one file; one from the environment; and what is said of a file that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_jobs.shared import clusters
from spark_jobs.shared.exits import BadInput

TWO = """
lake = "lake"

[[clusters]]
name = "orders"
connection = "kafka_orders"
logs = "logs/orders"
logs_tz = "Europe/Berlin"

[[clusters]]
name = "payments"
logs = "s3a://logs/payments"
snapshots = "/srv/readings.jsonl"
lake = "s3a://lake/payments"
look_ahead_hours = 3
"""


@pytest.fixture()
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "hindsight.toml"
    monkeypatch.setenv(clusters.FILE_VARIABLE, str(path))
    return path


def test_each_table_is_a_cluster_and_places_are_seen_from_the_file(file: Path) -> None:
    file.write_text(TWO)
    orders, payments = clusters.clusters()
    assert (orders.name, orders.connection, orders.lake) == ("orders", "kafka_orders", str(file.parent / "lake"))
    assert orders.inputs["logs"] == str(file.parent / "logs/orders")
    assert (payments.connection, payments.lake) == (None, "s3a://lake/payments")
    assert payments.inputs["logs"] == "s3a://logs/payments"
    assert payments.inputs["look_ahead_hours"] == "3"
    assert [c.dag_id("kafka_collect") for c in (orders, payments)] == ["kafka_collect_orders", "kafka_collect_payments"]


def test_without_clusters_in_the_file_the_environment_describes_one(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("[alerts]\n")
    monkeypatch.setenv("HINDSIGHT_LOGS", "/var/log/kafka")
    (one,) = clusters.clusters()
    assert (one.name, one.connection, one.inputs["logs"]) == (None, "kafka_default", "/var/log/kafka")
    assert one.dag_id("kafka_collect") == "kafka_collect"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[clusters]\n", ["cannot be read"]),
        ("cluster = 1\n", ["cluster is not known", "clusters"]),
        ("clusters = 1\n", ["[[clusters]] table"]),
        ("[[clusters]]\nlogs = 'x'\n", ["number 1", "name is None"]),
        ("[[clusters]]\nname = 'a/b'\nlogs = 'x'\n", ["'a/b'"]),
        ("[[clusters]]\nname = 'a'\n", ["cluster a", "LOGS is not given"]),
        ("[[clusters]]\nname = 'a'\nlogs = 'x'\nlabels = 'prod'\n", ["cluster a", "labels is 'prod'"]),
        ("[[clusters]]\nname = 'a'\nlogs = 'x'\nlog_tz = 'UTC'\n", ["'log_tz' is not known", "logs_tz"]),
        (
            "[[clusters]]\nname = 'a'\nlogs = 'x'\nlogs_tz = 'Berlin'\nlook_ahead_hours = 'x'\n",
            ["LOGS_TZ", "LOOK_AHEAD"],
        ),
        ("[[clusters]]\nname = 'a'\nlogs = 'x'\n[[clusters]]\nname = 'a'\nlogs = 'x'\n", ["named twice"]),
    ],
)
def test_a_file_that_is_wrong_is_told_by_name(file: Path, text: str, words: list[str]) -> None:
    file.write_text(text)
    with pytest.raises(BadInput) as problem:
        clusters.clusters()
    assert all(word in str(problem.value) for word in (*words, str(file)))


def test_a_file_that_is_named_and_not_there_is_told(file: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        clusters.clusters()
