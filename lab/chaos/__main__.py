"""Puts the pipeline through kills, full disks, lost lakes, flipped bits and hostile input: `python -m lab.chaos`.

A small night is audited in two halves, and then logs come late. Each step is stopped at random moments. The lake as it
lies there is what a kill leaves: readers and alerts are asked, then the step is tried again on it, and every table is
compared with an undisturbed run's. Some of the kills are real. The seed that is printed, given as `--seed`, draws the
same again; the moments depend on the machine. It ends with 1 where anything was not equal, mixed or unread.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from kafka_hindsight.audit.inputs import SAMPLE
from kafka_hindsight.settings.home import HOME
from lab.chaos import cluster_kills, disks, flips, inputs, killed_holders, locks, store_kills, stores
from lab.chaos.kills import KillCount, kills
from lab.chaos.lakes import contents, lay_left_overs
from lab.chaos.night import HALF, LAST, LATE, Planned, cut_night
from lab.chaos.worker import Worker

_RECORDS = HOME / "tests" / "excerpts" / "group_records.jsonl"
_PARTS = ("kills", "disks", "inputs", "stores", "store-kills", "cluster-kills", "flips", "holders", "locks")
_NIGHT = ("ingest", "rebuild", "validate", "publish", "report")
_FIRST, _SECOND, _THIRD = "first night", "more logs", "late logs"
_STEPS = (
    *((_FIRST, step) for step in _NIGHT),
    *((_SECOND, step) for step in ("collect", *_NIGHT)),
    *((_THIRD, step) for step in ("collect", "reclassify", "maintain")),
)
"""Logs are collected after their night was published, so that reclassify has verdicts to change."""

_KEEP, _MONTHS_LATER = "bronze=90,silver=90,gold=90", "2027-03-01T00:00:00+00:00"
"""So late that maintenance removes rows of the night."""


def main() -> int:
    """Run what is asked for, and print a table of it as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m lab.chaos", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=25, help="moments of each step at which it is killed")
    parser.add_argument("--real", type=int, default=1, help="how many of them are a kill -9 of all its processes")
    parser.add_argument("--store-kills", type=int, default=2, help="how often each step is killed on an object store")
    parser.add_argument("--lines", type=int, default=100_000, help="how many lines are mutated")
    parser.add_argument("--flips", type=int, default=60, help="how many bits of a lake are flipped")
    parser.add_argument("--holders", type=int, default=10, help="how many holders of a lock are killed, here and there")
    schedules = "how often two runs meet on an object store with faults at the lock: small ones, and whole nights"
    parser.add_argument("--schedules", type=int, nargs=2, default=(25, 5), metavar=("SMALL", "WHOLE"), help=schedules)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--parts", nargs="+", default=_PARTS, choices=_PARTS)
    parser.add_argument("--disks", type=int, default=3, help="how often a step's disk is full, and how often away")
    names = sorted({name for night, step in _STEPS for name in (step, f"{step}, {night}")})
    parser.add_argument("--engine", default="local", choices=("local", "spark"), help="what reads and judges")
    steps = 'only these are disturbed: publish, or "publish, more logs"'
    parser.add_argument("--steps", nargs="+", choices=names, metavar="STEP", help=steps)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    print(f"seed {options.seed}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", flush=True)
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        outcomes = list(_print(_outcomes(options, Path(folder))))
    print(f"\n{sum(t.attempts for t in outcomes)} tried; seed {options.seed}", flush=True)
    return 0 if all(t.holds for t in outcomes) else 1


def _print(outcomes: Iterator[KillCount]) -> Iterator[KillCount]:
    print("\n| what | tried | tables equal | readers and alerts whole | said so | seconds |")
    print("|---|---|---|---|---|---|", flush=True)
    began = time.monotonic()
    for t in outcomes:
        took = time.monotonic() - began
        print(f"| {t.what} | {t.attempts} | {t.equal} | {t.whole} | {t.reported} | {took:.0f} |", flush=True)
        began = time.monotonic()
        yield t


def _outcomes(options: argparse.Namespace, folder: Path) -> Iterator[KillCount]:
    with closing(Worker(folder / "worker")) as worker, closing(Worker(folder / "other")) as other:
        half = cut_night(SAMPLE, folder / "half", HALF)
        whole, late = cut_night(SAMPLE, folder / "whole", LAST), cut_night(SAMPLE, folder / "late", LATE)
        if "inputs" in options.parts:
            rng, settings = drawn(options.seed, "inputs"), _settings(half, _FIRST, options.engine)
            yield inputs.one_by_one(rng, inputs.lines_of(SAMPLE), options.lines)
            yield inputs.records(rng, inputs.captured_records(_RECORDS), options.lines)
            yield inputs.broken_lines(worker, rng, folder, half, settings, options.lines)
            yield inputs.broken_readings(worker, rng, folder, half, settings, 200)
        if "stores" in options.parts:
            steps = [step for step in _NIGHT if not options.steps or step in options.steps]
            yield stores.slow(
                drawn(options.seed, "stores"), folder, _settings(half, _FIRST, options.engine), _NIGHT, steps
            )
        draw, plan = partial(drawn, options.seed), _plan(options.engine, half, whole, late)
        if "store-kills" in options.parts:
            yield from store_kills.kills_on_store(
                draw, folder / "store-kills", _short(options, plan), options.store_kills
            )
        if "cluster-kills" in options.parts:
            yield from cluster_kills.kills_by_cluster(draw, folder / "cluster-kills", _short(options, plan))
        if "holders" in options.parts:
            yield from killed_holders.killed_holders(draw("holders"), folder / "holders", options.holders)
        if "locks" in options.parts:
            rng, settings = drawn(options.seed, "locks"), _settings(half, _FIRST, options.engine)
            yield from locks.locks(rng, folder, settings, *options.schedules)
        if "flips" in options.parts:
            yield from _flips(options, worker, folder, [_settings(n, _FIRST, options.engine) for n in (half, whole)])
        if {"kills", "disks"} & {*options.parts}:
            yield from _steps(options, worker, other, folder, plan)


def _flips(
    options: argparse.Namespace, worker: Worker, folder: Path, nights: list[dict[str, Any]]
) -> Iterator[KillCount]:
    """Audit a night in two halves, and flip bits of its lake."""
    lake = folder / "flips" / "lake"
    lake.mkdir(parents=True)
    for number, settings in enumerate(nights):
        for step in _NIGHT:
            worker.do(step, {**settings, "lake": str(lake), "run_id": f"chaos-{number}"})
    yield from flips.flips(worker, drawn(options.seed, "flips"), lake, _NIGHT, nights[-1], options.flips)


def drawn(seed: int, what: str) -> random.Random:
    """A generator for a part or a step. It depends on the seed alone, not on what was tried before."""
    return random.Random(f"{seed} {what}")


def _steps(
    options: argparse.Namespace, worker: Worker, other: Worker, folder: Path, plan: list[Planned]
) -> Iterator[KillCount]:
    """Run the plan up to the last step that is asked for, and disturb those."""
    lake, began = folder / "lake", folder / "began"
    lake.mkdir()
    wanted_plan = [p for p in plan if not options.steps or {p.step, p.what} & {*options.steps}]
    for planned in plan[: plan.index(wanted_plan[-1]) + 1]:
        if planned.step == "maintain":
            lay_left_overs(lake)
        if planned not in wanted_plan:
            worker.do(planned.step, planned.settings)
            continue
        shutil.copytree(lake, began)
        for outcome in _disturbed(options, worker, other, lake, began, planned):
            outcome.what += f", {planned.night}"
            yield outcome
        shutil.rmtree(began)


def _disturbed(
    options: argparse.Namespace, worker: Worker, other: Worker, lake: Path, began: Path, planned: Planned
) -> Iterator[KillCount]:
    """Disturb one step. The lake's folder ends as an undisturbed run leaves it."""
    step, settings = planned.step, planned.settings
    if "kills" in options.parts:
        rng = drawn(options.seed, f"kills of {planned.what}")
        yield kills(worker, other, rng, lake, step, settings, options.kills, options.real)
    else:
        worker.do(step, settings)
    if "disks" in options.parts:
        case = disks.DiskCase(worker, began, step, settings, contents(lake))
        yield from _disks(case, other, drawn(options.seed, f"disks of {planned.what}"), options.disks)


def _disks(case: disks.DiskCase, other: Worker, rng: random.Random, count: int) -> Iterator[KillCount]:
    try:
        with disks.disk(case.began.parent / "disk"):
            pass
        yield disks.full(case, rng, count)
        yield disks.read_only(case)
    except subprocess.CalledProcessError:
        print("Full and read-only disks are not tried: this user may not mount a tmpfs.", file=sys.stderr)
    yield disks.vanishing(case, rng, count)
    yield disks.set_back(case)
    yield disks.together(case, other)
    if case.step == "ingest":
        yield disks.unreachable(case)


def _plan(engine: str, half: Path, whole: Path, late: Path) -> list[Planned]:
    of_nights = {n: _settings(f, n, engine) for n, f in ((_FIRST, half), (_SECOND, whole), (_THIRD, late))}
    later = {"run_id": "chaos-keep", "run_at": _MONTHS_LATER, "keep": _KEEP}
    return [
        Planned(night, step, {**of_nights[night], **(later if step == "maintain" else {})}) for night, step in _STEPS
    ]


def _short(options: argparse.Namespace, plan: list[Planned]) -> list[tuple[Planned, bool]]:
    """The steps up to the last one that is asked for, and whether each is; without the night with more logs."""
    steps = [p for p in plan if p.night != _SECOND]
    choices = [not options.steps or bool({p.step, p.what} & {*options.steps}) for p in steps]
    last = max(n for n, is_wanted in enumerate(choices) if is_wanted)
    return [*zip(steps, choices, strict=True)][: last + 1]


def _settings(night: Path, name: str, engine: str) -> dict[str, Any]:
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
        "engine": engine,
    }


if __name__ == "__main__":
    sys.exit(main())
