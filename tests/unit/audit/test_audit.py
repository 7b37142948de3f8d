"""An audit asked for and followed in a terminal."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.audit import audit_run, inputs
from kafka_hindsight.audit.follow import Screen, follow
from kafka_hindsight.catalog.steps import STEPS
from kafka_hindsight.intake.log_files import list_places, places_of
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.shared.exits import BadInput


def step_end(step: str, code: int = 0, sentences: tuple[str, ...] = (), **summary: Any) -> dict[str, Any]:
    return {"event": "ends", "step": step, "exit_code": code, "sentences": list(sentences), "summary": summary}


def verdict(*entries: dict[str, Any], log: Path = Path("a.log")) -> int:
    screen = Screen()
    for entry in entries:
        screen.show(entry)
    return screen.verdict(log)


def test_audit_without_inputs_takes_recorded_night() -> None:
    settings = inputs.audit_settings({"FROM": ""}, {"lake": "/lake"})
    assert Path(settings.logs) == inputs.SAMPLE / "logs"
    assert settings.client_logs and settings.snapshots
    assert settings.window_from is None


@pytest.fixture
def logs(tmp_path: Path) -> str:
    """A folder with a log by its name."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "server.log").touch()
    return str(folder)


def test_own_logs_replace_recorded_night_completely(logs: str) -> None:
    settings = inputs.audit_settings({"LOGS": logs}, {})
    assert (settings.logs, settings.client_logs, settings.snapshots) == (logs, None, None)


def test_option_overrides_variable(logs: str) -> None:
    assert inputs.audit_settings({"LOGS": logs, "CLUSTER": "a"}, {"cluster": "b"}).cluster == "b"


def test_missing_folder_is_refused_before_start() -> None:
    with pytest.raises(BadInput, match="LOGS names /no/such/folder, and nothing is there"):
        inputs.audit_settings({"LOGS": "/no/such/folder"}, {})


def test_folder_without_log_is_refused_before_start_and_leaves_no_lake(tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    for name, words in (("a.txt", "no file there is a log"), ("sub", "that folder is empty")):
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).touch() if name == "a.txt" else (folder / name).mkdir()
        with pytest.raises(BadInput, match=words):
            audit_run.judge(folder, lake)
    assert not Path(lake).exists()
    (tmp_path / "with a.txt" / "night.tar").touch()
    archive = inputs.audit_settings({"LOGS": str(tmp_path / "with a.txt")}, {})
    assert list_places(None, places_of(archive), None).files, "an archive may hold logs"


@pytest.mark.parametrize(("is_new", "table", "stays"), [(True, "", False), (True, "bronze", True), (False, "", True)])
def test_only_new_lake_without_table_is_removed_after_audit(
    is_new: bool, table: str, stays: bool, logs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "lake"
    if not is_new:
        lake.mkdir()
    monkeypatch.setattr(audit_run, "start_alone", lambda *_: None)
    monkeypatch.setattr(audit_run, "follow", lambda *_: (lake / table).mkdir(parents=True, exist_ok=True))
    assert audit_run.audit(inputs.audit_settings({}, {"logs": logs, "lake": str(lake), "engine": "local"})) == 1
    assert lake.exists() == stays


def test_interrupt_ends_the_run_and_says_where_and_what_to_do(tmp_path: Path) -> None:
    class Interrupted(Screen):
        def line(self, text: str) -> None:
            raise KeyboardInterrupt

    entry = {"event": "begins", "step": "rebuild", "text": "Rebuild"}
    (tmp_path / "progress").write_text(f"{json.dumps(entry)}\n")
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    with pytest.raises(KeyboardInterrupt, match=r"Ctrl-C in the step rebuild\. .* whole.* Run the same command again"):
        follow(process, tmp_path / "progress", Interrupted())
    assert process.returncode == -signal.SIGTERM


def test_new_lake_without_table_is_removed_after_an_interrupt(
    logs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        (tmp_path / "lake").mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(audit_run, "start_alone", lambda *_: None)
    monkeypatch.setattr(audit_run, "follow", interrupt)
    with pytest.raises(KeyboardInterrupt):
        audit_run.audit(inputs.audit_settings({}, {"logs": logs, "lake": str(tmp_path / "lake"), "engine": "local"}))
    assert not (tmp_path / "lake").exists()


def test_live_cluster_needs_its_logs(logs: str) -> None:
    live = {"BOOTSTRAP": "localhost:9092"}
    with pytest.raises(BadInput, match="BOOTSTRAP is set and LOGS is not"):
        inputs.audit_settings(live, {})
    assert inputs.audit_settings({**live, "LOGS": logs}, {}).logs == logs
    connection = inputs.live_cluster(live)
    assert connection and connection.settings == {"bootstrap.servers": "localhost:9092"}
    assert inputs.live_cluster({"BOOTSTRAP": " ", "KAFKA_CONFIG": "/no/such"}) is None


def test_unparsable_bootstrap_stops_audit_before_start() -> None:
    with pytest.raises(BadInput, match=r"names 'localhost:port' in bootstrap\.servers"):
        inputs.live_cluster({"BOOTSTRAP": "localhost:port"})


@pytest.mark.parametrize(
    ("setting", "reason"),
    [({}, "Connection refused"), ({"group.idd": "x"}, "No such configuration property")],
)
def test_unreadable_live_cluster_is_warning(
    setting: dict[str, str],
    reason: str,
    logs: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = inputs.audit_settings({"LOGS": logs, "LAKE": str(tmp_path / "lake")}, {})
    nowhere = {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": 1000, **setting}
    for name in ("start_alone", "follow"):
        monkeypatch.setattr(audit_run, name, lambda *_: None)
    monkeypatch.setattr(audit_run.Screen, "verdict", lambda *_: 0)
    assert audit_run.audit(settings, Connection.of("prod", nowhere)) == 0
    fault, warning = capsys.readouterr().err.splitlines()
    assert reason in fault
    assert warning == "Warning: the live cluster was not read. The audit goes on with LOGS."


@pytest.mark.parametrize("code", [1, 2, 42, 137])
def test_exit_code_is_that_of_failed_step(code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(step_end("ingest"), step_end("rebuild", code, ("Found: nothing.",))) == code
    assert "Found: nothing." in capsys.readouterr().err


def test_run_that_dies_silently_is_fault_with_step_and_end_of_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"starting\n" * 9 + b"Database migration\x1b[2J required\xff.\n")
    assert verdict(step_end("ingest"), log=log) == 1
    output = capsys.readouterr()
    assert "before the step rebuild was done" in output.out
    assert output.err.count("starting") == 4
    assert "| Database migration\N{REPLACEMENT CHARACTER}[2J required" in output.err
    assert "a.log" in output.err


def test_summary_of_last_step_is_printed_last(capsys: pytest.CaptureFixture[str]) -> None:
    *before, last = STEPS
    assert verdict(*(step_end(s.name) for s in before), step_end(last.name, terminal="3 rebalances")) == 0
    assert capsys.readouterr().out.endswith("3 rebalances\n")


def test_refused_earlier_window_keeps_summary_of_night(capsys: pytest.CaptureFixture[str]) -> None:
    night = [step_end(s.name, terminal="3 rebalances") for s in STEPS]
    assert verdict(*night, step_end("reclassify", 42, ("Nothing was published.",)), step_end("reclassify")) == 42
    output = capsys.readouterr()
    assert "3 rebalances" in output.out
    assert "Nothing was published." in output.err


def test_hostile_names_cannot_move_terminal_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().show({"event": "says", "text": "group \x1b[2J\x07evil\r\u009b"})
    shown = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\r", "\u009b"} & set(shown)
    assert "evil" in shown
