"""__consumer_offsets of a real cluster: read on from where the last reading ended, each record once."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType

from kafka_hindsight.kafka import group_records_reader as records_reader
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.kafka.group_records import Landed, land_group_records
from kafka_hindsight.kafka.group_records_reader import TOPIC
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.damage import unsealed
from tests.live.conftest import USERS, GuardedCluster
from tests.support.live import documented_rights

AT = datetime(2026, 11, 20, 3, tzinfo=UTC)
READ_IN = "records-read-in"


@pytest.fixture(scope="module")
def admin(cluster: GuardedCluster) -> AdminClient:
    """An admin of the cluster, with one topic to read."""
    client = AdminClient({"bootstrap.servers": cluster.bootstrap})
    client.create_topics([NewTopic(READ_IN, 4, 3)])[READ_IN].result(20)
    return client


@contextmanager
def member(cluster: GuardedCluster, group: str, **config: str) -> Iterator[Consumer]:
    """A member that has its partitions; it commits nothing and leaves at the end."""
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": group, "enable.auto.commit": False}
    consumer = Consumer(settings | {name.replace("_", "."): value for name, value in config.items()})
    consumer.subscribe([READ_IN])
    until = time.monotonic() + 600
    while not consumer.assignment() and time.monotonic() < until:
        consumer.poll(0.2)
    assert consumer.assignment()
    yield consumer
    consumer.close()


def read(cluster: GuardedCluster, lake: Path, **settings: str) -> Landed:
    connection = Connection.of("live", {"bootstrap.servers": cluster.bootstrap} | settings)
    return land_group_records(connection, str(lake), "live", AT)


def rows(files: Sequence[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in unsealed(Path(file).read_bytes())[0].splitlines()]


def places(files: Sequence[str]) -> list[tuple[int, int]]:
    return [(r["offsets_partition"], r["record_offset"]) for r in rows(files)]


def all_files(lake: Path) -> list[str]:
    return [str(f) for f in sorted((lake / "landing/group_records").glob("*.jsonl"))]


def of_group(files: Sequence[str], group: str) -> list[dict[str, Any]]:
    return sorted((r for r in rows(files) if r["group_id"] == group), key=lambda r: r["record_offset"])


@pytest.mark.usefixtures("admin")
def test_each_group_record_is_read_once_over_several_readings(cluster: GuardedCluster, tmp_path: Path) -> None:
    with member(cluster, "once", client_id="first"):
        one = read(cluster, tmp_path)
        nothing = read(cluster, tmp_path)
    two = read(cluster, tmp_path)
    (stable,) = [r for r in of_group(one.files, "once") if r["members"]]
    (first,) = stable["members"]
    assert (first["client_id"], first["subscription"], first["host"]) == ("first", [READ_IN], "127.0.0.1")
    assert [(a["topic"], a["partition"]) for a in first["assignment"]] == [(READ_IN, p) for p in range(4)]
    assert (first["session_timeout_ms"], first["rebalance_timeout_ms"]) == (45_000, 300_000)
    assert (nothing.records, nothing.files) == (0, [])
    assert [r["members"] for r in of_group(two.files, "once")] == [[]]
    positions = places(all_files(tmp_path))
    assert len(positions) == len(set(positions))
    assert set(positions) == set(places(read(cluster, tmp_path / "whole").files))


@pytest.mark.usefixtures("admin")
def test_offsets_topic_of_any_length_is_read_in_small_answers(
    cluster: GuardedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for group in ("long-1", "long-2", "long-3"):
        with member(cluster, group):
            pass
    whole = places(read(cluster, tmp_path).files)
    monkeypatch.setattr(records_reader, "MOST_BYTES", 1)
    monkeypatch.setattr(records_reader, "_AT_ONCE", 2)
    reader = records_reader.RecordsReader(Connection.of("live", {"bootstrap.servers": cluster.bootstrap}))
    state: dict[str, Any] = {"positions": {}, "open": [], "ends": None, "topic_id": None, "is_done": False}
    batches: list[list[dict[str, Any]]] = []
    while not state["is_done"] and len(batches) <= len(whole) + 1:
        answers = [line["answer"] for line in reader.records(state, 8 * records_reader.CALLS)]
        batches.append([t for t in answers if "record_offset" in t])
        state = json.loads(json.dumps(answers[-1]["next"]))
    assert max(map(len, batches)) <= 2
    assert sorted((r["offsets_partition"], r["record_offset"]) for some in batches for r in some) == sorted(whole)


def test_reading_without_saved_positions_adds_no_file(
    cluster: GuardedCluster, admin: AdminClient, tmp_path: Path
) -> None:
    with member(cluster, "died"):
        pass
    first = read(cluster, tmp_path)
    before = {f: Path(f).read_bytes() for f in first.files}
    (tmp_path / "landing/group_records/live.positions.json").unlink()
    again = read(cluster, tmp_path)
    assert again.files == first.files
    assert {f: Path(f).read_bytes() for f in all_files(tmp_path)} == before


def test_deleted_group_ends_with_tombstone(cluster: GuardedCluster, admin: AdminClient, tmp_path: Path) -> None:
    with member(cluster, "mortal"):
        pass
    admin.delete_consumer_groups(["mortal"])["mortal"].result(20)
    records = of_group(read(cluster, tmp_path).files, "mortal")
    assert [r["is_tombstone"] for r in records][-1:] == [True]
    assert [r.get("generation") for r in records] == [0, 1, 2, None]


@pytest.mark.usefixtures("admin")
def test_kip_848_members_have_topic_names(cluster: GuardedCluster, tmp_path: Path) -> None:
    with member(cluster, "kip-848", group_protocol="consumer", client_id="new"):
        pass
    records = of_group(read(cluster, tmp_path).files, "kip-848")
    held = [r for r in records if r["record_type"] == "consumer_group_current_member_assignment"]
    last = next(r for r in reversed(held) if not r["is_tombstone"])
    assert last["member_state"] == "stable"
    assert sorted((a["topic"], a["partition"]) for a in last["assignment"]) == [(READ_IN, p) for p in range(4)]
    assert held[-1]["is_tombstone"]
    metadata = next(r for r in records if r["record_type"] == "consumer_group_member_metadata")
    assert (metadata["client_id"], metadata["subscription"], metadata["member_id"]) == (
        "new",
        [READ_IN],
        last["member_id"],
    )


@pytest.mark.usefixtures("admin")
def test_positions_beyond_topic_are_reported_and_topic_is_read_again(cluster: GuardedCluster, tmp_path: Path) -> None:
    with member(cluster, "beyond"):
        pass
    first = read(cluster, tmp_path)
    place = str(tmp_path / "landing/group_records/live.positions.json")
    state = landing.read_json(place)
    landing.write_json(place, state | {"positions": {p: o + 1_000_000 for p, o in state["positions"].items()}})
    beyond = read(cluster, tmp_path)
    assert "reaches from 0 to" in beyond.notes[0]
    assert set(places(first.files)) <= set(places(beyond.files or first.files))
    landing.write_json(place, state | {"topic_id": "another-topic-altogether"})
    assert "was deleted and created again" in read(cluster, tmp_path).notes[0]
    assert landing.read_json(place) == state


@pytest.mark.usefixtures("admin")
def test_damaged_positions_are_named_and_the_topic_is_read_again(cluster: GuardedCluster, tmp_path: Path) -> None:
    with member(cluster, "damaged"):
        pass
    first = read(cluster, tmp_path)
    place = tmp_path / "landing/group_records/live.positions.json"
    place.write_text(re.sub(r'(": )(\d)', r"\g<1>9\2", place.read_text(), count=1))
    again = read(cluster, tmp_path)
    assert again.notes[0].startswith("__consumer_offsets is read from its beginning: ")
    assert "live.positions.json has other bytes than were written" in again.notes[0]
    assert first.records and set(places(first.files)) <= set(places(again.files))


def test_compaction_removes_only_old_group_records(cluster: GuardedCluster, admin: AdminClient, tmp_path: Path) -> None:
    compacting = {"segment.ms": "500", "min.cleanable.dirty.ratio": "0.001", "max.compaction.lag.ms": "500"}
    for _ in range(3):
        with member(cluster, "compacted"):
            pass
    before = of_group(read(cluster, tmp_path).files, "compacted")
    with settings_of_topic(admin, compacting):
        until = time.monotonic() + 600
        while time.monotonic() < until:
            with member(cluster, "compacted"):
                pass
            left = of_group(read(cluster, tmp_path / str(time.monotonic_ns())).files, "compacted")
            if before[0]["record_offset"] not in {r["record_offset"] for r in left}:
                break
            time.sleep(3)
        else:
            pytest.fail("nothing was compacted within 600 s")
    after = of_group(read(cluster, tmp_path).files, "compacted")
    assert left[-1] == after[-1]
    assert not {r["record_offset"] for r in before} & {r["record_offset"] for r in after}


@contextmanager
def settings_of_topic(admin: AdminClient, settings: dict[str, str]) -> Iterator[None]:
    """The settings of __consumer_offsets for a while."""

    def alter(operation: AlterConfigOpType) -> None:
        entries = [ConfigEntry(name, value, incremental_operation=operation) for name, value in settings.items()]
        resource = ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=entries)
        admin.incremental_alter_configs([resource])[resource].result(20)

    alter(AlterConfigOpType.SET)
    try:
        yield
    finally:
        alter(AlterConfigOpType.DELETE)


def guarded(cluster: GuardedCluster, user: str) -> dict[str, str]:
    """How a user comes in by the door that asks for a password."""
    return {
        "bootstrap.servers": cluster.guarded_bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": USERS[user],
    }


@pytest.mark.usefixtures("admin")
def test_user_without_read_right_gets_note_and_lands_nothing(cluster: GuardedCluster, tmp_path: Path) -> None:
    with member(cluster, "hidden"):
        pass
    refused = read(cluster, tmp_path, **guarded(cluster, "nobody"))
    assert refused.records == 0
    assert [note for note in refused.notes if "READ on that topic" in note]
    assert not (tmp_path / "landing").exists()


def test_documented_rights_suffice_for_group_records(
    cluster: GuardedCluster, admin: AdminClient, tmp_path: Path
) -> None:
    for future in admin.create_acls(documented_rights()).values():
        future.result()
    until = time.monotonic() + 600
    while (reading := read(cluster, tmp_path, **guarded(cluster, "hindsight"))).notes and time.monotonic() < until:
        time.sleep(0.5)
    assert reading.notes == []
    everything = set(places(read(cluster, tmp_path / "all").files))
    assert everything
    assert everything <= set(places(reading.files)), (
        "what the cluster compacted meanwhile is missing from the later reading alone"
    )


@pytest.mark.usefixtures("admin")
def test_commits_land_as_runs_that_end_and_open_runs_stay_beside_positions(
    cluster: GuardedCluster, admin: AdminClient, tmp_path: Path
) -> None:
    def commit(consumer: Consumer, offset: int) -> None:
        consumer.commit(offsets=[TopicPartition(READ_IN, 0, offset)], asynchronous=False)

    def open_run() -> dict[str, Any]:
        positions = landing.read_json(str(tmp_path / "landing/group_records/live.positions.json"))
        (run,) = [run for run in positions["open"] if run["group_id"] == "commits"]
        return dict(run)

    def landed() -> list[dict[str, Any]]:
        return [run for run in rows(read(cluster, tmp_path).run_files) if run["group_id"] == "commits"]

    with member(cluster, "commits") as consumer:
        commit(consumer, 3)
        assert landed() == []
        commit(consumer, 3)
        commit(consumer, 8)
        assert landed() == []
        run = open_run()
        assert (run["first_offset"], run["last_offset"], run["commits"], run["moves"]) == (3, 8, 3, 1)
        commit(consumer, 5)
        (ended,) = landed()
        assert ended == run
    assert [run["last_offset"] for run in landed()] == [5]
    admin.delete_consumer_groups(["commits"])["commits"].result(20)
    assert [(run["last_offset"], run["commits"]) for run in landed()] == [(None, 1)]
