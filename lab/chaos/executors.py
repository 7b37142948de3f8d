"""A standalone cluster of two executors, of which one is killed while a step works."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from kafka_hindsight.catalog.steps import BY_NAME
from lab.bench.cluster import cluster
from lab.chaos.kills import KillCount
from lab.chaos.lakes import contents
from lab.chaos.worker import Worker

_WORKERS = 2
_MAIN = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


def killed(rng: random.Random, folder: Path, settings: Mapping[str, Any], steps: Sequence[str]) -> KillCount:
    """Steps by a cluster, and beside them in one process: each leaves equal tables.

    While a step that is spread works, one executor is killed (kill -9) within its first seconds.
    """
    beside, by_cluster = folder / "beside", folder / "by-cluster"
    outcome = KillCount(f"{', '.join(steps)} by a cluster, of which an executor is killed")
    with cluster(folder / "cluster", _WORKERS) as master:
        also = {"HINDSIGHT_SPARK_CONF": f"spark.master={master}"}
        with closing(Worker(folder / "driver", also=also)) as driver, closing(Worker(folder / "alone")) as alone:
            for step in steps:
                alone.do(step, {**settings, "lake": str(beside), "engine": "local"})
                kill = _Kill(rng, folder / "cluster") if BY_NAME[step].is_spread else None
                answer = driver.run(step, {**settings, "lake": str(by_cluster), "engine": "spark"}, kill)
                is_equal = not answer.sentences and contents(by_cluster) == contents(beside)
                outcome.attempts += 1
                outcome.equal += is_equal
                outcome.whole += not answer.sentences
                lost = f"executor killed after {kill.after_s:.1f} s" if kill and kill.after_s else "no executor killed"
                outcome.note(f"{step}: {lost}; {answer.sentences or ('equal' if is_equal else 'NOT equal')}")
    return outcome


class _Kill:
    """Kills one executor, some seconds after all are there."""

    def __init__(self, rng: random.Random, folder: Path) -> None:
        self._folder, self._wait_s = folder, rng.uniform(1, 8)
        self._since: float | None = None
        self.after_s = 0.0

    def __call__(self) -> None:
        """Look once."""
        time.sleep(0.5)
        executors = list(_executors(self._folder))
        if len(executors) == _WORKERS and self._since is None:
            self._since = time.monotonic()
        if self._since and not self.after_s and time.monotonic() - self._since >= self._wait_s and executors:
            os.kill(executors[0], signal.SIGKILL)
            self.after_s = time.monotonic() - self._since


def _executors(folder: Path) -> Iterator[int]:
    """The processes of executors whose working directory lies in a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if _MAIN.encode() in (process / "cmdline").read_bytes() and (process / "cwd").readlink().is_relative_to(
                folder
            ):
                yield int(process.name)
