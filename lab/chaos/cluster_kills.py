"""Steps by a standalone cluster of Spark: the driver, its Java, an executor or a Python worker is killed meanwhile."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from kafka_hindsight.catalog.steps import BY_NAME, MAINTAIN
from lab.bench.cluster import cluster
from lab.chaos.kills import KillCount, judge
from lab.chaos.lakes import contents, lay_left_overs, look_at, others
from lab.chaos.night import Planned
from lab.chaos.worker import Worker

DRIVER, JAVA, EXECUTOR, PYTHON = "driver", "driver's Java", "executor", "Python worker"
_OF_SPARK = (DRIVER, JAVA, EXECUTOR, PYTHON)
"""The processes of a step that the cluster does, each of which is killed. Of another step it is the driver."""

_WORKERS = 2
_MAINS = {JAVA: b"org.apache.spark.deploy.SparkSubmit", EXECUTOR: b"CoarseGrainedExecutorBackend"}
_FORKS = b"pyspark.daemon"
"""The module of the process that an executor starts, and of those that it forks: the Python workers."""

_LEAST_S = 0.2
"""A run that was to be killed so soon, and ended before, is not tried again."""


def kills_by_cluster(
    draw: Callable[[str], random.Random], folder: Path, plan: Sequence[tuple[Planned, bool]]
) -> Iterator[KillCount]:
    """Run a plan by a cluster, and beside it in one process; kill each process of steps once.

    A step that does not survive it runs again. Then the tables are those of one process. The plan names with each step
    whether it is killed.
    """
    beside, lake = folder / "beside", folder / "by-cluster"
    lake.mkdir(parents=True)
    with cluster(folder / "cluster", _WORKERS) as master:
        also = {"HINDSIGHT_SPARK_CONF": f"spark.master={master}"}
        with closing(Worker(folder / "driver", also=also)) as driver, closing(Worker(folder / "alone")) as alone:
            for planned, is_disturbed in plan:
                if planned.step == MAINTAIN.name:
                    lay_left_overs(lake)
                alone.do(planned.step, {**planned.settings, "lake": str(beside), "engine": "local"})
                if not is_disturbed:
                    driver.do(planned.step, {**planned.settings, "lake": str(lake), "engine": "spark"})
                    continue
                rng = draw(f"kills by a cluster of {planned.what}")
                yield _kills(driver, rng, folder, lake, planned, contents(beside))


def _kills(
    driver: Worker, rng: random.Random, folder: Path, lake: Path, planned: Planned, expected: Mapping[str, str]
) -> KillCount:
    """Kill each process of a step, each time from the same beginning. The lake ends as an undisturbed run leaves it."""
    outcome = KillCount(f"kill of {planned.what} by a cluster")
    settings: dict[str, Any] = {**planned.settings, "engine": "spark"}
    before, began = look_at(lake).gold, Path(shutil.copytree(lake, folder / "began"))
    started = time.monotonic()
    driver.do(planned.step, {**settings, "lake": str(lake)})
    took_s, after = time.monotonic() - started, look_at(lake).gold
    if differing := others(contents(lake), dict(expected)):
        outcome.note(f"undisturbed: other rows than in one process in {differing}")
    for victim in _OF_SPARK if BY_NAME[planned.step].is_spread else (DRIVER,):
        wait_s, place = rng.uniform(0, took_s), folder / f"{planned.step}-{victim.replace(' ', '-')}"
        while True:
            shutil.copytree(began, place)
            kill = _Kill(driver, victim, folder / "cluster", wait_s)
            answer = driver.run(planned.step, {**settings, "lake": str(place)}, kill)
            if kill.after_s or wait_s < _LEAST_S:
                break
            wait_s /= 2
            shutil.rmtree(place)
        if victim == JAVA:
            driver.start_again()
        look = look_at(place)
        again = driver.run(planned.step, {**settings, "lake": str(place)}).sentences if answer.sentences else []
        outcome.note(f"{victim} after {kill.after_s:.1f} s of {took_s:.1f}: {answer.text or 'the step went on'}")
        judge(outcome, place, again, look, (before, after), dict(expected))
        shutil.rmtree(place)
    shutil.rmtree(began)
    return outcome


class _Kill:
    """Kills one process of a step, some seconds after the step began, as soon as there is one."""

    def __init__(self, driver: Worker, victim: str, folder: Path, wait_s: float) -> None:
        self._driver, self._victim, self._folder = driver, victim, folder
        self._began, self._wait_s = time.monotonic(), wait_s
        self.after_s = 0.0

    def __call__(self) -> None:
        """Look once."""
        time.sleep(0.02)
        now_s = time.monotonic() - self._began
        if self.after_s or now_s < self._wait_s:
            return
        if self._victim == DRIVER:
            self._driver.kill()
        elif process := next(self._processes(), None):
            os.kill(process, signal.SIGKILL)
        else:
            return
        self.after_s = now_s

    def _processes(self) -> Iterator[int]:
        if self._victim == JAVA:
            return (p for p, command, _ in _running() if _MAINS[JAVA] in command and _is_of(self._driver, p))
        in_folder = [entry for entry in _running() if _is_below(entry[0], self._folder)]
        if self._victim == EXECUTOR:
            return (p for p, command, _ in in_folder if _MAINS[EXECUTOR] in command)
        return _forks(in_folder)


def _forks(running: Iterable[tuple[int, bytes, int]]) -> Iterator[int]:
    """The Python workers, the youngest first: children of a process that runs the same module."""
    of_python = {process: parent for process, command, parent in running if _FORKS in command}
    return (process for process in sorted(of_python, reverse=True) if of_python[process] in of_python)


def _running() -> Iterator[tuple[int, bytes, int]]:
    """Each process: its id, its command line and its parent."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state = (folder / "stat").read_text(errors="replace").rpartition(") ")[2].split()
            yield int(folder.name), (folder / "cmdline").read_bytes(), int(state[1])


def _is_below(process: int, folder: Path) -> bool:
    """Whether the working directory of a process lies in a folder."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cwd").readlink().is_relative_to(folder)
    return False


def _is_of(worker: Worker, process: int) -> bool:
    with suppress(OSError):
        return os.getpgid(process) == worker.process_id
    return False
