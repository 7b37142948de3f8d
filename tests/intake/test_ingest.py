"""The step ingest on real tables: bad input in sentences, bad lines counted, nothing twice."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_hindsight.catalog import bronze, quality, silver
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.exits import BadInput
from tests.support.logs import Row, collected, content, hashes, ingested, lay, line, resigned, rows
from tests.support.nights import EXCERPTS

MESSAGES = {
    "missing": ({}, "nothing is there"),
    "empty": ({"sub": None}, "that folder is empty"),
    "nameless": ({"notes.txt": "x"}, "no file there is a log"),
    "foreign": ({"app.log": "2026-11-21 01:00:00 ERROR in module\nat line 5\n"}, "a Kafka broker wrote"),
    "unknown": (
        {"server.log": "2026-11-21 01:00:00,117 <7> INFO kafka.server.KafkaServer: started\n"},
        "server.log: The closest layout is '%d{ISO8601} %",
    ),
    "hollow": ({"server.log": ""}, "a Kafka broker wrote"),
    "another's": ({"app.log": line("hello", logger="com.acme.App")}, "a Kafka broker wrote"),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_input_without_log_is_refused_in_sentence(tmp_path: Path, case: str) -> None:
    files, words = MESSAGES[case]
    logs = tmp_path / "logs"
    for name, text in files.items():
        (logs / name).mkdir(parents=True) if text is None else lay(logs, {name: text})
    with pytest.raises(BadInput) as refused:
        ingested(tmp_path / "lake", logs, on_nothing=True)
    (sentence,) = refused.value.sentences
    assert words in sentence
    assert "Needed:" in sentence
    assert not (tmp_path / "lake" / "bronze").exists()


def test_empty_folder_of_clients_beside_brokers_is_warning(tmp_path: Path) -> None:
    lay(tmp_path / "logs", {"server.log": resigned(1)})
    (tmp_path / "clients").mkdir()
    _, summary = ingested(tmp_path / "lake", tmp_path / "logs", client_logs=tmp_path / "clients")
    (warning,) = summary["warnings"]
    assert warning.startswith(f"CLIENT_LOGS names {tmp_path / 'clients'}, and that folder is empty. A slow poll")
    assert summary["lines"]["lines_in"] == 1
    with pytest.raises(BadInput, match=r"CLIENT_LOGS names .*clients, and that folder is empty\. Needed"):
        ingested(tmp_path / "other", tmp_path / "clients", client_logs=tmp_path / "clients")


OLD = line(
    "Preparing to restabilize group g with old generation 3", "02:30:00,000", "kafka.coordinator.GroupCoordinator"
)
"""A line of Kafka 0.9 that matters, and that no pattern knows."""


def test_kafka_before_1_0_is_refused_with_its_unread_lines(tmp_path: Path) -> None:
    """Captured on Kafka 0.8.2, without what 0.10 writes alike: how a broker and a controller come and go.

    Each connection that ends is a line of its own there: a day has very many.
    """
    lines = (EXCERPTS / "kafka-0.8" / "broker-0" / "server.log").read_text().splitlines(keepends=True)
    old = "".join(text for text in lines if "[Kafka Server 0]" not in text and "ontroller 0]" not in text)
    (closing,) = {c for c in old.splitlines(keepends=True) if "Closing socket" in c and "05:09:58" in c}
    for text in (old, old + closing * 1_000):
        lay(tmp_path / "logs", {"broker-0/server.log": text})
        unread = rf"of {text.count(chr(10)):,} lines 7 matter and could not be read \(\d+ such as '\[2026-11-\d\d .*"
        with pytest.raises(BadInput, match=rf"{unread} Needed: logs of Kafka 1\.0 or later .*PATTERN"):
            ingested(tmp_path / "lake", tmp_path / "logs", run_at=datetime(2026, 11, 24, tzinfo=UTC))


def test_all_unreadable_inputs_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        ingested(tmp_path / "lake", tmp_path / "a", client_logs="nosuch://b/c")
    assert [s.split()[0] for s in refused.value.sentences] == ["LOGS", "CLIENT_LOGS"]
    lay(tmp_path / "logs", {"server.log": resigned(1)})
    with pytest.raises(BadInput, match=r"SNAPSHOTS names .*missing"):
        ingested(tmp_path / "lake", tmp_path / "logs", snapshots=tmp_path / "missing.jsonl")


def in_docker(record: str, n: int) -> str:
    """A record as Docker keeps what Compose prints of the n-th broker."""
    text = record.rstrip("\n")
    return f'{{"log":"kafka-{n} | {text}\\n","stream":"stdout","time":"2026-11-21T03:00:00Z"}}\n'


WRAPPED = [
    in_docker(resigned(n // 2, f"01:{n // 60:02d}:{n // 3 % 20:02d},500", broker=1 + n % 2), 1 + n % 2)
    for n in range(120)
]


@pytest.fixture(scope="module")
def bad_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of which some are broken."""
    two_brokers = "".join(resigned(p, f"03:00:0{p},000", broker) for p, broker in ((1, 1), (2, 2), (3, 1)))
    whole = "".join(resigned(n, f"01:{n // 60:02d}:{n % 60:02d},000") for n in range(1_000))
    packed = gzip.compress(whole.encode())
    files: dict[str, str | bytes] = {
        "all.log": "".join(WRAPPED),
        "mixed/server.log": two_brokers,
        "broker-1/server.log": "before the first head\n" + resigned(5).replace("\n", "\r\n") + "\ttrace\r\n",
        "broker-2/server.log": resigned(6).encode() + b"\xff\xfe\n" + resigned(7).encode() + b"\0\0\0",
        "broker-3/server.log": line("x" * 1_000_000) + resigned(8),
        "broker-4/server.log.gz": packed[: len(packed) // 2],
        "broker-4/controller.log.gz": b"no gzip at all",
        "broker-5/server.log": resigned(9).replace("2026-11-21", "2026-02-30"),
    }
    return lay(tmp_path_factory.mktemp("bad"), files)


@pytest.fixture(scope="module")
def ingested_bad_logs(bad_logs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Row]:
    """What they become."""
    return ingested(tmp_path_factory.mktemp("counted"), bad_logs)


def test_bad_lines_are_counted_and_lose_no_good_line(ingested_bad_logs: tuple[Store, Row]) -> None:
    store, summary = ingested_bad_logs
    covered = {r["source"]: r for r in rows(store, quality.COVERAGE)}
    fates = ("events", "ignored", "unparsed", "quarantined")
    counts = {s: tuple(r[f] for f in fates) for s, r in covered.items()}
    kept = counts.pop("broker-4/server.log")
    assert 100 < kept[0] < 1_000
    assert kept[1:] == (0, 0, 0)
    assert counts == {
        "all.log//kafka-1": (60, 0, 0, 0),
        "all.log//kafka-2": (60, 0, 0, 0),
        "mixed/server.log": (3, 0, 0, 0),
        "broker-1/server.log": (2, 0, 1, 0),
        "broker-2/server.log": (2, 0, 0, 2),
        "broker-3/server.log": (1, 0, 0, 1),
        "broker-5/server.log": (0, 0, 0, 1),
    }
    assert {source: r["replaced_lines"] for source, r in covered.items() if r["replaced_lines"]} == {
        "broker-2/server.log": 2
    }
    wrapped = [r["layouts"] for source, r in covered.items() if source.startswith("all.log")]
    assert wrapped == [["docker>compose>apache"]] * 2
    mixed = [r["broker"] for r in rows(store, silver.EVENTS, "happened_at") if r["source"] == "mixed/server.log"]
    assert mixed == [1, 2, 1]
    broken = {r["source"]: r for r in rows(store, quality.QUARANTINE) if not r["line_count"]}
    assert set(broken) == {"broker-4/server.log", "broker-4/controller.log"}
    assert f"The {kept[0]} lines before the break are kept" in broken["broker-4/server.log"]["sentences"][0]
    assert "Copy it again" in broken["broker-4/controller.log"]["sentences"][0]
    assert sum("cannot be unpacked" in w for w in summary["warnings"]) == 2
    assert [r["template"] for r in rows(store, quality.UNPARSED_LINES)] == ["before the first head"]


def test_ingest_killed_at_table_creation_is_repaired_by_next_run(
    bad_logs: Path, ingested_bad_logs: tuple[Store, Row], tmp_path: Path
) -> None:
    undisturbed = hashes(ingested_bad_logs[0])
    for table in (bronze.LOG_RECORDS, bronze.OFFSET_SNAPSHOTS, silver.EVENTS, quality.COVERAGE):
        (tmp_path / "lake" / table.layer / table.name / "_delta_log").mkdir(parents=True)
    for _ in range(2):
        healed, _ = ingested(tmp_path / "lake", bad_logs, on_nothing=True)
        assert hashes(healed) == undisturbed
        assert rows(healed, bronze.OFFSET_SNAPSHOTS) == []


def test_growing_rotated_wrapped_file_is_taken_once(tmp_path: Path) -> None:
    whole, _ = collected(tmp_path / "whole", lay(tmp_path / "a", {"all.log": "".join(WRAPPED)}))
    collected(tmp_path / "grown", lay(tmp_path / "b", {"all.log": "".join(WRAPPED[:70])}))
    lay(tmp_path / "b", {"all.log.1": "".join(WRAPPED[:90]), "all.log": "".join(WRAPPED[90:])})
    grown, _ = collected(tmp_path / "grown", tmp_path / "b")
    assert len(rows(grown, bronze.LOG_RECORDS)) == len(WRAPPED)
    assert content(grown, bronze.LOG_RECORDS) == content(whole, bronze.LOG_RECORDS)


def test_only_lines_of_requested_window_are_counted(tmp_path: Path) -> None:
    """No pattern knows most of its lines: it is audited all the same, since the others are known."""
    hourly = [resigned(n, f"0{n}:00:00,000") for n in range(6)]
    lay(tmp_path / "logs", {"broker-1/server.log": "".join([*hourly[:3], OLD * 3, *hourly[3:]])})
    hours = {"window_from": "2026-11-21T02:00Z", "window_to": "2026-11-21T04:00Z"}
    around = {"look_back_hours": "1", "look_ahead_hours": "1"}
    store, summary = ingested(tmp_path / "lake", tmp_path / "logs", **hours, **around)
    assert (summary["window_from"], summary["lines"]["lines_in"]) == ("2026-11-21T02:00:00+00:00", 2 + 3)
    assert [r["happened_at"].hour for r in rows(store, silver.EVENTS, "happened_at")] == [1, 2, 3, 4]
    assert len(rows(store, bronze.LOG_RECORDS)) == 6 + 3
    nothing = {"window_from": "2026-11-20T02:00Z", "window_to": "2026-11-20T04:00Z"}
    for lake in ("lake", "new"):
        with pytest.raises(BadInput, match="the files reach from 2026-11-21T00:00:00"):
            ingested(tmp_path / lake, tmp_path / "logs", on_nothing=lake == "new", **nothing)
    assert not (tmp_path / "new" / "bronze").exists(), "a new lake keeps nothing of such a run"


def test_garbled_years_are_reported_and_do_not_widen_window(tmp_path: Path) -> None:
    years = ("9999", "0001", "2926", "2016")
    for broker, year in enumerate(years, 1):
        lines = [resigned(n, f"01:{n // 60:02d}:{n % 60:02d},000", broker) for n in range(120)]
        lines[60] = resigned(60, "23:59:59,999", broker).replace("2026-11-21", f"{year}-12-31")
        lay(tmp_path / "logs", {f"broker-{broker}/server.log": "".join(lines)})
    wild = "".join(json.dumps({"at": f"{year}-12-31T23:59:59Z"}) + "\n" for year in years[:3])
    lay(tmp_path, {"s.jsonl": wild})
    store, summary = ingested(tmp_path / "lake", tmp_path / "logs", snapshots=tmp_path / "s.jsonl")
    assert (summary["window_from"][:19], summary["window_to"][:19]) == ("2026-11-21T01:00:00", "2026-11-21T01:01:59")
    (garbled,) = summary["warnings"]
    assert garbled.startswith("4 instants in broker-1/server.log, broker-2/server.log, broker-3/server.log and 1 more")
    assert summary["lines"]["lines_in"] == 4 * 120
    assert len(rows(store, bronze.LOG_RECORDS)) == 4 * 120


def test_hostile_file_names_are_read_and_non_files_listed(tmp_path: Path) -> None:
    names = ["server.log.2026-11-20T10:00", "a:b.log", "broker:1/server.log", "it's [1] {2} %41 #?.log"]
    logs = lay(tmp_path / "logs", {name: resigned(n) for n, name in enumerate(names)})
    os.mkfifo(logs / "fifo.log")
    (logs / "passwd.log").symlink_to("/etc/passwd")
    (logs / "loop").symlink_to(".")
    store, summary = collected(tmp_path / "lake", logs)
    assert len(rows(store, bronze.LOG_RECORDS)) == len(names)
    assert [name.partition(" (")[0] for name in summary["files_not_read"]] == ["fifo.log", "loop", "passwd.log"]
