"""Disks that are full, read-only or away, a clock that was set back, and two runs at once: a step, then its retry."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from lab.chaos.kills import KillCount
from lab.chaos.lakes import Hashes, contents, others
from lab.chaos.worker import StepEnd, Worker

_ROOM = "512m"
_LEFT_MOST = 100_000
"""Bytes left on a full disk, at most: less than any step writes here."""

_ANSWERS_WITHIN = 120
"""Seconds after which a step has said that a store does not answer."""

_NOBODY = {
    "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "verysecret",
    "AWS_REGION": "us-east-1",
}
"""A store of which nothing answers."""

_OTHER = "chaos-other"
"""The run of another Airflow, whose own steps before this one ended too."""


class DiskCase(NamedTuple):
    """A step on a lake, who runs it, and what it leaves where nothing disturbs it."""

    worker: Worker
    began: Path
    step: str
    settings: Mapping[str, Any]
    hashes: Hashes

    def run(self, lake: Path, meanwhile: Callable[[], None] | None = None, **others: str) -> StepEnd:
        """Run the step on a copy of the lake, with other settings where they are given."""
        return self.worker.run(self.step, {**self.settings, "lake": str(lake), **others}, meanwhile)


@contextmanager
def disk(folder: Path) -> Iterator[Path]:
    """A file system in memory at a folder. Raises CalledProcessError where this user may not mount one."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_ROOM}", "chaos", folder], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


def full(case: DiskCase, rng: random.Random, count: int) -> KillCount:
    """A step on a disk with little room left, then with room again."""
    outcome = KillCount(f"disk full in {case.step}")
    for _ in range(count):
        with disk(case.began.parent / "disk") as mounted:
            lake = shutil.copytree(case.began, mounted / "lake")
            free_bytes, ballast = rng.randrange(_LEFT_MOST), mounted / "ballast"
            with ballast.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(mounted).free - free_bytes)
            first = case.run(lake)
            ballast.unlink()
            _retried(outcome, case, lake, first, f"{free_bytes} bytes left", "No space left on device")
    return outcome


def read_only(case: DiskCase) -> KillCount:
    """A step on a lake that cannot be written, then on one that can."""
    outcome = KillCount(f"read-only lake in {case.step}")
    with disk(case.began.parent / "disk") as mounted:
        lake = shutil.copytree(case.began, mounted / "lake")
        subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
        first = case.run(lake)
        subprocess.run(["mount", "-o", "remount,rw", mounted], check=True)
        _retried(outcome, case, lake, first, "read-only", "cannot be written")
    return outcome


def vanishing(case: DiskCase, rng: random.Random, count: int) -> KillCount:
    """A lake that is moved away while a step works, and comes back."""
    outcome = KillCount(f"lake away in {case.step}")
    for number in range(count):
        lake = shutil.copytree(case.began, case.began.parent / f"away-{number}")
        moved, end = lake.with_suffix(".gone"), time.monotonic() + rng.uniform(0.3, 6)

        def move(lake: Path = lake, moved: Path = moved, end: float = end) -> None:
            time.sleep(0.02)
            if time.monotonic() >= end and not moved.exists():
                lake.rename(moved)

        first = case.run(lake, move)
        if moved.exists():
            shutil.rmtree(lake, ignore_errors=True)
            moved.rename(lake)
        _retried(outcome, case, lake, first, "away", "")
        shutil.rmtree(lake)
    return outcome


def set_back(case: DiskCase) -> KillCount:
    """A run a day before the last change of the lake's files: the clock was set back."""
    outcome = KillCount(f"clock set back before {case.step}")
    lake = shutil.copytree(case.began, case.began.parent / "set-back")
    tomorrow = time.time() + 86_400
    for file in lake.rglob("*"):
        os.utime(file, (tomorrow, tomorrow))
    yesterday = (datetime.fromisoformat(case.settings["run_at"]) - timedelta(days=1)).isoformat()
    first = case.run(lake, run_at=yesterday)
    _retried(outcome, case, lake, first, "set back", None)
    shutil.rmtree(lake)
    return outcome


def together(case: DiskCase, other: Worker) -> KillCount:
    """Two processes that run a step on one lake at once, each for its own run: as if one had run after the other."""
    outcome = KillCount(f"two runs of {case.step} at once")
    lake = shutil.copytree(case.began, case.began.parent / "together")
    if (earlier := lake / "runs" / case.settings["run_id"]).exists():
        shutil.copytree(earlier, earlier.with_name(_OTHER))
    after = shutil.copytree(lake, lake.with_name("one-after-the-other"))
    for run_id in (case.settings["run_id"], _OTHER):
        case.worker.do(case.step, {**case.settings, "lake": str(after), "run_id": run_id})
    answers = list[StepEnd]()
    beside = threading.Thread(target=lambda: answers.append(case._replace(worker=other).run(lake, run_id=_OTHER)))
    beside.start()
    answers.append(case.run(lake))
    beside.join()
    failed = next((a for a in answers if a.sentences), StepEnd(0, []))
    _retried(outcome, case._replace(hashes=contents(after)), lake, failed, "together", None)
    shutil.rmtree(lake)
    shutil.rmtree(after)
    return outcome


def unreachable(case: DiskCase) -> KillCount:
    """Logs in a store of which nothing answers: a sentence that says so, within a bound."""
    with patch.dict(os.environ, _NOBODY), closing(Worker(case.began.parent / "unreachable")) as worker:
        began = time.monotonic()
        answer = case._replace(worker=worker).run(case.began, logs="s3a://nobody/logs")
        took = time.monotonic() - began
    outcome = KillCount(f"store that does not answer in {case.step}", 1)
    outcome.equal = outcome.reported = int("Could not connect" in " ".join(answer.sentences))
    outcome.whole = int(took < _ANSWERS_WITHIN)
    outcome.note(f"exit code {answer.code} after {took:.0f} s, “{answer.text[:200]}”")
    return outcome


def _retried(outcome: KillCount, case: DiskCase, lake: Path, first: StepEnd, why: str, sentence: str | None) -> None:
    """Judge a first run and its retry. `sentence`: what its sentence must say; None where it must not fail at all."""
    again = case.run(lake)
    hashes = {} if again.sentences else contents(lake)
    outcome.attempts += 1
    is_equal = hashes == case.hashes
    is_reported = not first.sentences or (sentence is not None and sentence in " ".join(first.sentences))
    outcome.equal += is_equal
    outcome.whole += is_reported
    outcome.reported += bool(first.sentences)
    if first.sentences or not (is_equal and is_reported):
        then = "equal" if is_equal else f"NOT equal: {again.sentences or others(hashes, case.hashes)}"
        outcome.note(f"{why}: exit code {first.code}, “{first.text[:200]}”; after a retry {then}")
