"""Several clusters from one file; one from the environment; and what is said of a file that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_hindsight.alerts.routes import settings_of
from kafka_hindsight.settings import clusters
from kafka_hindsight.shared.exits import BadInput

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
        ("[defaults]\nname = 'a'\n", ["[defaults]", "logs_tz"]),
        ("defaults = 1\n", ["[defaults]"]),
        ("lake = '${NOWHERE}/${NOR_HERE}'\n", ["NOR_HERE, NOWHERE is not set"]),
        ("include = 'a.toml'\n", ["include is 'a.toml'"]),
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


MANY = """
include = ["teams/*.toml", "kafkas.json"]
lake = "s3a://lakes/${STAGE}"

[defaults]
logs = "s3a://logs/{cluster}/{date}"
connection = "kafka_{cluster}"
labels = ["prod"]
keep = "bronze=90"

[[clusters]]
name = "orders"

[[clusters]]
name = "kafka.search"
labels = ["search"]

[[alerts.routes]]
name = "prod"
severities = ["critical"]
labels = ["prod"]
"""
TEAM = """
[defaults]
client_logs = "apps/{cluster}"

[[clusters]]
name = "payments"
lake = "lake"
keep = "bronze=400"
"""


def kafka(name: str, **metadata: object) -> dict[str, object]:
    """A resource as the API server gives it, without its spec."""
    return {
        "apiVersion": "kafka.strimzi.io/v1beta2",
        "kind": "Kafka",
        "metadata": {"name": name, "namespace": "kafka", **metadata},
    }


@pytest.fixture()
def many(file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STAGE", "live")
    file.write_text(MANY)
    (file.parent / "teams").mkdir()
    (file.parent / "teams" / "pay.toml").write_text(TEAM)
    listed = {"kind": "List", "items": [kafka("search"), kafka("ads", labels={"team": "ads"}), kafka("mail")]}
    (file.parent / "kafkas.json").write_text(json.dumps(listed))
    return file


def test_files_that_are_included_and_defaults_make_the_clusters(many: Path) -> None:
    found = {c.name: c for c in clusters.clusters()}
    assert [*found] == ["orders", "kafka.search", "payments", "kafka.ads", "kafka.mail"]
    orders, payments = found["orders"], found["payments"]
    assert (orders.lake, orders.connection) == ("s3a://lakes/live", "kafka_orders")
    assert (orders.inputs["logs"], orders.inputs["keep"]) == ("s3a://logs/orders/{date}", "bronze=90")
    assert payments.lake == str(many.parent / "teams" / "lake"), "a place is seen from the file that names it"
    assert payments.inputs["client_logs"] == str(many.parent / "teams" / "apps" / "payments")
    assert payments.inputs["keep"] == "bronze=400"
    assert found["kafka.mail"].inputs["logs"] == "s3a://logs/kafka.mail/{date}"
    assert {name: c.labels for name, c in found.items()} == {
        "orders": ("prod",),
        "kafka.search": ("search",),
        "payments": ("prod",),
        "kafka.ads": ("team=ads",),
        "kafka.mail": ("prod",),
    }


def test_one_label_that_changes_is_seen_by_routes_and_clusters(many: Path) -> None:
    def labelled() -> tuple[str, ...]:
        (route,) = settings_of(clusters.read_file(many)).routes
        return route.about.labelled or ()

    assert labelled() == ("orders", "payments", "kafka.mail")
    team = many.parent / "teams" / "pay.toml"
    team.write_text(f'{TEAM}labels = ["test"]\n')
    assert labelled() == ("orders", "kafka.mail")
    assert [c.labels for c in clusters.clusters() if c.name == "payments"] == [("test",)]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("teams/pay.toml", "[alerts]\n", ["alerts is not known"]),
        ("teams/pay.toml", "include = ['x.toml']\n", ["include is not known"]),
        ("kafkas.json", "[]", ["kafkas.json cannot be read", "kubectl get kafka"]),
        ("kafkas.json", '{"kind": "Kafka"}', ["kafkas.json cannot be read", "metadata"]),
        ("kafkas.json", json.dumps(kafka("a/b")), ["cluster kafka.a/b: name is"]),
    ],
)
def test_an_included_file_that_is_wrong_is_told_by_name(many: Path, name: str, text: str, words: list[str]) -> None:
    (many.parent / name).write_text(text)
    with pytest.raises(BadInput) as problem:
        clusters.clusters()
    assert all(word in str(problem.value) for word in words)


def test_an_included_file_has_to_be_there_unless_a_star_stands_for_it(many: Path) -> None:
    (many.parent / "teams" / "pay.toml").unlink()
    assert len(clusters.clusters()) == 4
    (many.parent / "kafkas.json").unlink()
    with pytest.raises(BadInput, match=r"kafkas\.json cannot be read"):
        clusters.clusters()
