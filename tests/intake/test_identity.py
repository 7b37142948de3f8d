"""Under which name an input is kept, and when it is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_hindsight.catalog import bronze, silver
from kafka_hindsight.catalog.rows.structs import ClusterNaming
from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.intake.file_register import FileRegister
from kafka_hindsight.intake.file_scan import Pass
from kafka_hindsight.intake.lake_rows import table_of
from kafka_hindsight.intake.own_cluster import OwnCluster, ids_within, name_cluster, of_one_cluster
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_facts import FileFacts, refuse_foreign
from kafka_hindsight.logs.files import ListedFile, Listing
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window
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


def scan_of(*files: tuple[str, int, str]) -> Pass:
    """A pass that found files: the name of each, its day, and the ids that it names. Those of clients end in .out."""
    facts = {}
    for n, (name, day, ids) in enumerate(files):
        at = AT + timedelta(days=day)
        origin = "client" if name.endswith(".out") else "broker"
        file = ListedFile(f"/{name}", name, 1, at, name.removesuffix(f".{day}"), origin, "UTC")
        clusters = tuple(ClusterNaming(cluster_id=i, first_at=at, last_at=at, line_count=1) for i in ids.split())
        facts[n] = FileFacts(file, 10, 0, at, at + timedelta(hours=1), (), True, origin == "broker", None, clusters)
    nothing: Any = None
    return Pass(facts, nothing, FileRegister({}, {}, {}), {}, frozenset(), frozenset(facts))


class NoTraits(LocalEngine):
    """An engine to whom no file shows anything of its broker."""

    def spread(self, units: Any, work: Any) -> Any:
        return iter(())


def choose_cluster(tmp_path: Path, *files: tuple[str, int, str], **wishes: Any) -> tuple[Pass, OwnCluster]:
    """What the run is about, of files. Takes: settings, and with them the ids of SNAPSHOTS as `readings`."""
    readings = frozenset(wishes.pop("readings", "").split())
    wanted = settings(tmp_path, tmp_path, **{"cluster": None, **wishes})
    return of_one_cluster(NoTraits(), Store(str(tmp_path)), scan_of(*files), wanted, readings)


def test_files_before_reformat_are_of_same_cluster(tmp_path: Path) -> None:
    files = [("b-1/server.log.1", 1, "old"), ("b-1/server.log.2", 2, "new"), ("b-2/server.log.3", 3, "new")]
    for cluster in (None, "old", "prod"):
        scan, own = choose_cluster(tmp_path, *files, cluster=cluster)
        assert len(scan.facts) == 3
        assert own == OwnCluster(("old", "new"))


TWO = [
    ("b-1/server.log.1", 1, "one"), ("b-1/server.log.2", 2, ""), ("b-2/server.log.1", 1, "two"), ("x.log.1", 1, ""),
    ("one.out", 1, "one"), ("two.out", 1, "two"), ("any.out", 1, ""),
]  # fmt: skip


def test_one_of_two_clusters_is_audited_and_rest_is_named(tmp_path: Path) -> None:
    scan, own = choose_cluster(tmp_path, *TWO)
    assert [f.file.name for f in scan.facts.values()] == ["b-1/server.log.1", "b-1/server.log.2", "one.out", "any.out"]
    assert (own.ids, own.others, own.is_partial) == (("one",), ("two",), True)
    stray = {"x.log.1": "fits none of 2 clusters"}
    assert own.left_out == {"b-2/server.log.1": "of cluster two", "two.out": "of cluster two", **stray}
    assert own.sentences == (
        "10 lines of 1 day in 1 file (fits none of 2 clusters)",
        "20 lines of 1 day in 2 files (of cluster two)",
    )
    listing = Listing(tuple(f.file for f in scan_of(*TWO).facts.values()), ("notes.txt",)).without(own.left_out)
    assert len(listing.files) == 4
    assert listing.not_read[:2] == ("notes.txt", "b-2/server.log.1 (of cluster two)")


@pytest.mark.parametrize(
    ("wishes", "is_partial"), [({}, True), ({"audits_others": True}, False), ({"cluster": "one"}, False)]
)
def test_audit_is_partial_only_where_other_cluster_is_not_audited(
    tmp_path: Path, wishes: dict[str, Any], is_partial: bool
) -> None:
    _, own = choose_cluster(tmp_path, *TWO[:3], **wishes)
    assert (own.others, own.is_partial) == (("two",), is_partial)


WOVEN = [(f"b-3/server.log.{day}", day, "one two one") for day in (1, 2, 3)]


def test_mix_is_left_out_and_named_first(tmp_path: Path) -> None:
    scan, own = choose_cluster(tmp_path, TWO[0], TWO[1], TWO[3], *WOVEN, cluster="one")
    assert [f.file.name for f in scan.facts.values()] == ["b-1/server.log.1", "b-1/server.log.2", "x.log.1"]
    assert own.is_partial
    assert own.sentences == ("30 lines of 3 days in 3 files (a mix of clusters one and two)",)
    _, of_two = choose_cluster(tmp_path, *TWO, *WOVEN)
    assert of_two.sentences[0] == own.sentences[0]


@pytest.mark.parametrize(("first", "last", "ids"), [(0, 2, ["old"]), (1, 3, ["old", "new"]), (3, 4, ["new"])])
def test_id_holds_until_the_next_one_is_named(first: int, last: int, ids: list[str]) -> None:
    facts = scan_of(("a.log.1", 1, "old"), ("a.log.2", 2, "new"), ("b.out", 3, "other")).facts.values()
    assert ids_within(facts, Window(AT + timedelta(days=first), AT + timedelta(days=last))) == ids


def test_only_mixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"b-3/server\.log\.1, .* name one and two in turn.*files of their own"):
        choose_cluster(tmp_path, *WOVEN)


def test_cluster_without_file_in_window_gets_no_audit(tmp_path: Path) -> None:
    day = {"window_from": AT, "window_to": AT + timedelta(days=2)}
    later = [(name, 3, ids) if ids == "two" else (name, 1, ids) for name, _, ids in TWO[:3]]
    _, own = choose_cluster(tmp_path, *later, **day)
    assert (own.ids, own.others, list(own.left_out)) == (("one",), (), ["b-2/server.log.1"])


@pytest.mark.parametrize(
    "wishes",
    [
        {"cluster": "two"},
        {"readings": "two"},
        {"window_from": AT + timedelta(days=2), "window_to": AT + timedelta(days=9)},
    ],
)
def test_cluster_window_and_readings_choose_audited_cluster(tmp_path: Path, wishes: dict[str, Any]) -> None:
    later = [(name, 3, ids) if ids == "two" else (name, day, ids) for name, day, ids in TWO[:3]]
    _, own = choose_cluster(tmp_path, *[f for f in later if f[2]], **wishes)
    assert own.ids == ("two",)


def test_custom_name_for_one_of_two_clusters_is_refused_with_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        choose_cluster(tmp_path, *TWO, cluster="prod")
    headline, *files = refused.value.sentences
    assert "LOGS holds 2 clusters, and prod is not an id of one of them" in headline
    assert files == [
        "Cluster one has b-1/server.log.1, b-1/server.log.2.",
        "Cluster two has b-2/server.log.1.",
    ]


def named(
    store: Store, given: str | None, brokers: str = "", clients: str = "", readings: str = ""
) -> tuple[str, list[str]]:
    files = [("server.log.1", 1, brokers), ("a.out", 1, clients)]
    read: Any = SimpleNamespace(cluster_ids=frozenset(readings.split()))
    wishes = settings(Path(store.lake), Path("/data/berlin"), cluster=given)
    return name_cluster(store, wishes, scan_of(*files), OwnCluster(tuple(brokers.split())), read)


@pytest.mark.parametrize(
    ("given", "brokers", "clients", "readings", "name"),
    [
        ("mine", "one", "", "", "mine"),
        (None, "one", "two three", "one", "one"),
        (None, "old new", "", "old", "new"),
        (None, "", "", "one", "one"),
        (None, "", "two", "", "two"),
        ("prod", "one", "", "", "prod"),
        ("prod", "", "", "", "prod"),
        ("test", "by-broker", "", "", "test"),
    ],
)
def test_cluster_name_comes_from_setting_then_brokers_readings_clients(
    store: Store, given: str | None, brokers: str, clients: str, readings: str, name: str
) -> None:
    assert named(store, given, brokers, clients, readings) == (name, [])


@pytest.mark.parametrize("clients", ["", "two three"])
def test_unnamed_cluster_gets_name_of_folder_with_warning(store: Store, clients: str) -> None:
    name, (doubt,) = named(store, None, clients=clients)
    assert name == "berlin"
    assert "Give CLUSTER" in doubt


@pytest.mark.parametrize(
    ("given", "brokers", "readings", "words"),
    [
        ("mine", "one", "two", "name 2 clusters: one and two"),
        (None, "", "one two", "name 2 clusters: one and two"),
        ("prod", "two", "", "has the cluster one under the name prod, and the input is of two"),
        ("test", "", "one", "has the cluster by-broker under the name test, and the input is of one"),
    ],
)
def test_second_cluster_id_under_one_name_is_refused(
    store: Store, given: str | None, brokers: str, readings: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        named(store, given, brokers, readings=readings)


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        (
            "app.out",
            r" 1 file of CLIENT_LOGS .*group's client wrote.*CLIENT_PATTERN.*doctor --client-logs",
        ),
        ("server.log", r" 1 file of LOGS .*Kafka broker wrote.*[^_]PATTERN.*doctor --logs"),
    ],
)
def test_refusal_of_foreign_lines_names_the_input_that_holds_them(name: str, needed: str) -> None:
    (facts,) = scan_of((name, 1, "")).facts.values()
    for lines, sentence in enumerate(("The 1 file of", "The 1 file of", "None of the 2 lines in the 1 file of")):
        with pytest.raises(BadInput, match=needed) as refused:
            refuse_foreign([replace(facts, lines=lines, is_kafka_log=False)])
        assert str(refused.value).startswith(sentence)
