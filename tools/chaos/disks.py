"""Disks that are full, read-only or away, a clock that was set back, and two runs at once: a step, then its retry."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tools.chaos.kills import Tried
from tools.chaos.lakes import contents
from tools.chaos.worker import Answer, Worker

_ROOM = "512m"
_LEFT_MOST = 300_000
"""Bytes left on a full disk, at most: less than any step writes here."""

_ANSWERS_WITHIN = 120
"""Seconds after which a step has said that a store does not answer."""

Settings = Mapping[str, Any]


@contextmanager
def disk(folder: Path) -> Iterator[Path]:
    """A file system in memory at a folder. Raises: CalledProcessError where this user may not mount one."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_ROOM}", "chaos", folder], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


def full(worker: Worker, rng: random.Random, began: Path, step: str, settings: Settings, count: int) -> Tried:
    """A step on a disk with little room left, then with room again."""
    tried = Tried(f"disk full in {step}")
    for _ in range(count):
        with disk(began.parent / "disk") as mounted:
            lake = shutil.copytree(began, mounted / "lake")
            left, ballast = rng.randrange(_LEFT_MOST), mounted / "ballast"
            with ballast.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(mounted).free - left)
            first = worker.run(step, {**settings, "lake": str(lake)})
            ballast.unlink()
            _retried(tried, worker, lake, step, settings, first, f"{left} bytes left", "No space left on device")
    return tried


def read_only(worker: Worker, began: Path, step: str, settings: Settings) -> Tried:
    """A step on a lake that cannot be written, then on one that can."""
    tried = Tried(f"read-only lake in {step}")
    with disk(began.parent / "disk") as mounted:
        lake = shutil.copytree(began, mounted / "lake")
        subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
        first = worker.run(step, {**settings, "lake": str(lake)})
        subprocess.run(["mount", "-o", "remount,rw", mounted], check=True)
        _retried(tried, worker, lake, step, settings, first, "read-only", "cannot be written")
    return tried


def vanishing(worker: Worker, rng: random.Random, began: Path, step: str, settings: Settings, count: int) -> Tried:
    """A lake that is moved away while a step works, and comes back."""
    tried = Tried(f"lake away in {step}")
    for number in range(count):
        lake = shutil.copytree(began, began.parent / f"away-{number}")
        gone, end = lake.with_suffix(".gone"), time.monotonic() + rng.uniform(0.3, 6)

        def move(lake: Path = lake, gone: Path = gone, end: float = end) -> None:
            time.sleep(0.02)
            if time.monotonic() >= end and not gone.exists():
                lake.rename(gone)

        first = worker.run(step, {**settings, "lake": str(lake)}, move)
        if gone.exists():
            shutil.rmtree(lake, ignore_errors=True)
            gone.rename(lake)
        _retried(tried, worker, lake, step, settings, first, "away", "")
        shutil.rmtree(lake)
    return tried


def set_back(worker: Worker, began: Path, step: str, settings: Settings) -> Tried:
    """A run a day before the last change of the lake's files: the clock was set back."""
    tried = Tried(f"clock set back before {step}")
    lake = shutil.copytree(began, began.parent / "set-back")
    tomorrow = time.time() + 86_400
    for file in lake.rglob("*"):
        os.utime(file, (tomorrow, tomorrow))
    yesterday = (datetime.fromisoformat(settings["run_at"]) - timedelta(days=1)).isoformat()
    first = worker.run(step, {**settings, "lake": str(lake), "run_at": yesterday})
    _retried(tried, worker, lake, step, settings, first, "set back", None)
    shutil.rmtree(lake)
    return tried


def together(worker: Worker, other: Worker, began: Path, step: str, settings: Settings) -> Tried:
    """Two processes that run the same step on one lake at once."""
    tried = Tried(f"two runs of {step} at once")
    lake = shutil.copytree(began, began.parent / "together")
    given, answers = {**settings, "lake": str(lake)}, list[Answer]()
    beside = threading.Thread(target=lambda: answers.append(other.run(step, {**given, "run_id": "chaos-other"})))
    beside.start()
    answers.append(worker.run(step, given))
    beside.join()
    failed = next((a for a in answers if a.sentences), Answer(0, []))
    _retried(tried, worker, lake, step, settings, failed, "together", None)
    shutil.rmtree(lake)
    return tried


def unreachable(worker: Worker, step: str, settings: Settings) -> Tried:
    """Logs in a store of which nothing answers: a sentence that says so, within a bound."""
    began = time.monotonic()
    answer = worker.run(step, {**settings, "logs": "hdfs://127.0.0.1:1/logs"})
    took = time.monotonic() - began
    tried = Tried(f"store that does not answer in {step}", 1)
    tried.equal = tried.told = int("Connection refused" in " ".join(answer.sentences))
    tried.whole = int(took < _ANSWERS_WITHIN)
    tried.note(f"exit code {answer.code} after {took:.0f} s, “{answer.said[:200]}”")
    return tried


def _retried(
    tried: Tried,
    worker: Worker,
    lake: Path,
    step: str,
    settings: Settings,
    first: Answer,
    why: str,
    needed: str | None,
) -> None:
    """Judges a first run and its retry. `needed`: what its sentence must say; None where it must not fail at all."""
    again = worker.run(step, {**settings, "lake": str(lake)})
    wanted = _undisturbed(worker, lake, step, settings)
    tried.tried += 1
    is_equal = not again.sentences and contents(lake) == wanted
    is_told = not first.sentences if needed is None else not first.sentences or needed in " ".join(first.sentences)
    tried.equal += is_equal
    tried.whole += is_told
    tried.told += bool(first.sentences)
    if first.sentences or not (is_equal and is_told):
        then = "equal after a retry" if is_equal else f"NOT equal after a retry: {again.sentences}"
        tried.note(f"{why}: exit code {first.code}, “{first.said[:200]}”; {then}")


_WANTED: dict[tuple[str, str], dict[str, str]] = {}


def _undisturbed(worker: Worker, lake: Path, step: str, settings: Settings) -> dict[str, str]:
    return _WANTED[step, settings["run_id"]]


def is_wanted(step: str, settings: Settings, hashes: dict[str, str]) -> None:
    """Keeps what a step leaves where nothing disturbs it."""
    _WANTED[step, settings["run_id"]] = hashes
