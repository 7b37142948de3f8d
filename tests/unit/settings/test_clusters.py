"""Several clusters from one file; one without a name; and what is said of a file that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_hindsight.settings import clusters
from kafka_hindsight.settings.home import FILE_VARIABLE
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
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    return path


def test_cluster_tables_are_read_with_paths_relative_to_file(file: Path) -> None:
    file.write_text(TWO)
    orders, payments = clusters.clusters()
    assert (orders.name, orders.connection, orders.lake) == ("orders", "kafka_orders", str(file.parent / "lake"))
    assert orders.inputs["logs"] == str(file.parent / "logs/orders")
    assert (payments.connection, payments.lake) == (None, "s3a://lake/payments")
    assert payments.inputs["logs"] == "s3a://logs/payments"
    assert payments.inputs["look_ahead_hours"] == 3
    assert [c.dag_id("kafka_collect") for c in (orders, payments)] == ["kafka_collect_orders", "kafka_collect_payments"]


def test_without_clusters_in_the_file_there_is_one_without_a_name_that_has_its_defaults(file: Path) -> None:
    file.write_text("lake = '/lake'\n[defaults]\nlogs_tz = 'Europe/Berlin'\nnight_starts = '12:00'\n[alerts]\n")
    (one,) = clusters.clusters()
    assert (one.name, one.connection, one.lake, one.night_starts) == (None, "kafka_default", "/lake", "12:00")
    assert one.inputs == {"lake": "/lake", "logs_tz": "Europe/Berlin"}
    assert one.dag_id("kafka_collect") == "kafka_collect"


@pytest.mark.parametrize(
    ("starts", "look_ahead_hours", "cron"),
    [("00:00", None, "0 2 * * *"), ("12:30", 3, "30 15 * * *"), ("23:00", 4, "0 3 * * *")],
)
def test_an_audit_is_due_when_the_look_ahead_of_a_night_is_over(
    starts: str, look_ahead_hours: int | None, cron: str
) -> None:
    inputs = {"look_ahead_hours": look_ahead_hours} if look_ahead_hours else {}
    assert clusters.Cluster("a", None, inputs, night_starts=starts).cron() == cron


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[clusters]\n", ["cannot be read"]),
        ("cluster = 1\n", ["cluster is not known", "clusters"]),
        ("clusters = 1\n", ["clusters is 1. Needed: a valid list"]),
        ("[[clusters]]\nlogs = 'x'\n", ["clusters.1.name is not set. Needed: the cluster's name"]),
        ("[[clusters]]\nname = 'a/b'\nlogs = 'x'\n", ["'a/b'"]),
        ("[[clusters]]\nname = 'a'\n", ["cluster a: logs is not set"]),
        ("[[clusters]]\nname = 'a'\nlogs = 'x'\nlabels = 'prod'\n", ["clusters.a.labels is 'prod'"]),
        ("[[clusters]]\nname = 'a'\nlogs = 'x'\nlog_tz = 'UTC'\n", ["clusters.a.log_tz is not known", "logs_tz"]),
        (
            "[[clusters]]\nname = 'a'\nlogs = 'x'\nlogs_tz = 'Berlin'\nlook_ahead_hours = 'x'\n",
            ["clusters.a.logs_tz is 'Berlin'", "clusters.a.look_ahead_hours is 'x'"],
        ),
        (
            "[[clusters]]\nname = 'a'\nlogs = 'x'\n[[clusters]]\nname = 'a'\nlogs = 'x'\n",
            ["two clusters are named 'a'"],
        ),
        ("[defaults]\nname = 'a'\n", ["defaults.name is not known", "logs_tz"]),
        ("defaults = 1\n", ["defaults is 1"]),
        ("[defaults]\ntimezone = 'Sydney'\n", ["defaults.timezone is 'Sydney'", "IANA"]),
        ("[defaults]\nnight_starts = '24:00'\nschedule = 'noon'\n", ["night_starts is '24:00'", "schedule is 'noon'"]),
    ],
)
def test_wrong_cluster_file_is_refused_by_key(file: Path, text: str, words: list[str]) -> None:
    file.write_text(text)
    with pytest.raises(BadInput) as problem:
        clusters.clusters()
    assert all(word in str(problem.value) for word in (*words, str(file)))


def test_missing_cluster_file_is_refused(file: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        clusters.clusters()


MANY = """
lake = "s3a://lakes/live"

[defaults]
logs = "s3a://logs/{cluster}/{date}"
client_logs = "apps/{cluster}"
connection = "kafka_{cluster}"
labels = ["prod"]
keep = "bronze=90"

[[clusters]]
name = "orders"

[[clusters]]
name = "payments"
labels = ["prod", "pci"]
lake = "lake"
keep = "bronze=400"
"""


def test_defaults_apply_unless_cluster_overrides_them(file: Path) -> None:
    file.write_text(MANY)
    orders, payments = clusters.clusters()
    assert (orders.lake, orders.connection, orders.labels) == ("s3a://lakes/live", "kafka_orders", ("prod",))
    assert (orders.inputs["logs"], orders.inputs["keep"]) == ("s3a://logs/orders/{date}", "bronze=90")
    assert payments.lake == str(file.parent / "lake")
    assert payments.inputs["client_logs"] == str(file.parent / "apps" / "payments")
    assert (payments.inputs["keep"], payments.labels) == ("bronze=400", ("prod", "pci"))


def test_wrong_alert_settings_do_not_stop_clusters(file: Path) -> None:
    file.write_text(f"{MANY}[alerts]\nrotes = 1\n")
    assert len(clusters.clusters()) == 2
