"""Puts the pipeline through kills, full disks, lakes that vanish and hostile input: `python -m tools.chaos`.

A small night is audited in two halves. Each step is stopped at random moments. The lake as it lies there is what a kill
leaves: readers and alerts are asked, then the step is tried again on it, and every table is compared with an
undisturbed run's. Some of the kills are real. The seed that is printed, given as `--seed`, draws the same again; the
moments depend on the machine. It ends with 1 where anything was not equal, mixed or unread.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from spark_jobs.commands.audit import SAMPLE
from spark_jobs.shared import launch
from tools.chaos import disks, inputs, stores
from tools.chaos.kills import Tried, kills
from tools.chaos.lakes import contents
from tools.chaos.night import HALF, LAST, cut_night
from tools.chaos.worker import Worker

_RECORDS = launch.HOME / "tests" / "excerpts" / "group_records.jsonl"
_PARTS = ("kills", "disks", "inputs", "stores")
_NIGHT = ("ingest", "rebuild", "publish")
_FIRST, _SECOND = "first night", "more logs"
_MONTHS_LATER = "2027-03-01T00:00:00+00:00"
"""So late that maintenance removes rows of the night."""


def main() -> int:
    """Runs what is asked for, and prints a table of it as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m tools.chaos", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=25, help="moments of each step at which it is killed")
    parser.add_argument("--real", type=int, default=1, help="how many of them are a kill -9 of all its processes")
    parser.add_argument("--lines", type=int, default=100_000, help="how many lines are mutated")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--parts", nargs="+", default=_PARTS, choices=_PARTS)
    parser.add_argument("--disks", type=int, default=3, help="how often a step's disk is full, and how often away")
    parser.add_argument("--steps", nargs="+", help='only these are disturbed: publish, or "publish, more logs"')
    given = parser.parse_args()
    print(f"seed {given.seed}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", flush=True)
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        outcomes = list(_told(_tried(given, Path(folder))))
    print(f"\n{sum(t.tried for t in outcomes)} tried; seed {given.seed}", flush=True)
    return 0 if all(t.holds for t in outcomes) else 1


def _told(outcomes: Iterator[Tried]) -> Iterator[Tried]:
    print("\n| what | tried | tables equal | readers and alerts whole | said so | seconds |")
    print("|---|---|---|---|---|---|", flush=True)
    began = time.monotonic()
    for t in outcomes:
        took = time.monotonic() - began
        print(f"| {t.what} | {t.tried} | {t.equal} | {t.whole} | {t.told} | {took:.0f} |", flush=True)
        began = time.monotonic()
        yield t


def _tried(given: argparse.Namespace, folder: Path) -> Iterator[Tried]:
    rng = random.Random(given.seed)
    with closing(Worker(folder / "worker")) as worker, closing(Worker(folder / "other")) as other:
        half = cut_night(SAMPLE, folder / "half", HALF)
        whole = cut_night(SAMPLE, folder / "whole", LAST)
        if "inputs" in given.parts:
            yield inputs.one_by_one(rng, inputs.lines_of(SAMPLE), given.lines)
            yield inputs.records(rng, inputs.captured_records(_RECORDS), given.lines)
            settings = _settings(half, _FIRST)
            yield inputs.broken_lines(worker, rng, folder, half, settings, given.lines)
            yield inputs.broken_readings(worker, rng, folder, half, settings, 200)
        if "stores" in given.parts:
            yield stores.slow(rng, folder, _settings(half, _FIRST), _NIGHT)
        if {"kills", "disks"} & {*given.parts}:
            yield from _steps(given, worker, other, rng, folder, half, whole)


def _steps(
    given: argparse.Namespace,
    worker: Worker,
    other: Worker,
    rng: random.Random,
    folder: Path,
    half: Path,
    whole: Path,
) -> Iterator[Tried]:
    lake = folder / "lake"
    lake.mkdir()
    for name, step, settings in _plan(half, whole):
        if step == "maintain":
            _age(lake)
        began = shutil.copytree(lake, folder / "began")
        is_asked = not given.steps or bool({step, f"{step}, {name}"} & {*given.steps})
        count, real = (given.kills, given.real) if is_asked and "kills" in given.parts else (0, 0)
        killed = kills(worker, other, rng, lake, step, settings, count, real)
        outcomes = iter([killed] if count else [])
        if is_asked and "disks" in given.parts:
            disks.is_wanted(step, settings, contents(lake))
            outcomes = chain(outcomes, _disks(given.disks, worker, other, rng, began, step, settings))
        for tried in outcomes:
            tried.what += f", {name}"
            yield tried
        shutil.rmtree(began)


def _disks(
    count: int,
    worker: Worker,
    other: Worker,
    rng: random.Random,
    began: Path,
    step: str,
    settings: dict[str, Any],
) -> Iterator[Tried]:
    try:
        with disks.disk(began.parent / "disk"):
            pass
        yield disks.full(worker, rng, began, step, settings, count)
        yield disks.read_only(worker, began, step, settings)
    except subprocess.CalledProcessError:
        print("Full and read-only disks are not tried: this user may not mount a tmpfs.", file=sys.stderr)
    yield disks.vanishing(worker, rng, began, step, settings, count)
    yield disks.set_back(worker, began, step, settings)
    if step == "ingest":
        yield disks.together(worker, other, began, step, settings)
        yield disks.unreachable(worker, step, {**settings, "lake": str(began)})


def _plan(half: Path, whole: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield from ((_FIRST, step, _settings(half, _FIRST)) for step in _NIGHT)
    yield from ((_SECOND, step, _settings(whole, _SECOND)) for step in ("collect", *_NIGHT))
    yield _SECOND, "reclassify", {**_settings(whole, _SECOND), "run_id": "chaos-again"}
    yield (
        _SECOND,
        "maintain",
        {**_settings(whole, _SECOND), "run_id": "chaos-keep", "run_at": _MONTHS_LATER, "keep": _KEEP},
    )


_KEEP = "bronze=90,silver=90,gold=90"


def _settings(night: Path, name: str) -> dict[str, Any]:
    return {
        "logs": str(night / "logs"),
        "snapshots": str(night / "snapshots.jsonl"),
        "lake": str(night.parent / "lake"),
        "run_id": f"chaos-{name.replace(' ', '-')}",
        "run_at": "2026-11-22T03:00:00+00:00",
        "cluster": "chaos",
        "window_from": "2026-11-21T00:00:00+00:00",
        "window_to": "2026-11-22T00:00:00+00:00",
        "read_to_end": True,
    }


def _age(lake: Path) -> None:
    """Lays a file that no version names into each table, a month old, so that VACUUM has something to remove."""
    old = time.time() - 30 * 86_400
    for log in lake.glob("*/*/_delta_log"):
        for number in range(3):
            file = log.parent / f"part-0000{number}-left-over.snappy.parquet"
            file.write_bytes(b"left over")
            os.utime(file, (old, old))


if __name__ == "__main__":
    sys.exit(main())
