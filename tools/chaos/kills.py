"""Each step stopped at random moments: the lake as a kill leaves it there, asked by readers, and retried."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.chaos.lakes import Hashes, Seen, contents, seen
from tools.chaos.worker import Worker


@dataclass
class Tried:
    """What was tried of one kind, and what came of it."""

    what: str
    tried: int = 0
    equal: int = 0
    whole: int = 0
    told: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether tables, readers and alerts were as they must be each time."""
        return self.tried == self.equal == self.whole


def kills(
    worker: Worker,
    rng: random.Random,
    lake: Path,
    step: str,
    settings: Mapping[str, Any],
    count: int,
    real: int,
) -> Tried:
    """Runs a step on a lake and leaves it done; retries it from `count` moments, `real` of them a kill -9.

    Keeps: the lake's folder is as an undisturbed run leaves it.
    """
    tried = Tried(step)
    folder = lake.parent
    began = _copy(lake, folder / f"{step}-before")
    before = seen(lake).gold
    took, moments = _stopped(worker, rng, lake, step, settings, count - real, folder / f"{step}-moments")
    wanted, after = contents(lake), seen(lake).gold
    places = [*moments, *_killed(worker, rng, began, step, settings, real, took)]
    for place in places:
        look = seen(place)
        answer = worker.run(step, {**settings, "lake": str(place)})
        _judge(tried, place, answer.sentences, look, (before, after), wanted)
        shutil.rmtree(place)
    shutil.rmtree(began)
    return tried


def _judge(
    tried: Tried, place: Path, sentences: list[str], look: Seen, whole: tuple[Hashes, Hashes], wanted: Hashes
) -> None:
    tried.tried += 1
    found = {} if sentences else contents(place)
    is_equal = found == wanted and seen(place).gold == whole[1]
    is_whole = look.gold in whole and not look.unread
    tried.equal += is_equal
    tried.whole += is_whole
    tried.told += any("not finished" in line for line in look.said)
    if not is_equal:
        other = sorted(n for n in {*found, *wanted} if found.get(n) != wanted.get(n))
        tried.notes.append(f"{place.name}: {sentences or f'other rows in {other}'}")
    if not is_whole:
        mixed = [n for n, h in look.gold.items() if h not in (whole[0][n], whole[1][n])]
        tried.notes.append(f"{place.name}: readers saw a mix ({mixed or 'of old and new tables'}); {look.unread}")


def _stopped(
    worker: Worker, rng: random.Random, lake: Path, step: str, settings: Mapping[str, Any], count: int, to: Path
) -> tuple[float, list[Path]]:
    """One run to its end, stopped at moments: each time the lake is copied as it lies there.

    Half of the moments are right after a change in a table's log, half at any instant.
    """
    places: list[Path] = []
    known, due = _logs(lake), time.monotonic() + rng.expovariate(1)

    def look() -> None:
        nonlocal known, due
        time.sleep(0.003)
        before, known = known, _logs(lake)
        is_due = time.monotonic() >= due or (known != before and rng.random() < _SHARE)
        if is_due and len(places) < 4 * count:
            with worker.stopped():
                places.append(_copy(lake, to / f"{len(places):04d}"))
            due = time.monotonic() + rng.expovariate(1)

    began = time.monotonic()
    answer = worker.run(step, {**settings, "lake": str(lake)}, look)
    if answer.sentences:
        raise RuntimeError(f"{step} failed undisturbed: {answer.sentences}")
    kept = set(rng.sample(places, min(count, len(places))))
    for place in places:
        if place not in kept:
            shutil.rmtree(place)
    return time.monotonic() - began, sorted(kept)


_SHARE = 0.3
"""Of the changes in tables' logs after which a run is stopped."""


def _killed(
    worker: Worker, rng: random.Random, began: Path, step: str, settings: Mapping[str, Any], count: int, took: float
) -> Iterator[Path]:
    """The lake after a kill -9 at a moment of the step, each from the same beginning."""
    for number in range(count):
        place = _copy(began, began.parent / f"{step}-killed-{number}")
        end = time.monotonic() + rng.uniform(0.02, 0.98) * took

        def look(end: float = end) -> None:
            time.sleep(0.02)
            if time.monotonic() >= end:
                worker.kill()

        worker.run(step, {**settings, "lake": str(place)}, look)
        yield place


def _logs(lake: Path) -> frozenset[str]:
    return frozenset(str(file) for file in lake.glob("*/*/_delta_log/*"))


def _copy(lake: Path, to: Path) -> Path:
    shutil.copytree(lake, to, symlinks=True)
    return to
