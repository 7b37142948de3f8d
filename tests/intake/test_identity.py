"""Under which name an input is kept, and when it is refused."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_hindsight.catalog import bronze, silver
from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.intake.file_scan import Pass
from kafka_hindsight.intake.identity import name_cluster, of_one_cluster
from kafka_hindsight.intake.lake_rows import table_of
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.facts import FileFacts
from kafka_hindsight.logs.files import Listing, LogFile
from kafka_hindsight.shared.exits import BadInput
from tests.support.logs import settings
from tests.support.rows import AT, values


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A lake that knows a cluster by its readings, and another by its brokers' lines."""
    store = Store(str(tmp_path_factory.mktemp("lake")))
    reading = values(bronze.SNAPSHOT_READINGS, cluster="prod", cluster_id="one")
    named = {"kind": "cluster_named", "cluster": "test"}
    broker, client = (
        values(silver.EVENTS, line_id=o, origin=o, detail=f"by-{o}", **named) for o in ("broker", "client")
    )
    for table, rows in ((bronze.SNAPSHOT_READINGS, [reading]), (silver.EVENTS, [broker, client])):
        store.create(table)
        store.append_new(table, table_of(rows, table))
    return store


def scanned(*files: tuple[str, int, str]) -> Pass:
    """A pass that found files of brokers: the name of each, its day, and the ids that it names."""
    facts = {}
    for n, (name, day, ids) in enumerate(files):
        at = AT + timedelta(days=day)
        file = LogFile(f"/{name}", name, 1, at, name.removesuffix(f".{day}"), "broker", "UTC")
        told = frozenset(ids.split())
        facts[n] = FileFacts(file, 1, 0, at, at + timedelta(hours=1), (), True, None, told)
    nothing: Any = None
    return Pass(facts, nothing, nothing, {}, frozenset(), frozenset(facts))


def test_files_of_before_a_format_are_left_out_and_listed(tmp_path: Path) -> None:
    found = scanned(("b-1/server.log.1", 1, "old"), ("b-1/server.log.2", 2, "new"), ("b-2/server.log.3", 3, "new"))
    left, foreign = of_one_cluster(found, settings(tmp_path, tmp_path, cluster=None))
    assert [f.file.name for f in left.facts.values()] == ["b-1/server.log.2", "b-2/server.log.3"]
    assert (left.cluster_ids["broker"], foreign, left.still) == ({"new"}, {"b-1/server.log.1": "old"}, {1, 2})
    listing = Listing(tuple(f.file for f in found.facts.values()), ("notes.txt",)).without(foreign)
    assert [f.name for f in listing.files] == ["b-1/server.log.2", "b-2/server.log.3"]
    assert listing.not_read == ("notes.txt", "b-1/server.log.1 (of cluster old)")


def test_two_clusters_are_refused_with_their_files(tmp_path: Path) -> None:
    found = scanned(("b-1/server.log.1", 1, "one"), ("b-2/server.log.1", 1, "two"))
    with pytest.raises(BadInput) as refused:
        of_one_cluster(found, settings(tmp_path, tmp_path, cluster="prod"))
    headline, *files = refused.value.sentences
    assert "names 2 clusters: one and two" in headline
    assert files == ["Cluster one is named by b-1/server.log.1.", "Cluster two is named by b-2/server.log.1."]
    left, foreign = of_one_cluster(found, settings(tmp_path, tmp_path, cluster="two"))
    assert (left.cluster_ids["broker"], foreign) == ({"two"}, {"b-1/server.log.1": "one"})


def named(
    store: Store, given: str | None, brokers: str = "", clients: str = "", readings: str = ""
) -> tuple[str, list[str]]:
    told = {"broker": frozenset(brokers.split()), "client": frozenset(clients.split())}
    read: Any = SimpleNamespace(cluster_ids=frozenset(readings.split()))
    wishes = settings(Path(store.lake), Path("/data/berlin"), cluster=given)
    return name_cluster(LocalEngine(), store, wishes, told, read)


@pytest.mark.parametrize(
    ("given", "brokers", "clients", "readings", "name"),
    [
        ("mine", "one", "", "", "mine"),
        (None, "one", "two three", "one", "one"),
        (None, "", "", "one", "one"),
        (None, "", "two", "", "two"),
        ("prod", "one", "", "", "prod"),
        ("prod", "", "", "", "prod"),
        ("test", "by-broker", "", "", "test"),
    ],
)
def test_a_cluster_is_named_by_who_knows_best(
    store: Store, given: str | None, brokers: str, clients: str, readings: str, name: str
) -> None:
    assert named(store, given, brokers, clients, readings) == (name, [])


@pytest.mark.parametrize("clients", ["", "two three"])
def test_a_cluster_that_nothing_names_is_called_after_its_folder_with_a_warning(store: Store, clients: str) -> None:
    name, (doubt,) = named(store, None, clients=clients)
    assert name == "berlin"
    assert "Give CLUSTER" in doubt


@pytest.mark.parametrize(
    ("given", "brokers", "readings", "words"),
    [
        ("mine", "one", "two", "name 2 clusters: one and two"),
        (None, "one two", "", "name 2 clusters: one and two"),
        ("prod", "two", "", "knows the cluster one as prod, and the input is of two"),
        ("test", "", "one", "knows the cluster by-broker as test, and the input is of one"),
    ],
)
def test_a_second_cluster_under_one_name_is_refused(
    store: Store, given: str | None, brokers: str, readings: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        named(store, given, brokers, readings=readings)
