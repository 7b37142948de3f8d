"""Audits of the brokers' logs of the recorded night alone, without clients' logs and without readings."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from kafka_hindsight.engine.local import LocalWorkers
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start.launch import AUDIT
from kafka_hindsight.steps import run
from tests.support.logs import unpack_night
from tests.support.once import once

WINDOW = (datetime(2026, 11, 21, 1, 40, 50, tzinfo=UTC), datetime(2026, 11, 21, 1, 54, tzinfo=UTC))
"""The whole recorded night."""


def audit(logs: Path, lake: Path) -> None:
    """Audits the brokers' logs alone, as a user does."""
    window = [f"--{name}={at.isoformat()}" for name, at in zip(("from", "to"), WINDOW, strict=True)]
    command = [sys.executable, "-m", "kafka_hindsight.cli.main", "audit", "--engine=local", f"--logs={logs}"]
    done = subprocess.run([*command, f"--lake={lake}", *window], cwd=HOME, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def audit_here(logs: Path, lake: Path) -> None:
    """The same in this process, whose validator serves one audit after another: for laws, which audit often."""
    window = dict(zip(("window_from", "window_to"), (at.isoformat() for at in WINDOW), strict=True))
    places = {"logs": str(logs), "lake": str(lake), "engine": "local"}
    of_run = {"run_id": lake.parent.name, "run_at": datetime.now(UTC).isoformat(), "read_to_end": True}
    given = json.dumps({**places, **window, **of_run, "audits_others": True})
    assert run.main([AUDIT, "--settings", given], LocalWorkers()) == 0, f"the audit of {logs} failed"


@cache
def whole_night() -> tuple[Path, Path]:
    """The folder of the night, and the lake of an audit of its brokers' logs alone."""
    folder = once("whole-night", lambda f: audit(unpack_night(f / "night") / "logs", f / "lake"))
    return folder / "night", folder / "lake"
