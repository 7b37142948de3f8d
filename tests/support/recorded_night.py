"""The recorded night and its audit in one process, without a name for the cluster: made once in a test run."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from kafka_hindsight.audit.audit_run import judge
from tests.support.logs import unpack_night
from tests.support.once import once


def recorded_night() -> tuple[Path, Path]:
    """The folder of the night and its lake. Neither is to be changed: other tests read them."""
    folder = once("recorded-night", lambda folder: audit(unpack_night(folder / "night"), folder / "lake"))
    return folder / "night", folder / "lake"


def audit(night: Path, lake: Path) -> None:
    """Audits a night as it lies in a folder, without a word."""
    inputs = {"client_logs": str(night / "clients"), "snapshots": str(night / "snapshots.jsonl")}
    with contextlib.redirect_stdout(io.StringIO()):
        judge(night / "logs", lake, **inputs)
