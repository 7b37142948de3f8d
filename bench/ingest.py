"""How ingest grows: the recorded night, and the same night many times over, each in a process of its own.

`python -m bench.ingest [--times 10]` prints seconds beyond start-up, lines a second and the memory of the JVM.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from spark_jobs.shared import launch

NIGHT = launch.HOME / "samples" / "night-4.1.tar.gz"
APART = timedelta(hours=1)
"""Between two copies: longer than the recorded night, so that they follow one another."""

_STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", re.MULTILINE)
_EPOCH = re.compile(r"^(%\d\|)(\d+)(?=\.\d{3}\|)", re.MULTILINE)


def main() -> None:
    """Measures one night and many, side by side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10, help="how many nights the large input holds")
    parser.add_argument("--one", type=Path, help="measure this folder in this process")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one)))
        return
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "night"
        with tarfile.open(NIGHT) as archive:
            archive.extractall(base, filter="data")
        many = multiply(base, Path(folder) / "many", given.times)
        small, large = measured(base), measured(many)
    print(report(small, large, given.times))


def multiply(night: Path, target: Path, times: int) -> Path:
    """The night several times over in the same files: each copy later than the one before, with groups of its own."""
    groups = sorted(groups_of(night), key=len, reverse=True)
    named = re.compile("|".join(map(re.escape, groups)))
    for path in sorted(p for p in night.rglob("*") if p.suffix in (".log", ".jsonl")):
        text = path.read_text()
        copy = target / path.relative_to(night)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("w") as file:
            for n in range(times):
                shift = snapshots_later if path.suffix == ".jsonl" else later
                file.write(named.sub(lambda m, n=n: f"{m[0]}-n{n}", shift(text, n * APART)))
    return target


def groups_of(night: Path) -> set[str]:
    """The groups that the night's snapshots show."""
    readings = map(json.loads, (night / "snapshots.jsonl").read_text().splitlines())
    return {group["group"] for reading in readings for group in reading.get("groups", ())}


def later(text: str, shift: timedelta) -> str:
    """A log whose clock runs later by `shift`."""

    def stamp(match: re.Match[str]) -> str:
        return f"[{datetime.fromisoformat(match[1]) + shift}"

    seconds = int(shift.total_seconds())
    return _EPOCH.sub(lambda m: f"{m[1]}{int(m[2]) + seconds}", _STAMP.sub(stamp, text))


def snapshots_later(text: str, shift: timedelta) -> str:
    """Readings taken later by `shift`."""

    def moved(line: str) -> str:
        reading = json.loads(line)
        return json.dumps(reading | {"at": (datetime.fromisoformat(reading["at"]) + shift).isoformat()})

    return "".join(moved(line) + "\n" for line in text.splitlines())


def measured(folder: Path) -> dict[str, Any]:
    """The measures of one folder, taken in a process of its own."""
    command = [str(launch.spark_python()), "-m", "bench.ingest", "--one", str(folder)]
    done = subprocess.run(command, cwd=launch.HOME, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(folder: Path) -> dict[str, Any]:
    """Ingests a folder into a fresh lake. Gives: seconds beyond start-up, lines, bytes, peak memory of the JVM."""
    os.environ.update(launch.environment())
    time.tzset()
    from spark_jobs.edges import session
    from spark_jobs.shared.config import Settings
    from spark_jobs.steps import ingest

    with tempfile.TemporaryDirectory() as lake:
        settings = Settings.of(
            {
                "logs": folder / "logs",
                "client_logs": folder / "clients",
                "snapshots": folder / "snapshots.jsonl",
                "lake": lake,
                "run_id": "bench",
                "run_at": datetime.now(UTC),
            }
        )
        began = time.monotonic()
        spark = session.start("bench", "local[2]")
        started = time.monotonic()
        summary = ingest.run_step(spark, settings, {})
        ended = time.monotonic()
        peak = _peak_kib(spark)
        spark.stop()
    return {
        "startup_s": started - began,
        "ingest_s": ended - started,
        "lines": summary["lines"]["lines_in"],
        "bytes": sum(f.stat().st_size for f in folder.rglob("*.log")),
        "jvm_kib": peak,
    }


def _peak_kib(spark: Any) -> int:
    """The most memory that the JVM has held, as Linux counts it."""
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1])  # type: ignore[index]


def report(small: dict[str, Any], large: dict[str, Any], times: int) -> str:
    """What was measured, for people."""
    ratio = large["ingest_s"] / small["ingest_s"]
    head = f"{'':14}{'MB':>8}{'lines':>10}{'start-up s':>12}{'ingest s':>10}{'lines/s':>10}{'JVM MiB':>9}"
    return "\n".join(
        [
            head,
            _row("one night", small),
            _row(f"{times} nights", large),
            f"{times} times the input took {ratio:.1f} times as long beyond start-up; driver memory "
            f"{launch.configuration()['spark.driver.memory']}.",
        ]
    )


def _row(name: str, m: dict[str, Any]) -> str:
    return (
        f"{name:14}{m['bytes'] / 1e6:8.1f}{m['lines']:10d}{m['startup_s']:12.1f}{m['ingest_s']:10.1f}"
        f"{m['lines'] / m['ingest_s']:10.0f}{m['jvm_kib'] / 1024:9.0f}"
    )


if __name__ == "__main__":
    main()
