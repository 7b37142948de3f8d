"""The pieces of work that the bench measures. Each runs in a process of its own: `python -m lab.bench.works NAME JSON`.

The last line of its output is JSON: figures by name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start import launch
from lab.bench import anchors, nights, usage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka_hindsight.engine.workers import Workers

BenchFigures = dict[str, Any]

CLUSTER = "bench"
SUMMARY = "ingest.json"
"""What ingest says of its run, kept beside the lake's tables for rebuild."""


def engine(name: str, night: str) -> BenchFigures:
    """An anchor without Spark."""
    with tempfile.TemporaryDirectory() as folder, usage.metered() as used:
        lines = anchors.WITHOUT_SPARK[name](nights.logs_of(Path(night)), Path(folder) / "heads.parquet")
    return {"lines": lines, **used.figures()}


def warm(night: str, rounds: int) -> BenchFigures:
    """Run the anchors with Spark, in one JVM, and the step ingest in turn. Returns the figures of each round."""
    files = nights.logs_of(Path(night))
    spark, figures = start_session(Path(night)), []
    for _ in range(rounds):
        measured: BenchFigures = {}
        for name, anchor in anchors.WITH_SPARK.items():
            with tempfile.TemporaryDirectory() as folder, usage.metered() as used:
                lines = anchor(spark, files, Path(folder) / "copy")
            measured[name] = {"lines": lines, **used.figures()}
        with tempfile.TemporaryDirectory() as lake:
            measured["ingest"] = ingested(workers_of(spark), Path(night), Path(lake))
        figures.append(measured)
    return {"rounds": figures}


def forms(night: str, names: list[str]) -> BenchFigures:
    """The step ingest of a night in several forms, in turn with the plain one, in one warm process."""
    from lab.bench import forms as every

    figures = {name: list[BenchFigures]() for name in names}
    with tempfile.TemporaryDirectory() as folder:
        nights_of = {name: every.render_night(Path(night), Path(folder) / name, name) for name in names}
        for _ in range(every.ROUNDS):
            for name, rendered in nights_of.items():
                with tempfile.TemporaryDirectory() as lake:
                    figures[name].append(ingested(workers_of(None), rendered, Path(lake)))
    return figures


def cold(night: str, lake: str, with_snapshots: bool = False, with_spark: bool = False) -> BenchFigures:
    """The step ingest as a nightly task does it, by Spark where it is asked for or the night is large.

    Keeps the lake, and its summary.
    """
    with usage.metered() as used:
        spark = start_session(Path(night)) if with_spark or launch.is_large(night) else None
        ingest = ingested(workers_of(spark), Path(night), Path(lake), with_snapshots)
    return {**ingest, **used.figures(), "step_s": ingest["wall_s"]}


def rebuild(night: str, lake: str) -> BenchFigures:
    """The step rebuild by Spark on a lake that ingest filled, with the start of its JVM."""
    with usage.metered() as used:
        workers = workers_of(start_session(Path(night)))
        began = time.monotonic()
        events = rebuilt(workers, Path(lake))
        step_s = time.monotonic() - began
    return {**used.figures(), "step_s": round(step_s, 2), "events": events}


def judgement(what: str, size: int) -> BenchFigures:
    """One huge key, judged as one Python worker does it."""
    from lab.bench import judgements

    return judgements.measure(judgements.MAKERS[what](size))


def lay_commits(folder: str, count: int) -> BenchFigures:
    """Lay the same commits as segments and as JSON lines."""
    from lab.bench import commits as forms_of_commits

    forms_of_commits.lay(Path(folder), count)
    return {}


def commits(way: str, folder: str, count: int) -> BenchFigures:
    """Commits in one form, decoded and folded."""
    from lab.bench import commits as forms_of_commits

    return forms_of_commits.measure(way, Path(folder), count)


def audit(lake: str) -> BenchFigures:
    """A whole audit of the recorded night, as `make audit` runs it."""
    command = [str(launch.spark_python()), "-m", "kafka_hindsight.cli.nightly_dag"]
    variables = {**os.environ, "LAKE": lake}
    with usage.metered() as used:
        process = subprocess.run(command, cwd=HOME, env=variables, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(process.stdout[-2000:] + process.stderr[-2000:])
    return used.figures()


def start_session(night: Path, master: str | None = None, also: Mapping[str, str] | None = None) -> SparkSession:
    """Our own session, as the steps of such a night have it: on the cores of this process, or on a cluster."""
    from spark_jobs import session

    ours = launch.configuration(launch.is_large(str(night)))
    return session.start("bench", master or f"local[{len(os.sched_getaffinity(0))}]", {**ours, **(also or {})})


def workers_of(spark: SparkSession | None) -> Workers:
    """The workers of a session, which is that of this process; None for this process alone."""
    from kafka_hindsight.engine.local import LocalWorkers
    from spark_jobs.spark_run import SparkWorkers

    return LocalWorkers() if spark is None else SparkWorkers()


def ingested(workers: Workers, night: Path, lake: Path, with_snapshots: bool = False) -> BenchFigures:
    """The step ingest into a new lake.

    Returns its figures, the lines by their fate, and the size of the lake.
    """
    from kafka_hindsight.steps import ingest

    snapshots = night / "snapshots.jsonl" if with_snapshots else None
    with usage.metered() as used:
        summary = ingest.run_step(workers, settings_of(night, str(lake), snapshots), {})
    (lake / SUMMARY).write_text(json.dumps(summary, default=str))
    log_bytes = sum(f.stat().st_size for f in nights.logs_of(night))
    lake_bytes = sum(f.stat().st_size for f in lake.rglob("*.parquet"))
    return {"lines": summary["lines"], "read_mb": log_bytes / 1e6, "lake_mb": lake_bytes / 1e6, **used.figures()}


def rebuilt(workers: Workers, lake: Path) -> int:
    """Run the step rebuild on a lake that `ingested` filled. Returns the number of the lake's events."""
    from kafka_hindsight.steps import rebuild as step

    summary = json.loads((lake / SUMMARY).read_text())
    step.run_step(workers, settings_of(None, str(lake)), {"ingest": summary})
    return int(summary["lines"]["events"])


def settings_of(night: Path | None, lake: str, snapshots: Path | None = None) -> Any:
    """The settings of a step."""
    from kafka_hindsight.settings.models import Settings

    return Settings.of(
        {
            "logs": (night or Path("/")) / "logs",
            "client_logs": night / "clients" if night else None,
            "snapshots": snapshots,
            "cluster": CLUSTER,
            "lake": lake,
            "run_id": "bench",
            "run_at": datetime.now(UTC),
            "read_to_end": True,
        }
    )


WORKS: dict[str, Callable[..., BenchFigures]] = {
    w.__name__: w for w in (engine, warm, forms, cold, rebuild, judgement, lay_commits, commits, audit)
}


def measured(work: str, cores: str, **arguments: Any) -> BenchFigures:
    """The figures of one piece of work, in a process of its own on these cores.

    Raises RuntimeError with its last lines where it fails.
    """
    command = [str(launch.spark_python()), "-m", "lab.bench.works", work, cores, json.dumps(arguments)]
    environment = {**os.environ, **launch.spark_variables()}
    process = subprocess.run(command, cwd=HOME, env=environment, capture_output=True, text=True, check=False)
    if process.returncode:
        why = process.stderr[max(process.stderr.rfind("Traceback"), 0) :][-6000:]
        raise RuntimeError(f"{work} {arguments} failed. Its last words:\n{process.stdout[-1000:]}{why}")
    return dict(json.loads(process.stdout.splitlines()[-1]))


def main(name: str, cores: str, arguments: str) -> None:
    """Do one piece of work on these cores and print its figures."""
    usage.pin(cores)
    usage.adopt()
    time.tzset()
    print(json.dumps(WORKS[name](**json.loads(arguments))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
