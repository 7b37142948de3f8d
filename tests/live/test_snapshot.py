"""Readings of a real cluster: what they hold, and that nothing which befalls brokers keeps one from being taken."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from kafka_hindsight.kafka import cluster_snapshot
from tests.live.conftest import USERS, GuardedCluster
from tests.support.live import comes, connection, reader_of_this_process

PARTITIONS = 6
RECORDS = 60
GROUPS = {
    "static": {"group.instance.id": "inst-1", "client.id": "static-client"},
    "modern": {"group.protocol": "consumer", "client.id": "modern-client"},
    "left": {"client.id": "left-client"},
}


@pytest.fixture(scope="module")
def admin(cluster: GuardedCluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})


@pytest.fixture(scope="module", autouse=True)
def traffic(cluster: GuardedCluster, admin: AdminClient) -> Iterator[None]:
    """A topic with records; a static member, a KIP-848 member, and a group that has left; offsets committed."""
    made = [NewTopic("readings", PARTITIONS, 3, config={"min.insync.replicas": "2"}), NewTopic("readings-single", 3, 1)]
    for future in admin.create_topics(made).values():
        future.result()
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for n in range(RECORDS):
        producer.produce("readings", b"record", partition=n % PARTITIONS)
    producer.flush()
    over = threading.Event()
    consumers = {name: threading.Thread(target=consume, args=(cluster, name, over)) for name in GROUPS}
    for thread in consumers.values():
        thread.start()
    assert comes(lambda: all(committed(cluster, name) == RECORDS for name in GROUPS))
    yield
    over.set()
    for thread in consumers.values():
        thread.join()


def consume(cluster: GuardedCluster, group: str, over: threading.Event) -> None:
    settings = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "log_level": 0, **GROUPS[group]}
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group, **settings})
    consumer.subscribe(["readings"])
    count = 0
    while not over.is_set():
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            count += 1
            if count == RECORDS:
                consumer.commit(asynchronous=False)
                if group == "left":
                    break
    consumer.close()


def committed(cluster: GuardedCluster, group: str) -> int:
    """How many records a group has committed; asked by no reading, since each is a process of its own."""
    asking = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group, "log_level": 0})
    try:
        offsets = asking.committed([TopicPartition("readings", n) for n in range(PARTITIONS)], timeout=5)
    except KafkaException:
        return 0
    finally:
        asking.close()
    return sum(max(place.offset, 0) for place in offsets)


def members(reading: dict[str, Any]) -> dict[str, int]:
    """How many members the groups of these tests have; other tests leave groups of their own."""
    return {g["group"]: len(g["members"]) for g in reading["groups"] if g["group"] in GROUPS}


def is_whole(cluster: GuardedCluster) -> bool:
    """Whether every broker is there and in sync again, and groups answer."""
    topics = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0}).list_topics(timeout=5).topics
    if any(len(p.isrs) < len(p.replicas) for t in topics.values() for p in t.partitions.values()):
        return False
    reading = cluster_snapshot.take(connection(cluster))
    partitions = [p for t in reading["topics"] for p in t["partitions"]]
    return (
        len(reading["brokers"]) == 3
        and all(p["leader"] >= 0 and len(p["isr"]) == len(p["replicas"]) for p in partitions)
        and not reading.get("missing")
        and not any("error" in g for g in reading["groups"])
    )


@contextmanager
def broker_restored_after(cluster: GuardedCluster, number: int) -> Iterator[Any]:
    """A broker to which anything may be done: afterwards it runs, and the cluster is whole."""
    broker = cluster.broker(number)
    try:
        yield broker
    finally:
        if broker.is_running():
            broker.resume()
        else:
            broker.start()
        cluster.wait_until_up()
        assert comes(lambda: is_whole(cluster))


class TestContent:
    def test_reading_has_brokers_topics_and_end_offsets(self, cluster: GuardedCluster) -> None:
        began = datetime.now(UTC)
        reading = cluster_snapshot.take(connection(cluster), "prod")
        assert "missing" not in reading
        assert reading["cluster"] == "prod"
        assert reading["cluster_id"] == cluster.cluster_id
        assert reading["controller"] in (1, 2, 3)
        assert abs(datetime.fromisoformat(reading["at"]) - began) < timedelta(seconds=5)
        assert [(b["id"], b["port"], b["rack"]) for b in reading["brokers"]] == [
            (n, cluster.ports[f"broker-{n}"], f"rack-{'abc'[n - 1]}") for n in (1, 2, 3)
        ]
        topics = {t["topic"]: t for t in reading["topics"]}
        assert (topics["readings"]["internal"], topics["__consumer_offsets"]["internal"]) == (False, True)
        orders = topics["readings"]["partitions"]
        assert [p["partition"] for p in orders] == list(range(PARTITIONS))
        assert all(p["leader"] in (1, 2, 3) and sorted(p["isr"]) == sorted(p["replicas"]) == [1, 2, 3] for p in orders)
        ends = [o for o in reading["end_offsets"] if o[0] == "readings"]
        assert [o[:3] for o in ends] == [["readings", n, RECORDS // PARTITIONS] for n in range(PARTITIONS)]
        assert all(isinstance(epoch, int) and epoch >= 0 for *_, epoch in ends)
        begins, stable = ([o[:3] for o in reading[f"{n}_offsets"] if o[0] == "readings"] for n in ("begin", "stable"))
        assert (begins, stable) == ([["readings", n, 0] for n in range(PARTITIONS)], [o[:3] for o in ends])

    def test_reading_has_classic_and_kip_848_groups_with_members_and_offsets(self, cluster: GuardedCluster) -> None:
        groups = {g["group"]: g for g in cluster_snapshot.take(connection(cluster))["groups"] if g["group"] in GROUPS}
        assert {n: (g["type"], g["state"], g["assignor"]) for n, g in groups.items()} == {
            "static": ("CLASSIC", "STABLE", "range"),
            "modern": ("CONSUMER", "STABLE", "uniform"),
            "left": ("CLASSIC", "EMPTY", None),
        }
        (static,), (modern,) = groups["static"]["members"], groups["modern"]["members"]
        assert (static["client_id"], static["instance_id"], static["host"]) == ("static-client", "inst-1", "/127.0.0.1")
        assert static["assignment"] == [["readings", n] for n in range(PARTITIONS)]
        assert (modern["client_id"], modern["instance_id"]) == ("modern-client", None)
        assert groups["left"]["members"] == []
        each = [["readings", n, RECORDS // PARTITIONS] for n in range(PARTITIONS)]
        assert [groups[n]["committed"] for n in GROUPS] == [each, each, each]
        assert all(g["coordinator"] in (1, 2, 3) for g in groups.values())

    def test_reading_has_changed_and_needed_settings_without_secrets(self, cluster: GuardedCluster) -> None:
        reading = cluster_snapshot.take(connection(cluster))
        settings = {(c["resource_type"], c["resource"], c["name"]): c for c in reading["configs"]}
        assert settings["topic", "readings", "min.insync.replicas"]["value"] == "2"
        assert settings["topic", "readings", "min.insync.replicas"]["source"] == "DYNAMIC_TOPIC_CONFIG"
        assert settings["topic", "readings-single", "unclean.leader.election.enable"]["source"] == "DEFAULT_CONFIG"
        assert settings["broker", "2", "auto.leader.rebalance.enable"]["value"] == "true"
        assert settings["broker", "1", "offsets.topic.num.partitions"]["value"] == "50"
        assert ("broker", "1", "log.segment.bytes") not in settings
        jaas = settings["broker", "3", "listener.name.door.plain.sasl.jaas.config"]
        assert jaas["value"] is None
        assert not any(password in json.dumps(reading) for password in USERS.values())


class TestTrouble:
    def test_readings_are_taken_while_broker_is_killed_repeatedly(self, cluster: GuardedCluster) -> None:
        readings = []
        with broker_restored_after(cluster, 2) as broker:
            for _ in range(2):
                broker.kill()
                readings += [cluster_snapshot.take(connection(cluster, 2000)) for _ in range(4)]
                broker.start()
                readings += [cluster_snapshot.take(connection(cluster, 2000)) for _ in range(2)]
        assert all({"at", "topics", "brokers"} <= r.keys() for r in readings)
        troubled = [
            r
            for r in readings
            if r.get("missing") or any(p["leader"] < 0 for t in r["topics"] for p in t["partitions"])
        ]
        assert troubled
        assert all(m["part"] and m["reason"] for r in readings for m in r.get("missing", ()))

    def test_paused_broker_is_named_and_costs_only_its_own_answers(self, cluster: GuardedCluster) -> None:
        with broker_restored_after(cluster, 3) as broker:
            before = cluster_snapshot.take(connection(cluster))
            led = {(t["topic"], p["partition"]) for t in before["topics"] for p in t["partitions"] if p["leader"] == 3}
            broker.pause()
            reading = cluster_snapshot.take(connection(cluster, 2000))
        answered = {(topic, partition) for topic, partition, *_ in reading["end_offsets"]}
        assert {("readings", n) for n in range(PARTITIONS)} - led <= answered
        assert {m["part"] for m in reading["missing"]} >= {"end_offsets", "configs"}
        assert any("broker 3" in m["reason"] for m in reading["missing"])
        assert {c["resource"] for c in reading["configs"] if c["resource_type"] == "broker"} == {"1", "2"}

    def test_aborted_reader_is_started_again(self, cluster: GuardedCluster) -> None:
        messages: list[str] = []

        def abort(text: str) -> None:
            messages.append(text)
            if text.endswith("groups"):
                os.kill(reader_of_this_process(), signal.SIGABRT)

        reading = cluster_snapshot.take(connection(cluster), say=abort)
        assert any("SIGABRT" in text for text in messages)
        assert members(reading) == {"left": 0, "modern": 1, "static": 1}
        assert "configs" in reading

    def test_hung_reader_is_ended_and_started_again(self, cluster: GuardedCluster) -> None:
        messages: list[str] = []

        def stop(text: str) -> None:
            messages.append(text)
            if text.endswith("groups"):
                os.kill(reader_of_this_process(), signal.SIGSTOP)

        reading = cluster_snapshot.take(connection(cluster, 1000), say=stop)
        assert any("said nothing in time" in text for text in messages)
        assert members(reading) == {"left": 0, "modern": 1, "static": 1}
        assert "configs" in reading

    def test_topic_deleted_after_listing_is_missing_with_reason(
        self, cluster: GuardedCluster, admin: AdminClient
    ) -> None:
        admin.create_topics([NewTopic("short-lived", 2, 1)])["short-lived"].result()
        assert comes(lambda: "short-lived" in admin.list_topics(timeout=5).topics)

        partitions = [TopicPartition("short-lived", number) for number in range(2)]

        def has_offsets() -> bool:
            answers = admin.list_offsets({p: OffsetSpec.latest() for p in partitions}, request_timeout=2).values()
            return any(answer.exception() is None for answer in answers)

        def delete(text: str) -> None:
            if "partitions" in text:
                admin.delete_topics(["short-lived"])["short-lived"].result()
                assert comes(lambda: "short-lived" not in admin.list_topics(timeout=5).topics)
                assert comes(lambda: not has_offsets())  # a leader deletes its replica a moment later

        reading = cluster_snapshot.take(connection(cluster), say=delete)
        assert "short-lived" in {t["topic"] for t in reading["topics"]}
        gone = [m for m in reading["missing"] if "short-lived" in m["reason"]]
        assert {m["part"] for m in gone} == {"begin_offsets", "stable_offsets", "end_offsets", "configs"}
        assert all("UNKNOWN_TOPIC_OR_PART" in m["reason"] for m in gone)
        assert {o[0] for o in reading["end_offsets"]} >= {"readings"}

    def test_group_deleted_after_listing_is_dead_or_error(self, cluster: GuardedCluster, admin: AdminClient) -> None:
        passing = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "passing", "log_level": 0})
        passing.subscribe(["readings"])
        assert comes(lambda: passing.poll(0.2) is not None or passing.assignment())
        passing.close()

        def delete(text: str) -> None:
            if text.endswith("groups"):
                admin.delete_consumer_groups(["passing"])["passing"].result()

        reading = cluster_snapshot.take(connection(cluster), say=delete)
        (passed,) = [g for g in reading["groups"] if g["group"] == "passing"]
        assert passed.get("error") or passed["state"] == "DEAD"
        assert not passed.get("members")
        assert members(reading) == {"left": 0, "modern": 1, "static": 1}
