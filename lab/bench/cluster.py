"""Past one machine: ingest and rebuild on a standalone cluster, whose workers share nothing but input and lake.

`python -m lab.bench.cluster [--workers 3] [--mb 1000]` starts a master and workers on this host, each with one core,
a working directory and scratch of its own and without the project on its Python path; runs both steps; prints the tasks
by executor, and every stage that had fewer tasks than the cluster has cores.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start import launch
from lab.bench import nights, works

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
STEPS = ("ingest", "rebuild")
READY = 300
"""Seconds that a daemon may take to say where it listens."""

SHORT_S = 2.0
"""A stage of less task time is planned, not computed: it may have fewer tasks than there are cores."""

_MASTER_AT = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")
_LOG4J = """\
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.target = SYSTEM_OUT
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %p %c{1}: %m%n
"""


@dataclass
class Executor:
    """The work of one executor. Times in seconds, sizes in bytes."""

    tasks: int = 0
    run_s: float = 0.0
    read: int = 0
    shuffled: int = 0


@dataclass
class SparkStage:
    """One stage: its tasks, and how they were spread."""

    stage_id: int
    name: str
    tasks: int
    run_s: float = 0.0
    longest_s: float = 0.0
    read: int = 0
    shuffled: int = 0
    spilled: int = 0
    by_executor: dict[str, int] = field(default_factory=lambda: defaultdict(int))


@dataclass
class ApplicationWork:
    """The work of an application, by its event log."""

    executors: dict[str, Executor]
    stages: list[SparkStage]

    def narrow(self, cores: int) -> list[SparkStage]:
        """Stages that leave cores idle: fewer tasks than cores, and more time than planning takes."""
        return [s for s in self.stages if s.tasks < cores and s.run_s >= SHORT_S]


def main() -> None:
    """Run both steps on a cluster and print how the work was spread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--mb", type=float, default=1000.0, help="megabytes of logs")
    parser.add_argument("--folder", type=Path, default=HOME / ".bench", help="where inputs are kept")
    parser.add_argument("--json", action="store_true", help="print figures instead of a table")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    figures = measure(nights.make_night(options.folder, options.mb), options.workers)
    print(json.dumps(figures) if options.json else "\n".join(described(figures)))


def measure(night: Path, workers: int) -> dict[str, Any]:
    """Run both steps on a cluster. Returns for each its seconds, executors, stages, and narrow stages."""
    os.environ.update(launch.spark_variables())
    time.tzset()
    figures: dict[str, Any] = {
        "workers": workers,
        "read_mb": sum(f.stat().st_size for f in nights.logs_of(night)) / 1e6,
    }
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder), workers) as master:
        lake = Path(folder) / "lake"
        for step in STEPS:
            logs = Path(folder) / f"events-{step}"
            logs.mkdir()
            began = time.monotonic()
            origins = _run(step, night, lake, master, logs)
            spread = _spread(read_work(_events(logs)), workers)
            figures[step] = {"seconds": round(time.monotonic() - began, 1), "code_from": origins, **spread}
    return figures


def _spread(work: ApplicationWork, workers: int) -> dict[str, Any]:
    """How the work was spread, as figures."""
    return {
        "executors": {name: vars(e) for name, e in sorted(work.executors.items())},
        "stages": len(work.stages),
        "narrow": [vars(s) for s in work.narrow(workers)],
        "shuffled": sum(s.shuffled for s in work.stages),
        "spilled": sum(s.spilled for s in work.stages),
    }


def _run(step: str, night: Path, lake: Path, master: str, logs: Path) -> dict[str, str]:
    """Run one step as an application of its own. Returns where the Python of each executor found our code."""
    also = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": logs.as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.executor.memory": "2g",
    }
    spark = works.start_session(night, master, also)
    try:
        if step == "ingest":
            works.ingested(works.workers_of(spark), night, lake, with_snapshots=True)
        else:
            works.rebuilt(works.workers_of(spark), lake)
        return _origins(spark)
    finally:
        spark.stop()


def _origins(spark: SparkSession) -> dict[str, str]:
    """Where the Python of each executor found our code, as seen from its own working directory, by worker."""

    def where(_: int) -> tuple[str, str]:
        """On an executor, which has no bench: a function in a function goes there as it is, not by its name."""
        import kafka_hindsight

        path, here = Path(str(kafka_hindsight.__file__)).absolute(), Path.cwd()
        own = path.is_relative_to(here)
        return here.parents[1].name, str(path.relative_to(here)) if own else "a folder that is not its own"

    return dict(spark.sparkContext.parallelize(range(64), 64).map(where).distinct().collect())


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """Run a master and workers on this host until the block ends. Yields the master's address."""
    with _daemon(folder / "master", _MASTER_AT, MASTER, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0") as (
        ready
    ):
        master = ready[1]
        with _workers(folder, workers, master):
            yield master


@contextmanager
def _workers(folder: Path, count: int, master: str) -> Iterator[None]:
    if not count:
        yield
        return
    own = folder / f"worker-{count}"
    flags = ("--host", "127.0.0.1", "--cores", "1", "--memory", "2500m", "--work-dir", str(own), "--webui-port", "0")
    with _daemon(own, _REGISTERED, WORKER, *flags, master), _workers(folder, count - 1, master):
        yield


@contextmanager
def _daemon(own: Path, ready: re.Pattern[str], main_class: str, *arguments: str) -> Iterator[re.Match[str]]:
    """Run one of Spark's daemons in a folder of its own. Yields the line that shows it is ready.

    Raises RuntimeError with its last lines where it does not become ready.
    """
    own.mkdir(parents=True)
    (own / "log4j2.properties").write_text(_LOG4J)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SPARK_HOME")}
    environment |= {
        "SPARK_HOME": str(launch.spark_home()),
        "SPARK_LOCAL_DIRS": str(own / "scratch"),
        "SPARK_DAEMON_JAVA_OPTS": f"-Dlog4j2.configurationFile={(own / 'log4j2.properties').as_uri()}",
    }
    command = [str(launch.spark_home() / "bin" / "spark-class"), main_class, *arguments]
    with (own / "daemon.log").open("w") as log:
        process = subprocess.Popen(command, cwd=own, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield _wait_for(own / "daemon.log", ready, process)
    finally:
        process.terminate()
        process.wait()


def _wait_for(log: Path, ready: re.Pattern[str], process: subprocess.Popen[bytes]) -> re.Match[str]:
    until = time.monotonic() + READY
    while time.monotonic() < until and process.poll() is None:
        if match := ready.search(log.read_text()):
            return match
        time.sleep(0.2)
    raise RuntimeError(f"A daemon of Spark did not become ready within {READY} s:\n{log.read_text()[-2000:]}")


def _events(logs: Path) -> Iterator[Mapping[str, Any]]:
    for path in sorted(logs.iterdir()):
        with path.open() as file:
            yield from map(json.loads, file)


def read_work(events: Iterable[Mapping[str, Any]]) -> ApplicationWork:
    """The work of an application, from its event log. Stages that were skipped have no tasks and are left out."""
    executors: dict[str, Executor] = defaultdict(Executor)
    stages: dict[int, SparkStage] = {}
    for event in events:
        if event["Event"] == "SparkListenerStageSubmitted":
            info = event["Stage Info"]
            number = info["Stage ID"]
            stages.setdefault(number, SparkStage(number, _operators(info), info["Number of Tasks"]))
        elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            _add(event, executors[event["Task Info"]["Executor ID"]], stages[event["Stage ID"]])
    return ApplicationWork(dict(executors), [stage for stage in stages.values() if stage.by_executor])


def _operators(info: Mapping[str, Any]) -> str:
    """The work of a stage: the operators of its plan, each once. Call sites would name places of this machine."""
    scopes = (json.loads(r["Scope"])["name"].partition(" - ")[0].strip() for r in info["RDD Info"] if "Scope" in r)
    return ", ".join(dict.fromkeys(scopes))


def _add(event: Mapping[str, Any], executor: Executor, stage: SparkStage) -> None:
    metrics = event["Task Metrics"]
    seconds = metrics["Executor Run Time"] / 1000
    bytes_read, shuffled = (
        metrics["Input Metrics"]["Bytes Read"],
        metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"],
    )
    for side in (executor, stage):
        side.run_s += seconds
        side.read += bytes_read
        side.shuffled += shuffled
    executor.tasks += 1
    stage.longest_s = max(stage.longest_s, seconds)
    stage.spilled += metrics["Disk Bytes Spilled"]
    stage.by_executor[event["Task Info"]["Executor ID"]] += 1


def described(figures: Mapping[str, Any]) -> Iterator[str]:
    """How the work was spread, for people."""
    cores = figures["workers"]
    for step in (s for s in STEPS if s in figures):
        run = figures[step]
        yield f"{step}: {run['seconds']} s, {run['stages']} stages"
        for name, executor in run["executors"].items():
            yield (
                f"  executor {name}: {executor['tasks']} tasks, {executor['run_s']:.1f} s of task time, "
                f"{executor['read'] / 1e6:.0f} MB read, {executor['shuffled'] / 1e6:.1f} MB shuffled"
            )
        for place, origin in sorted(run["code_from"].items()):
            yield f"  {place} imports our code from {origin}"
        narrow = run["narrow"]
        yield f"  stages of fewer than {cores} tasks that take {SHORT_S:.0f} s or more: {len(narrow) or 'none'}"
        for stage in narrow:
            yield f"    stage {stage['stage_id']}: {stage['tasks']} tasks, {stage['run_s']:.1f} s: {stage['name']}"


if __name__ == "__main__":
    main()
