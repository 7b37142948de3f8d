"""Logs in a topic of real brokers: landed once, also after kills and when the topic grows."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_hindsight.audit.inputs import SAMPLE
from kafka_hindsight.kafka.topic_logs import Topic
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.declarations import SourceFails
from kafka_hindsight.sources.land import land
from tests.live.conftest import USERS, GuardedCluster
from tests.support.sources import PERIOD, in_order, killed_and_read_again, landed, lines_of, produce, with_topic

LOGS = lines_of(SAMPLE / "logs")


def write_topic(cluster: GuardedCluster, topic: str, lines: Mapping[str, list[str]], partitions: int = 3) -> Topic:
    """A topic with the lines of logs, by their names as keys."""
    with_topic(cluster.bootstrap, topic, partitions)
    produce(in_order(cluster.bootstrap), topic, lines)
    return Topic(topic, {"bootstrap.servers": cluster.bootstrap})


def abort_transaction(cluster: GuardedCluster, topic: str, lines: Mapping[str, list[str]]) -> None:
    """Lines of a transaction that is aborted."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": f"{topic}-aborted"})
    producer.init_transactions(30)
    producer.begin_transaction()
    produce(producer, topic, lines)
    producer.abort_transaction(60)


def test_each_line_of_topic_lands_once_as_topic_grows(cluster: GuardedCluster, tmp_path: Path) -> None:
    """A partition ends where a transaction is open: brokers close one a moment after its producer has ended it."""
    folder, half = str(tmp_path / "night"), {log: len(texts) // 2 for log, texts in LOGS.items()}
    parts = {log: texts[: half[log]] for log, texts in LOGS.items()}, {log: t[half[log] :] for log, t in LOGS.items()}
    for part in parts:
        topic, left = write_topic(cluster, "grown-logs", part), sum(map(len, part.values()))
        abort_transaction(cluster, "grown-logs", {log: texts[:20] for log, texts in part.items()})
        until = time.monotonic() + 600
        while left > 0 and time.monotonic() < until:
            left -= land(topic, folder, PERIOD, to_end=False)[0]
        assert left == 0
    assert land(topic, folder, PERIOD, to_end=True) == (0, 0)
    assert landed(folder) == LOGS


def test_killed_topic_reading_continues(cluster: GuardedCluster, tmp_path: Path) -> None:
    write_topic(cluster, "killed-logs", LOGS)
    (tmp_path / "night.toml").write_text(
        f'kind = "kafka"\ntopic = "killed-logs"\nsettings = {{"bootstrap.servers" = "{cluster.bootstrap}"}}\n'
    )
    folder = tmp_path / "lake" / "night"
    assert killed_and_read_again("source://night", folder, tmp_path) > 1
    assert landed(folder) == LOGS


def test_shipper_lines_become_one_log_per_host(cluster: GuardedCluster, tmp_path: Path) -> None:
    lines = {"": [json.dumps({"host": {"name": f"kafka-{n % 2}"}, "message": f"line {n}"}) for n in range(6)]}
    land(write_topic(cluster, "shipped-logs", lines, partitions=1), str(tmp_path / "night"), PERIOD, to_end=True)
    assert landed(tmp_path / "night") == {"kafka-0.log": lines[""][::2], "kafka-1.log": lines[""][1::2]}
    land(write_topic(cluster, "plain-logs", {"": ["a", "b\nc\n"]}, 1), str(tmp_path / "other"), PERIOD, to_end=True)
    assert landed(tmp_path / "other") == {"plain-logs-0.log": ["a", "b", "c"]}


def losses(folder: str) -> list[tuple[str, int | None, str]]:
    checkpoint = json.loads(Path(f"{folder}.json").read_text())
    return [(loss["log"], loss["size"], loss["sentence"]) for loss in checkpoint["losses"]]


def test_recreated_topic_is_read_from_its_beginning_and_named(cluster: GuardedCluster, tmp_path: Path) -> None:
    """The new topic reaches beyond the offset that the old one was read to: only its id differs."""
    folder, admin = str(tmp_path / "night"), AdminClient({"bootstrap.servers": cluster.bootstrap})
    land(write_topic(cluster, "made-again", {"a.log": ["1", "2"]}, 1), folder, PERIOD, to_end=True)
    admin.delete_topics(["made-again"])["made-again"].result(20)
    until = time.monotonic() + 60
    while "made-again" in admin.list_topics(timeout=20).topics and time.monotonic() < until:
        time.sleep(0.2)
    land(write_topic(cluster, "made-again", {"a.log": ["4", "5", "6", "7"]}, 1), folder, PERIOD, to_end=True)
    assert landed(folder)["a.log"] == ["1", "2", "4", "5", "6", "7"]
    ((log, size, sentence),) = losses(folder)
    assert (log, size) == ("made-again", None)
    assert "was deleted and created again since it was read" in sentence


def test_lines_that_retention_removed_unread_are_counted(cluster: GuardedCluster, tmp_path: Path) -> None:
    folder, admin = str(tmp_path / "night"), AdminClient({"bootstrap.servers": cluster.bootstrap})
    land(write_topic(cluster, "removed-logs", {"a.log": ["1", "2"]}, 1), folder, PERIOD, to_end=True)
    topic = write_topic(cluster, "removed-logs", {"a.log": ["3", "4", "5", "6"]}, 1)
    (removed,) = admin.delete_records([TopicPartition("removed-logs", 0, 5)]).values()
    removed.result(20)
    for _ in range(2):
        land(topic, folder, PERIOD, to_end=True)
    assert landed(folder)["a.log"] == ["1", "2", "6"]
    ((log, size, sentence),) = losses(folder)
    assert (log, size) == ("removed-logs-0", 3)
    assert "Its retention removed 3 offsets before they were read" in sentence


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": 1000}, SourceFails),
        ({"bootstrap.servers": "127.0.0.1:1", "no.such.setting": "s3cret"}, BadInput),
        ({}, BadInput),
    ],
)
def test_unusable_topic_settings_say_why(settings: dict[str, object], error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error, match="Needed: ") as refused:
        land(Topic("logs", settings), str(tmp_path / "night"), PERIOD, to_end=True)
    assert "s3cret" not in str(refused.value)


def test_user_without_read_right_on_topic_is_refused(cluster: GuardedCluster, tmp_path: Path) -> None:
    write_topic(cluster, "closed-logs", {"a.log": ["1"]}, 1)
    settings = {
        "bootstrap.servers": cluster.guarded_bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "nobody",
        "sasl.password": USERS["nobody"],
    }
    with pytest.raises((BadInput, SourceFails), match="closed-logs") as refused:
        land(Topic("closed-logs", settings), str(tmp_path / "night"), PERIOD, to_end=True)
    assert USERS["nobody"] not in str(refused.value)
    assert not list(tmp_path.rglob("*.zst"))
