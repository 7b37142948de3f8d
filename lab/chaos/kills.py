"""Each step stopped at random moments: the lake as a kill leaves it there, asked by readers, and retried."""

from __future__ import annotations

import os
import queue
import random
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_hindsight.catalog import TABLES
from kafka_hindsight.lake import delta_log
from lab.chaos.lakes import Hashes, LakeLook, contents, look_at, others, shows_newest
from lab.chaos.worker import KILLED, Worker


@dataclass
class KillCount:
    """The attempts of one kind, and their outcome."""

    what: str
    attempts: int = 0
    equal: int = 0
    whole: int = 0
    reported: int = 0
    notes: list[str] = field(default_factory=list)

    def note(self, what: str) -> None:
        """Keep what is worth a sentence, and print it at once: a run may take hours."""
        self.notes.append(what)
        print(f"- {self.what}: {what}", file=sys.stderr, flush=True)

    @property
    def holds(self) -> bool:
        """Whether tables, readers and alerts were as they must be each time."""
        return self.attempts == self.equal == self.whole


def kills(
    worker: Worker,
    killed: Worker,
    rng: random.Random,
    lake: Path,
    step: str,
    settings: Mapping[str, Any],
    count: int,
    real: int,
) -> KillCount:
    """Run a step on a lake and leave it done; retry it from `count` moments, `real` of them a kill -9 of `killed`.

    The lake's folder ends as an undisturbed run leaves it.
    """
    outcome = KillCount(f"kill of {step}")
    folder = lake.parent
    began = _copy(lake, folder / f"{step}-before")
    before = look_at(lake).gold
    changes, moments = _stop_often(worker, rng, lake, step, settings, count - real, folder / f"{step}-moments")
    hashes, after = contents(lake), look_at(lake).gold
    places = [*moments, *_killed(killed, rng, began, step, settings, real, changes)]
    looks = [look_at(place) for place in places]
    for place, look, sentences in zip(places, looks, _retried([worker, killed], step, settings, places), strict=True):
        judge(outcome, place, sentences, look, (before, after), hashes)
        shutil.rmtree(place)
    shutil.rmtree(began)
    return outcome


def _retried(
    workers: list[Worker], step: str, settings: Mapping[str, Any], places: Sequence[Path]
) -> Iterator[list[str]]:
    """Run a step again at each place, as many at once as there are workers. Yields its sentences, in order."""
    free = queue.SimpleQueue[Worker]()
    for worker in workers:
        free.put(worker)

    def retry(place: Path) -> list[str]:
        worker = free.get()
        try:
            return worker.run(step, {**settings, "lake": str(place)}).sentences
        finally:
            free.put(worker)

    pool = ThreadPoolExecutor(len(workers))
    try:
        yield from pool.map(retry, places)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def judge(
    outcome: KillCount,
    place: Path | str,
    sentences: list[str],
    look: LakeLook,
    whole: tuple[Hashes, Hashes],
    hashes: Hashes,
) -> None:
    """Count an attempt.

    Args:
        outcome: What is added to.
        place: The lake after the retry.
        sentences: Why the retry failed; empty if it did not.
        look: What readers saw between the kill and the retry.
        whole: What they may see: all of the night before, or all of the night after.
        hashes: The tables that an undisturbed run leaves.
    """
    outcome.attempts += 1
    name = str(place).rpartition("/")[2]
    hashes_now = {} if sentences else contents(place)
    is_equal = hashes_now == hashes and shows_newest(place)
    is_whole = look.gold in whole and not look.unread
    outcome.equal += is_equal
    outcome.whole += is_whole
    outcome.reported += any("not finished" in line for line in look.sentences)
    so_far = f"{outcome.attempts} tried, {outcome.equal} equal, {outcome.whole} whole, {outcome.reported} said so"
    print(f"  {outcome.what}: {so_far}", file=sys.stderr, flush=True)
    if not is_equal:
        outcome.note(f"{name}: {sentences or f'other rows in {others(hashes_now, hashes)}'}")
    if not is_whole:
        mixed = [n for n, h in look.gold.items() if h not in (whole[0][n], whole[1][n])]
        outcome.note(f"{name}: readers saw a mix ({mixed or 'of old and new tables'}); {look.unread}")


def _stop_often(
    worker: Worker, rng: random.Random, lake: Path, step: str, settings: Mapping[str, Any], count: int, to: Path
) -> tuple[int, list[Path]]:
    """One run to its end, stopped at moments: each time the lake is copied as it lies there.

    A moment is a change in tables' logs, or an instant at random, about one a second. Of all of them as many as asked
    for are kept, each with the same chance.

    Returns the number of changes, and the copies.
    """
    places: list[Path] = []
    met, changes, commits, due = 0, 0, _logs(lake), time.monotonic() + rng.expovariate(1)

    def look() -> None:
        nonlocal met, changes, commits, due
        time.sleep(0.003)
        before, commits = commits, _logs(lake)
        changes += commits != before
        if commits == before and time.monotonic() < due:
            return
        met, due = met + 1, time.monotonic() + rng.expovariate(1)
        number = len(places) if len(places) < count else rng.randrange(met)
        if number < count:
            with worker.suspended():
                shutil.rmtree(to / f"{number:04d}", ignore_errors=True)
                place = _copy(lake, to / f"{number:04d}")
            places[number:] = [place, *places[number + 1 :]]

    worker.do(step, {**settings, "lake": str(lake)}, look)
    return changes, places


def _killed(
    worker: Worker, rng: random.Random, began: Path, step: str, settings: Mapping[str, Any], count: int, changes: int
) -> Iterator[Path]:
    """The lake after a kill -9 shortly after a change in tables' logs, each from the same beginning.

    A run that ended before the kill does not count. The next one is killed earlier.
    """
    for number in range(count):
        place, commits_left = began.parent / f"{step}-killed-{number}", rng.randint(1, changes)
        while not _is_killed(worker, rng, _copy(began, place), step, settings, commits_left):
            shutil.rmtree(place)
            commits_left = max(1, commits_left // 2)
        yield place


def _is_killed(
    worker: Worker, rng: random.Random, place: Path, step: str, settings: Mapping[str, Any], commits_left: int
) -> bool:
    commits = _logs(place)

    def look() -> None:
        nonlocal commits_left, commits
        time.sleep(0.003)
        before, commits = commits, _logs(place)
        commits_left -= commits != before
        if not commits_left:
            time.sleep(rng.uniform(0, 0.1))
            worker.kill()

    return worker.run(step, {**settings, "lake": str(place)}, look).code == KILLED


_LOGS = tuple(f"/{table.layer}/{table.name}/{delta_log.FOLDER}" for table in TABLES)


def _logs(lake: Path) -> tuple[int, ...]:
    """The time of the last change in each table's log folder. Cheap: it is read hundreds of times a second."""
    return tuple(_changed(f"{lake}{log}") for log in _LOGS)


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 (a Path for each would cost more than the question)
    except FileNotFoundError:
        return 0


def _copy(lake: Path, to: Path) -> Path:
    """Copy a lake. A thread of a writer that is being stopped may still rename a file: then copy again."""
    try:
        shutil.copytree(lake, to, symlinks=True)
    except shutil.Error:
        shutil.rmtree(to)
        shutil.copytree(lake, to, symlinks=True)
    return to
