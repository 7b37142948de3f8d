"""The ingest of sources and of folders of dates: the rows of the folder, in however many readings they come."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.bronze import LOG_FILES
from kafka_hindsight.engine.local import LocalWorkers
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.steps import maintain
from tests.support.logs import RUN_AT, collected, lay, line, resigned, rows, settings

TRACE = line("Stopped", "01:44:31,000", "kafka.network.SocketServer") + "java.io.IOException: x\n\tat a.b.C\n"
TEXT = resigned(1) * 2 + resigned(2, "01:44:30,500") + TRACE + resigned(3, "01:44:32,000") * 2
"""Identical lines of one instant, and a trace."""


def records_of(store: Store) -> list[tuple[str, str, str, int]]:
    """What the records of a lake say, but for the envelope of what a command printed."""
    records = rows(store, bronze.LOG_RECORDS, "happened_at", "order")
    return [(r["source"], r["text"], str(r["happened_at"]), r["line_count"]) for r in records]


def declare(folder: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch, without: str = "none") -> None:
    """A source, `source://night`, whose command prints lines with the instants of a runtime."""
    printed = folder / "printed"
    stamped = (f"2026-11-21T01:44:{30 + n:02d}Z {text}\n" for n, text in enumerate(lines) if without not in text)
    printed.write_text("".join(stamped))
    command = [sys.executable, "-c", f"print(end=open({str(printed)!r}).read())"]
    (folder / "night.toml").write_text(
        f'kind = "command"\ncommands = {{"broker-1/server.log" = {json.dumps(command)}}}'
    )
    monkeypatch.setenv("HINDSIGHT_SOURCES", str(folder))


@pytest.fixture(scope="module")
def folder_records(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str, int]]:
    """What the records of a folder say that holds the text."""
    root = tmp_path_factory.mktemp("plain")
    return records_of(collected(root / "lake", lay(root / "logs", {"broker-1/server.log": TEXT}))[0])


def test_source_gives_records_of_folder_in_any_number_of_readings(
    folder_records: list[tuple[str, str, str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GLOB chooses logs of a source by their names."""
    lines, lake = TEXT.splitlines(), tmp_path / "lake"
    for count in (3, 5, 6, len(lines)):
        declare(tmp_path, lines[:count], monkeypatch)
        collected(lake, "source://night", run_id=f"run-{count}", read_to_end=False, glob="server.log")
    store, _ = collected(lake, "source://night", run_id="night", glob="server.log")
    assert records_of(store) == folder_records
    assert sum(count for *_, count in folder_records) == len(lines)


def test_late_lines_of_a_command_become_records_once(
    folder_records: list[tuple[str, str, str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, lake = TEXT.splitlines(), tmp_path / "lake"
    for run, without in enumerate(("30,500", "none", "none")):
        declare(tmp_path, lines, monkeypatch, without)
        store, _ = collected(lake, "source://night", run_id=f"run-{run}", run_at=RUN_AT + timedelta(hours=run))
    assert records_of(store) == folder_records
    late = [r["text"] for r in rows(store, bronze.LOG_RECORDS) if r["run_collected_at"] > RUN_AT.replace(tzinfo=None)]
    assert [text for text in late if "30,500" not in text] == []
    assert len(late) == 1


def test_old_landed_files_are_removed_once_lake_has_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(tmp_path, TEXT.splitlines(), monkeypatch)
    lake = tmp_path / "lake"
    store, _ = collected(lake, "source://night")
    landed = lake / "landing" / "logs" / "brokers" / "night" / "broker-1"
    (taken,) = landed.iterdir()
    (landed / taken.name.replace("000001", "000002")).write_bytes(b"not taken")
    later = settings(lake, "source://night", run_at=RUN_AT + timedelta(days=20), keep="landing=14")
    monkeypatch.setattr(maintain, "TABLES", (LOG_FILES,))
    assert maintain.run_step(LocalWorkers(), later, {})["landed_files"] == 1
    assert [f.name for f in landed.iterdir()] == [taken.name.replace("000001", "000002")]
    assert len(rows(store, LOG_FILES)) == 1


def test_glob_without_match_in_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(tmp_path, TEXT.splitlines(), monkeypatch)
    with pytest.raises(BadInput, match="no file there is a log"):
        collected(tmp_path / "lake", "source://night", glob="controller.log")


def test_source_without_line_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(tmp_path, [], monkeypatch)
    with pytest.raises(BadInput, match="LOGS names source://night, and nothing is there"):
        collected(tmp_path / "lake", "source://night")


def test_date_pattern_reads_only_folders_of_window(
    folder_records: list[tuple[str, str, str, int]], tmp_path: Path
) -> None:
    files = {"2026/11/21/kafka/broker-1/server.log": TEXT, "2026/11/01/kafka/broker-1/server.log": resigned(9)}
    logs = lay(tmp_path / "logs", files)
    window = {"window_from": "2026-11-21T00:00Z", "window_to": "2026-11-22T00:00Z"}
    store, _ = collected(tmp_path / "lake", logs / "{date:%Y/%m/%d}" / "kafka", **window)
    assert records_of(store) == folder_records
    late = {"window_from": "2026-12-21T00:00Z", "window_to": "2026-12-22T00:00Z"}
    with pytest.raises(BadInput, match=r"nothing is there in its 3 folders from .*2026/12/20/kafka to"):
        collected(tmp_path / "lake", logs / "{date:%Y/%m/%d}" / "kafka", **late)
