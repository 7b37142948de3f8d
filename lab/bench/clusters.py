"""Several small clusters in one lake: one after the other, and two at a time.

`python -m lab.bench.clusters [--clusters 12] [--at-once 2]` audits some minutes of the recorded night as so many
clusters, each by a process of its own, in both ways. It prints what both took, the longest wait for a lock, and whether
the tables are equal. Exit code 1 where they are not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from kafka_hindsight.audit.inputs import SAMPLE
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.timings import WAIT
from lab.chaos.lakes import contents, others
from lab.chaos.night import LAST, cut_night

_RECORDED = "M3qSc9eLQMSD2A9RXcqTKA"
"""The id of the recorded cluster, of 22 characters as all ids are."""


class Wait(NamedTuple):
    """The longest wait of a step for a lock, by its summary."""

    seconds: float
    what: str


def main() -> int:
    """Run the bench, and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m lab.bench.clusters", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clusters", type=int, default=12)
    parser.add_argument("--at-once", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clusters-") as folder:
        nights = [_night(Path(folder), number) for number in range(options.clusters)]
        alone, beside = Path(folder, "alone"), Path(folder, "beside")
        load = os.getloadavg()[0]
        took_alone, took_beside = _audit_all(nights, alone, 1), _audit_all(nights, beside, options.at_once)
        differing = others(contents(alone), contents(beside))
        longest = max(_waits(beside), default=Wait(0, "no lock"))
    print(f"{options.clusters} clusters, load {load:.1f} before")
    print(f"one after the other: {took_alone:.0f} s; {options.at_once} at a time: {took_beside:.0f} s")
    print(f"ratio {took_beside / took_alone:.2f}; the longest wait: {longest.seconds:.1f} s for {longest.what}")
    print(f"tables that differ: {', '.join(differing) or 'none'}")
    return 1 if differing else 0


def _night(folder: Path, number: int) -> Path:
    """Some minutes of the recorded night, as those of another cluster."""
    night = cut_night(SAMPLE, folder / f"cluster-{number}", LAST)
    for file in night.rglob("*.*"):
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(_RECORDED.encode(), _id(number).encode()))
    return night


def _id(number: int) -> str:
    return f"{_RECORDED[:-2]}{number:02d}"


def _audit_all(nights: Sequence[Path], lake: Path, at_once: int) -> float:
    began = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(partial(_audit, lake), nights))
    return time.monotonic() - began


def _audit(lake: Path, night: Path) -> None:
    """Audit one cluster. Raises: CalledProcessError."""
    inputs = {"logs": night / "logs", "snapshots": night / "snapshots.jsonl", "cluster": night.name, "lake": lake}
    options = chain.from_iterable((f"--{name}", str(place)) for name, place in inputs.items())
    command = [sys.executable, "-m", "kafka_hindsight.cli.main", "audit", "--engine", "local", *options]
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    subprocess.run(command, cwd=HOME, env=environment, check=True, stdout=subprocess.DEVNULL)


def _waits(lake: Path) -> Iterator[Wait]:
    for summary in lake.glob("runs/*/*.json"):
        if wait := json.loads(summary.read_text()).get("longest", {}).get(WAIT):
            yield Wait(*wait)


if __name__ == "__main__":
    sys.exit(main())
