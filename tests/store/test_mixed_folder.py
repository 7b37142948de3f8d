"""One night on real tables: as it was recorded, rotated, and with each broker and client in a form of its own."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import Table, bronze, quality, silver
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.engine.local import LocalEngine, LocalWorkers
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.contents import FOREIGN
from lab.drill.render import render_folder
from tests.support.lake import REBUILT
from tests.support.logs import Row, hashes, ingested, lay, rebuilt, rows
from tools import plain_reader

NIGHT = Path(__file__).parents[1] / "nights" / "libraries-4.3.tar.xz"
"""Members of Java, franz-go and kafkajs that leave, crash, stand still and are too slow, and a coordinator that is
killed: a drill on Kafka 4.3.1."""

FORMS = {
    "logs/broker-1": ("ecs", ["cri"]),
    "logs/broker-2": ("strimzi", []),
    "logs/broker-3": ("apache", []),
    "clients": ("spring-boot", []),
}
"""Lines of franz-go and kafkajs stay as these libraries write them."""

OF_TEXT = ("line_id", "text")
"""What stands for the text of a line, which is another one in each layout."""


def write_mixed_night(night: Path, to: Path) -> Path:
    """The night in its forms, beside what is no log."""
    for folder, (layout, wraps) in FORMS.items():
        render_folder(night / folder, to / folder, layout, wraps)
    shutil.copy(night / "snapshots.jsonl", to)
    return to


Tables = dict[str, list[dict[str, Any]]]


def ingested_night(lake: Path, night: Path, logs: Path) -> tuple[Store, Row]:
    """The brokers' logs of a folder, with what lies beside those of a night."""
    given = {"client_logs": night / "clients", "snapshots": night / "snapshots.jsonl", "cluster": None}
    return ingested(lake, logs, **given)


def tables_of(store: Store, summary: Row) -> Tables:
    """The rows of the tables that the night is told in, and of its coverage."""
    gold = rebuilt(store, summary, *(t.full_name for t in REBUILT if t.layer == "gold"))
    return gold | {t.full_name: rows(store, t) for t in (silver.EVENTS, quality.COVERAGE)}


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The night as it was recorded, with a client that logged nothing and a last reading after all lines."""
    root = tmp_path_factory.mktemp("night")
    with tarfile.open(NIGHT) as archive:
        archive.extractall(root, filter="data")
    readings = (root / "libraries-4.3" / "snapshots.jsonl").read_text()
    last = json.dumps(json.loads(readings.splitlines()[-1]) | {"at": "2026-11-22T22:13:00.5Z"})
    more = {"clients/idle.log": "", "clients/sink.out": "started\n", "snapshots.jsonl": f"{readings}{last}\n"}
    return lay(root / "libraries-4.3", more)


@pytest.fixture(scope="module")
def audited(night: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Row]:
    """It, ingested."""
    return ingested_night(tmp_path_factory.mktemp("plain"), night, night / "logs")


@pytest.fixture(scope="module")
def nights(audited: tuple[Store, Row], night: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tables, Tables]:
    root = tmp_path_factory.mktemp("mixed")
    other = write_mixed_night(night, root / "other")
    return tables_of(*audited), tables_of(*ingested_night(root / "lake", other, other / "logs"))


def without_text(value: Any) -> Any:
    """A value without the text of lines. Of lines of one log and instant the one with the least id may stand for all,
    and ids are made of the text: so a place that is quoted counts once."""
    if isinstance(value, Mapping):
        return {name: without_text(held) for name, held in value.items() if name not in OF_TEXT}
    if isinstance(value, list):
        held = [without_text(each) for each in value]
        return sorted({str(each) for each in held}) if held and isinstance(held[0], Mapping) else held
    return value


def content_of_table(night: Tables, table: Table) -> list[str]:
    """What the rows of a table say, but for the text of lines."""
    content = [{c: row[c] for c in table.content_columns if c not in OF_TEXT} for row in night[table.full_name]]
    return sorted(str(without_text(row)) for row in content)


@pytest.mark.parametrize("table", REBUILT, ids=lambda t: t.full_name)
def test_mixed_layouts_give_same_rows_as_plain_folder(nights: tuple[Tables, Tables], table: Table) -> None:
    plain, other = nights
    assert content_of_table(other, table) == content_of_table(plain, table)


def test_night_has_many_causes_and_a_crash(nights: tuple[Tables, Tables]) -> None:
    plain, _ = nights
    causes = {r["cause"] for r in plain["gold.rebalances"]}
    assert {"member_joined", "member_left", "member_dead", "heartbeat_expired", "max_poll_exceeded"} <= causes
    assert {o["kind"] for o in plain["gold.broker_outages"]} == {"crash"}


def test_each_source_is_read_by_its_own_layout(nights: tuple[Tables, Tables]) -> None:
    layouts = {(c["source"].partition("/")[0], *c["layouts"]) for c in nights[1]["quality.coverage"] if c["events"]}
    assert {("broker-1", "cri>json>apache"), ("broker-2", "strimzi"), ("broker-3", "apache")} <= layouts


def test_night_is_accounted_for_to_the_line(audited: tuple[Store, Row], night: Path) -> None:
    store, summary = audited
    by_source = {r["source"]: r["lines_in"] for r in rows(store, quality.COVERAGE)}
    expected = {
        f.relative_to(root).as_posix(): len(f.read_bytes().splitlines())
        for root in (night / "logs", night / "clients")
        for f in root.rglob("*.log")
        if f.stat().st_size
    }
    assert by_source == expected
    lines = summary["lines"]
    assert lines["lines_in"] == sum(expected.values())
    assert lines["lines_in"] == lines["events"] + lines["ignored"] + lines["unparsed"] + lines["quarantined"]
    assert summary["cluster"] == json.loads((night / "cluster.json").read_text())["cluster_id"]
    assert summary["files_not_read"] == [f"sink.out ({FOREIGN})"]
    assert summary["clocks"] == []
    assert rows(store, quality.QUARANTINE) == []


def test_default_window_is_whole_input(audited: tuple[Store, Row]) -> None:
    store, summary = audited
    assert summary["window_from"] == "2026-11-22T22:10:10.270000+00:00"
    assert summary["window_to"] == "2026-11-22T22:13:00.501000+00:00"
    assert summary["snapshots"] == len(rows(store, bronze.SNAPSHOT_READINGS)) == 15


def test_ingest_equals_plain_reader(audited: tuple[Store, Row], night: Path) -> None:
    store, summary = audited
    plain = [
        e
        for root, origin in ((night / "logs", "broker"), (night / "clients", "client"))
        for e in plain_reader.read_logs(root, origin, summary["cluster"])[0]
    ]
    events = {(r["source"], r["happened_at"], r["order"], r["kind"]): r for r in rows(store, silver.EVENTS)}
    assert len(events) == len(plain)
    for event in plain:
        event_row = events[event.source, event.happened_at.replace(tzinfo=None), event.order, event.kind]
        read = event_row | {"happened_at": event.happened_at, "knowledge_version": None}
        assert Event.of(read) == event


def rotate(text: str, parts: int) -> list[str]:
    """A log cut in several, between two records."""
    records = list(plain_reader.split(text))
    size = -(-len(records) // parts)
    return ["\n".join(records[i : i + size]) + "\n" for i in range(0, len(records), size)]


def test_rotated_night_read_twice_gives_same_tables(
    audited: tuple[Store, Row], night: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, summary = audited
    files: dict[str, bytes] = {}
    for log in sorted((night / "logs").rglob("*.log")):
        name = log.relative_to(night / "logs").as_posix()
        *older, newest = rotate(log.read_text(), 4)
        files[name] = newest.encode()
        files |= {f"{name}.{9 - i}": part.encode() for i, part in enumerate(older[:-1])}
        files |= {f"{name}.2026-11-21-10.gz": gzip.compress(part.encode()) for part in older[-1:]}
    lay(tmp_path / "logs", files)
    expected = hashes(store)
    monkeypatch.setattr(LocalWorkers, "engine", lambda _: LocalEngine(piece=64 * 1024))
    other, again = ingested_night(tmp_path / "lake", night, tmp_path / "logs")
    assert hashes(other) == expected
    ingested_night(tmp_path / "lake", night, night / "logs")
    assert hashes(other) == expected
    assert again["lines"] == summary["lines"]
