"""`hindsight snapshot`: what is asked for, what is refused before any broker is asked, what is told of a reading."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_hindsight.cli import main as cli
from kafka_hindsight.cli import snapshot
from kafka_hindsight.kafka import snapshots
from kafka_hindsight.kafka.cluster_snapshot import summary
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.shared.exits import BadInput


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("BOOTSTRAP", "KAFKA_CONFIG", "CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LAKE", str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "No cluster is named. Needed: BOOTSTRAP=host:port"),
        (("--bootstrap", "b:port"), "names 'b:port' in bootstrap.servers"),
        (("--config", "/no/such.properties"), "/no/such.properties, and it cannot be read"),
        (("--bootstrap", "b:1", "--at", "noon"), "AT is 'noon'. Needed: an ISO instant"),
        (("--connection", "s3cret"), "Needed: -, and the connection on stdin"),
    ],
)
def test_invalid_arguments_of_snapshot_are_bad_input(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["snapshot", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_connection_on_stdin_overrides_the_environment() -> None:
    stdin = io.StringIO('{"name": "orders", "settings": {"bootstrap.servers": "a:1"}}\n')
    assert snapshot.connection_of({"BOOTSTRAP": "b:1"}, stdin).name == "orders"
    assert snapshot.connection_of({"BOOTSTRAP": "b:1"}).name == "b:1"
    with pytest.raises(BadInput, match="No cluster is named"):
        snapshot.connection_of({})


def test_lake_that_cannot_be_opened_is_refused_without_secrets() -> None:
    order = snapshots.ReadingOrder(
        Connection.of("c", {"bootstrap.servers": "b:1"}), "wasb://s3cret@y/z", datetime.now(UTC), "c"
    )
    with pytest.raises(BadInput, match=r"wasb://\*\*\*@y/z/landing/snapshots cannot be opened") as problem:
        snapshots.land_silence(order, "c", "nobody answered")
    assert "s3cret" not in str(problem.value)


def test_hdfs_lake_without_hadoop_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HADOOP_HOME", "ARROW_LIBHDFS_DIR"):
        monkeypatch.delenv(variable, raising=False)
    order = snapshots.ReadingOrder(
        Connection.of("c", {"bootstrap.servers": "b:1"}), "hdfs://n:1/z", datetime.now(UTC), "c"
    )
    with pytest.raises(BadInput, match="cannot be opened: Unable to load lib") as problem:
        snapshots.land_silence(order, "c", "nobody answered")
    (sentence,) = problem.value.sentences
    assert "\n" not in sentence
    assert "HADOOP_HOME" in sentence


def test_timestamp_without_zone_is_utc() -> None:
    at = datetime(2026, 11, 20, 3, 5, tzinfo=UTC)
    assert [snapshot.instant_or_now(t) for t in ("2026-11-20T03:05", "2026-11-20T04:05+01:00")] == [at, at]


def test_summary_of_a_snapshot_names_what_is_missing() -> None:
    partitions = [
        {"partition": 0, "leader": 1, "replicas": [1, 2], "isr": [1]},
        {"partition": 1, "leader": -1, "replicas": [2], "isr": []},
    ]
    reading = {
        "at": "2026-11-20T03:05:00+00:00",
        "cluster_id": "abc",
        "brokers": [{"id": 1}],
        "topics": [{"topic": "t", "partitions": partitions}],
        "groups": [{"group": "g", "members": [{}]}, {"group": "h", "error": "no answer"}],
        "missing": [{"part": "configs", "reason": "broker 2: no answer"}],
    }
    assert summary(reading) == [
        "Cluster abc at 2026-11-20T03:05:00+00:00: 1 brokers, 1 topics, 2 partitions, 2 groups, 1 members",
        "Without a leader: 1. Under-replicated: 2",
        "Missing, configs: broker 2: no answer",
        "Groups that did not answer: 1 (h)",
    ]
