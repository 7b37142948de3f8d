"""docs/operations.md: its file is read as it stands, its commands exist, its tables name what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_hindsight.alerts.sightings import OWN_TROUBLES
from kafka_hindsight.settings import clusters
from kafka_hindsight.settings.alerts import alert_settings
from kafka_hindsight.settings.changes import declared_changes
from kafka_hindsight.settings.home import FILE_VARIABLE
from kafka_hindsight.settings.maintenance import maintenance_of
from kafka_hindsight.settings.retention import retention_of

HOME = Path(__file__).resolve().parents[3]
PAGE = (HOME / "docs" / "operations.md").read_text(encoding="utf-8")


def test_settings_file_on_the_operations_page_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"<!-- example: hindsight.toml -->\n```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    path = tmp_path / "hindsight.toml"
    path.write_text(example)
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    orders, payments = clusters.clusters()
    assert (orders.name, orders.connection, payments.lake) == ("orders", "kafka_orders", "s3a://lakes/payments")
    assert retention_of(orders.inputs["keep"], 24, 2).days == {"bronze": 90, "silver": 90, "landing": 14}
    receivers = [(r.name, r.owner) for r in alert_settings().receivers]
    assert receivers == [("pager", None), ("chat", None), ("payments_chat", "payments")]


def test_file_of_many_clusters_on_the_operations_page_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"<!-- example: many clusters -->\n```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "hindsight.toml").write_text(example)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))
    places = {c.name: (c.inputs["logs"], c.lake, c.labels) for c in clusters.clusters()}
    assert places == {
        "orders": ("s3a://logs/orders/{date}", "s3a://lakes/prod", ("prod",)),
        "payments": ("s3a://logs/payments/{date}", "s3a://lakes/prod", ("prod", "pci")),
    }


def test_file_of_nights_on_the_operations_page_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"<!-- example: nights -->\n```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "hindsight.toml").write_text(example)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))
    (sydney,) = clusters.clusters()
    assert (sydney.timezone, sydney.night_starts, sydney.schedule) == ("Australia/Sydney", "12:00", "assets")


def test_every_dag_is_on_the_operations_page() -> None:
    dags = set(re.findall(r"^\| `(kafka_\w+)` \|", PAGE, flags=re.MULTILINE))
    assert dags == {path.stem for path in (HOME / "dags").glob("*.py")}


def test_every_rule_about_the_product_itself_is_on_the_operations_page() -> None:
    assert all(f"`{rule}`" in PAGE for rule in OWN_TROUBLES)


def test_retention_shorter_than_what_nights_read_is_refused() -> None:
    assert "ten days with the defaults" in PAGE
    assert retention_of("gold=10", 24, 2).days == {"gold": 10}
    with pytest.raises(ValueError, match="10 days or more"):
        retention_of("gold=9", 24, 2)
    with pytest.raises(ValueError, match="12 days or more"):
        retention_of("gold=10", 72, 2)


def test_maintenance_windows_on_the_operations_page_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"<!-- example: maintenance -->\n```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "hindsight.toml").write_text(example)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))
    (orders,) = clusters.clusters()
    assert [w.reason for w in maintenance_of(orders.inputs["maintenance"])] == ["patching", "disks of broker 3"]


def test_changes_on_the_operations_page_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"<!-- example: changes -->\n```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "hindsight.toml").write_text(example)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))
    changes = declared_changes()
    assert [(c["what"], c["from"], c["cluster"]) for c in changes] == [
        ("upgrade", "2026-11-20T02:10:00Z", "orders"), ("deployment", "2026-11-20T09:00:00Z", "*"),
    ]  # fmt: skip
    assert len(clusters.clusters()) == 1
