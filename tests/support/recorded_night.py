"""The recorded night and its audit in one process, without a name for the cluster: made once in a test run."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from kafka_hindsight.cli.audit import judge
from tests.support.leash import FOLDER, held
from tests.support.logs import unpack_night


@cache
def recorded_night() -> tuple[Path, Path]:
    """The folder of the night and its lake. Neither is to be changed: other processes read them."""
    folder = Path(os.environ.get(FOLDER) or tempfile.mkdtemp(prefix="recorded-"))
    if FOLDER not in os.environ:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    night, lake = folder / "night", folder / "lake"
    with held(folder / "night.turn"):
        if not (lake / "report" / "index.html").exists():
            audit(unpack_night(night), lake)
    return night, lake


def audit(night: Path, lake: Path) -> None:
    """Audits a night as it lies in a folder, without a word."""
    inputs = {"client_logs": str(night / "clients"), "snapshots": str(night / "snapshots.jsonl")}
    with contextlib.redirect_stdout(io.StringIO()):
        judge(night / "logs", lake, **inputs)
