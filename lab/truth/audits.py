"""An audit of each folder into a lake of its own: once for each state of the folder, its settings and the code."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from kafka_hindsight.settings.home import HOME
from lab.truth.folders import BROKERS, CLIENTS
from lab.truth.labels import Truth

_AUDIT = (sys.executable, "-m", "kafka_hindsight.cli.main", "audit", "--engine", "local")
CODE = ("kafka_hindsight", "queries", "expectations", "spark_jobs")


def audit(truth: Truth, folder: Path) -> tuple[Path, str]:
    """The lake of an audit, and why there is none: empty where the audit published one."""
    key = f"{_code()}{folder.name}{truth.zone}{truth.glob}".encode()
    lake = folder.with_name(f"lake-{hashlib.sha256(key).hexdigest()[:12]}")
    output = lake.with_suffix(".txt")
    if not output.exists():
        shutil.rmtree(lake, ignore_errors=True)
        process = subprocess.run(
            [*_AUDIT, *_input(truth, folder), "--lake", str(lake)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            env={**os.environ, "PYTHONPATH": str(HOME), "COLUMNS": "200"},
        )
        output.write_bytes(b"%d\n%b" % (process.returncode, process.stdout))
    code, _, words = output.read_text(encoding="utf-8", errors="replace").partition("\n")
    return lake, "" if code == "0" else words.strip() or f"the audit ended with exit code {code}"


def _input(truth: Truth, folder: Path) -> list[str]:
    """The options that say what is to be audited, in which zone."""
    parts = ((BROKERS, "--logs", "--logs-tz"), (CLIENTS, "--client-logs", "--client-tz"))
    options = [
        (option, str(folder / part), zone, truth.zone) for part, option, zone in parts if (folder / part).is_dir()
    ]
    globbed = ["--glob", truth.glob] if truth.glob else []
    return [*globbed, *(word for words in options for word in words)]


@cache
def _code() -> str:
    """A value that changes with the code of the product."""
    files = sorted(path for room in CODE for path in (HOME / room).rglob("*") if path.suffix in (".py", ".sql"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
