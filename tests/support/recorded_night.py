"""The recorded night and its audit, as a user's first command leaves it: made once in a test run."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
from pathlib import Path

from kafka_hindsight.audit.audit_run import judge
from kafka_hindsight.settings.home import HOME
from tests.support.logs import unpack_night
from tests.support.once import once

_OUTPUT = "output.txt"


def recorded_night() -> tuple[Path, Path]:
    """The folder of the night and its lake. Neither is to be changed: other tests read them."""
    folder = once("recorded-night", _audit_by_command)
    return folder / "night", folder / "lake"


def output_of_its_audit() -> str:
    """What `hindsight audit` printed of the night."""
    return (recorded_night()[1].parent / _OUTPUT).read_text(encoding="utf-8")


def _audit_by_command(folder: Path) -> None:
    unpack_night(folder / "night")
    done = command(folder / "lake", HOME / "hindsight", "audit")
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / _OUTPUT).write_text(done.stdout, encoding="utf-8")


def command(lake: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command beside a lake, without inputs of a user's own: it audits the recorded night."""
    environment = {k: v for k, v in os.environ.items() if k not in ("LOGS", "CLIENT_LOGS", "SNAPSHOTS", "ENGINE")}
    return subprocess.run(
        words,
        cwd=HOME,
        env={**environment, "PYTHONPATH": str(HOME), "LAKE": str(lake)},
        capture_output=True,
        text=True,
        timeout=1200,
    )


def audit(night: Path, lake: Path) -> None:
    """Audits a night as it lies in a folder, without a word."""
    inputs = {"client_logs": str(night / "clients"), "snapshots": str(night / "snapshots.jsonl")}
    with contextlib.redirect_stdout(io.StringIO()):
        judge(night / "logs", lake, **inputs)
