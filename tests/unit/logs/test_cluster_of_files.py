"""Several cluster ids in one folder: one cluster whose id changed, or several clusters, each with its files."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from kafka_hindsight.catalog.rows.structs import ClusterNaming
from kafka_hindsight.logs.cluster_of_files import BrokerFile, FolderClusters, Traits, clusters_of_files, traits_in
from tests.support.rows import AT


def file(log: str, day: int, ids: str = "", lasts: float = 20) -> BrokerFile:
    """A log's file of one day; an id stands as often as lines name it, an hour after the other."""
    first, names = AT + timedelta(days=day), ids.split()
    at = {name: [first + timedelta(hours=n) for n, each in enumerate(names) if each == name] for name in names}
    clusters = (ClusterNaming(cluster_id=i, first_at=o[0], last_at=o[-1], line_count=len(o)) for i, o in at.items())
    return BrokerFile(f"{log}.{day}", log, first, first + timedelta(hours=lasts), 100, tuple(clusters))


def clusters_in(files: list[BrokerFile], **traits: str) -> FolderClusters:
    """What is found whatever the order of the files. Takes: the broker and the address that a folder's lines show."""
    of_folder = {name.replace("_", "-"): Traits(*map(frozenset, zip(words.split()))) for name, words in traits.items()}
    by_file = {f.name: of_folder.get(f.source.partition("/")[0], Traits()) for f in files}
    several = [clusters_of_files(random.Random(n).sample(files, len(files)), lambda: by_file) for n in range(3)]
    assert several[0] == several[1] == several[2]
    return several[0]


def names(clusters: FolderClusters) -> list[tuple[str, list[str]]]:
    return [(" ".join(c.ids), sorted(c.files)) for c in clusters.clusters]


B1, B2 = "b-1/server.log", "b-2/server.log"


def test_consecutive_ids_in_one_log_are_one_cluster() -> None:
    files = [file(B1, 1, "old"), file(B2, 1, "old"), file(B1, 2), file(B1, 3, "new"), file(B2, 3, "new"), file(B2, 4)]
    files += [file("b-2/controller.log", 1), file("b-3/server.log", 2)]
    assert names(clusters_in(files)) == [("old new", sorted(f.name for f in files))]


def test_folders_with_same_broker_and_address_are_one_cluster() -> None:
    files = [file("may/server.log", 1, "old"), file("june/server.log", 40, "new")]
    both = clusters_in(files, may="0 PLAINTEXT://kafka:9092", june="0 PLAINTEXT://kafka:9092")
    assert [c.ids for c in both.clusters] == [("old", "new")]
    for june in ("1 PLAINTEXT://kafka:9092", "0 PLAINTEXT://other:9092"):
        apart = clusters_in(files, may="0 PLAINTEXT://kafka:9092", june=june)
        assert sorted(c.ids for c in apart.clusters) == [("new",), ("old",)]


def test_simultaneous_ids_are_several_clusters_largest_first() -> None:
    files = [file(B1, 1, "one"), file(B2, 1, "two"), file(B2, 2), file("b-2/state-change.log", 1)]
    assert names(clusters_in(files)) == [
        ("two", ["b-2/server.log.1", "b-2/server.log.2", "b-2/state-change.log.1"]),
        ("one", ["b-1/server.log.1"]),
    ]


@pytest.mark.parametrize(
    "ids", ["ours ours theirs ours", "M3qSc9eLQMSD2A9R M3qSc9eLQMSx2A9R M3qSc9eLQMSD2A9R ours ours"]
)
def test_damaged_cluster_id_is_outvoted_in_its_log(ids: str) -> None:
    (cluster,) = clusters_in([file(B1, 1, ids)]).clusters
    assert not {"theirs", "M3qSc9eLQMSx2A9R"} & {*cluster.ids}


def test_log_without_id_goes_to_only_fitting_cluster() -> None:
    files = [file("a-1/server.log", 1, "one"), file("a-2/server.log", 1, "one"), file("b-1/server.log", 1, "two")]
    own = {"a_1": "1 x://a1:9092", "a_2": "2 x://a2:9092", "b_1": "1 x://b1:9092"}
    lone = file("lone/server.log", 1)
    assert clusters_in([*files, lone], **own).strays == {lone.name}
    by_broker = clusters_in([*files, lone], **own, lone="2")
    assert (by_broker.clusters[1].ids, by_broker.clusters[1].files) == (("two",), {"b-1/server.log.1", lone.name})
    by_address = clusters_in([*files, lone], **own, lone="7 x://a2:9092")
    assert lone.name in by_address.clusters[0].files
    assert not by_address.strays
    later = file("c-1/server.log", 9, "three")
    assert file("lone/server.log", 9).name in {
        n
        for c in clusters_in([*files, later, file("lone/server.log", 9)], **own).clusters
        if c.ids == ("three",)
        for n in c.files
    }


def test_file_in_which_an_id_comes_back_is_left_out_as_a_mix() -> None:
    woven = file(B1, 1, "one two one two")
    clusters = clusters_in([woven, file("b-1/state-change.log", 1), file(B2, 1, "three")])
    assert names(clusters) == [("three", ["b-2/server.log.1"])]
    assert {*clusters.mixes} == {"b-1/state-change.log.1", woven.name}
    assert all(ids == {"one", "two"} for ids in clusters.mixes.values())


def test_files_of_which_one_cluster_wrote_each_line_are_its_own() -> None:
    """The second file goes on with the first, and the fifth may begin with lines of the one before it."""
    late = file(B1, 5, "one")
    late = replace(late, first_at=late.first_at - timedelta(hours=1))
    clusters = clusters_in([file(B1, 1, "one"), file(B1, 2), file(B1, 3, "two"), file(B1, 4, "two"), late])
    assert names(clusters) == [
        ("one", ["b-1/server.log.1", "b-1/server.log.2"]),
        ("two", ["b-1/server.log.3", "b-1/server.log.4"]),
    ]
    assert {*clusters.mixes} == {late.name}


def test_files_of_one_log_at_one_time_are_of_the_cluster_that_each_names() -> None:
    ours, theirs = file(B1, 1, "one"), replace(file(B1, 1, "two"), name="b-1/server.log.old")
    without_id = [file(B1, 2), file("b-1/state-change.log", 1)]
    clusters = clusters_in([ours, theirs, file("b-1/controller.log", 1, "one"), *without_id])
    assert names(clusters) == [("one", ["b-1/controller.log.1", ours.name]), ("two", [theirs.name])]
    assert {*clusters.mixes} == {f.name for f in without_id}


def test_listener_with_own_host_identifies_a_broker() -> None:
    lines = b"""[2024-04-22 14:28:21,393] INFO KafkaConfig values:
\tadvertised.listeners = PLAINTEXT://Kafka-1.example.org:9092,SSL://192.0.43.8:9093
\tbroker.id = 0
 (kafka.server.KafkaConfig)
Registered broker 0 at path /brokers/ids/0 with addresses: PLAINTEXT://lab:9092, czxid (broker epoch): 24
Registered broker 0 at path /brokers/ids/0 with addresses: ArrayBuffer(EndPoint(old,9092,ListenerName(SSL),SSL)), czxid
[2024-04-22 14:28:22,087] INFO [GroupCoordinator 3]: Starting up. (kafka.coordinator.group.GroupCoordinator)
"""
    addresses = frozenset({"kafka-1.example.org:9092", "192.0.43.8:9093", "lab:9092", "old:9092"})
    assert traits_in(lines) == Traits(frozenset({"0", "3"}), addresses)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "[::]", "127.0.0.1", "[::1]", "localhost", "10.1.0.1", "172.17.0.2"])
def test_defaults_identify_no_broker(host: str) -> None:
    lines = f"\tlisteners = PLAINTEXT://{host}:9092,CONTROLLER://{host}:9093\n\tlog.dir = /tmp/kafka-logs\n"
    lines += "\tlog.dirs = /var/lib/kafka/data\n\tadvertised.listeners = null\n"
    assert traits_in(lines.encode()) == Traits()


@pytest.mark.parametrize(
    ("one", "other"), [("east/server.log", "west/server.log"), ("20/b-1/server.log", "21/b-1/server.log")]
)
def test_two_clusters_with_default_settings_are_two(one: str, other: str) -> None:
    traits = traits_in(b"\tbroker.id = 1\n\tlisteners = PLAINTEXT://:9092\n\tlog.dir = /tmp/kafka-logs\n")
    files = [file(one, 1, "one"), file(other, 2, "two")]
    clusters = clusters_of_files(files, lambda: {f.name: traits for f in files})
    assert sorted(c.ids for c in clusters.clusters) == [("one",), ("two",)]
