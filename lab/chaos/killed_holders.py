"""A run that holds its cluster is killed: the next run of the cluster takes over, and another cluster never waits."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kafka_hindsight.lake.store import Store
from lab.chaos.kills import KillCount
from lab.chaos.locks import DEAD_AFTER_S, problems_of, small_run
from lab.chaos.stores import BUCKET, store

_OWN, _OTHER = "prod", "test"
_RUNS = {"killed": _OWN, "next": _OWN, "other": _OTHER}


class Waits(NamedTuple):
    """The seconds that a run waited for the lock of its cluster, and for the publication."""

    cluster: float
    publication: float


def killed_holders(rng: random.Random, folder: Path, count: int) -> Iterator[KillCount]:
    """Kill as many holders in a lake on disk, and in one in a store."""
    yield _kills(rng, KillCount("a holder of a lock is killed, on disk"), str(folder / "killed-holders"), count)
    with store(folder):
        place = f"s3a://{BUCKET}/killed-holders"
        yield _kills(rng, KillCount("a holder of a lock is killed, on an object store"), place, count)


def _kills(rng: random.Random, outcome: KillCount, place: str, count: int) -> KillCount:
    for number in range(count):
        lake, at = f"{place}-{number}", rng.uniform(0, 1)
        while not _is_killed(lake, at):
            at, lake = at / 2, f"{lake}-again"
        began = time.monotonic()
        runs = [small_run(lake, _RUNS[name], name, 1) for name in ("next", "other")]
        of_next, of_other = map(_waits, runs)
        took_s = time.monotonic() - began
        _waits(small_run(lake, _OWN, "killed", 2))
        problems = [*problems_of(Store(lake), _RUNS)]
        outcome.attempts += 1
        outcome.equal += not problems
        outcome.whole += of_other.cluster < DEAD_AFTER_S
        outcome.note(
            f"after {at:.2f} s with the lock: the next run waited {of_next.cluster:.1f} s, that of another cluster "
            f"{of_other.cluster:.1f} s, and {of_other.publication:.1f} s for the publication; all {took_s:.1f} s; "
            f"{problems or 'each row once'}"
        )
    return outcome


def _is_killed(lake: str, after_s: float) -> bool:
    """Kill a run some seconds after it has taken its lock. False if it had ended before."""
    holder = small_run(lake, _OWN, "killed", 1)
    assert holder.stdout
    holder.stdout.readline()
    time.sleep(after_s)
    holder.kill()
    return holder.wait() != 0


def _waits(run: subprocess.Popen[str]) -> Waits:
    """Wait until a run has ended well. Raises: RuntimeError if it has not."""
    lines, _ = run.communicate()
    if run.returncode:
        raise RuntimeError(f"A small run ended with {run.returncode}: {run.args!r}")
    waits = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    return Waits(**{name: seconds for wait in waits for name, seconds in wait.items()})
