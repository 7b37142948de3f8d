"""What an audit writes is for its own account alone, whatever the umask of who starts it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_hindsight.audit import audit_run
from kafka_hindsight.audit.audit_run import judge
from tests.support.logs import lay, resigned
from tests.support.recorded_night import recorded_night


def open_to_others(folder: Path) -> list[str]:
    """The files and folders below a folder, and itself, on which others have a right."""
    return [str(path) for path in (folder, *folder.rglob("*")) if stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_lake_landing_reports_and_runs_of_a_command_are_private() -> None:
    lake = recorded_night()[1]
    assert {"bronze", "landing", "report", "runs", "published.json"} <= {path.name for path in lake.iterdir()}
    assert open_to_others(lake) == []


def test_audit_by_the_python_api_is_private(open_umask: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_run, "RUNS", tmp_path / "runs")
    logs = lay(tmp_path / "logs", {"broker-1/server.log": "".join(resigned(n) for n in range(3))})
    judge(logs, tmp_path / "lake")
    assert open_to_others(tmp_path / "lake") == open_to_others(tmp_path / "runs") == []
    assert os.umask(0o022) == 0o022, "the umask of who calls stays"
