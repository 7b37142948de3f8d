"""Runs one step under spark-submit: session, lock, body, account. `run.py STEP --settings JSON`."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

if __name__ == "__main__":  # spark-submit puts this file's folder first, where `catalog` would be a top-level name
    sys.path[0] = str(Path(__file__).resolve().parent.parent.parent)

from pyspark.sql import SparkSession

from spark_jobs.catalog.steps import BY_NAME, REBUILD, STEPS, Step
from spark_jobs.edges import lake_files, progress, session
from spark_jobs.edges.lake_upgrade import upgrade_lake
from spark_jobs.edges.lock import held
from spark_jobs.shared.config import Settings
from spark_jobs.shared.exits import DONE, BadInput, exit_code, sentences_of

Summary = dict[str, Any]

PATIENCE = timedelta(minutes=30)
"""How long a step waits for another on its lake: the hourly collect and the nightly audit meet every night."""


class Body(Protocol):
    """What `spark_jobs.steps.<step>` offers."""

    def run_step(self, spark: SparkSession, settings: Settings, earlier: dict[str, Summary]) -> Summary:
        """Does the step's work.

        Takes: the summaries of the steps before it in this run, by their names
        Gives: a summary that JSON can hold: counts, windows, places; the last step's `terminal` is printed at the end
        Raises: BadInput, PublicationRefused; anything else is a fault that a retry may fix
        """


def main(arguments: list[str]) -> int:
    """Runs the step and returns its exit code. A traceback goes to the log, sentences go to the terminal that waits."""
    parser = argparse.ArgumentParser(prog="run.py", description="Runs one step of the pipeline under spark-submit.")
    parser.add_argument("step", choices=sorted(BY_NAME))
    parser.add_argument("--settings", required=True, help="the settings as JSON")
    given = parser.parse_args(arguments)
    step = BY_NAME[given.step]
    try:
        settings = Settings.of(json.loads(given.settings))
        print(settings.described(), flush=True)
        summary = perform(step, settings)
    except Exception as error:
        traceback.print_exc()
        code = exit_code(error)
        progress.ends(step.name, code, sentences_of(error), {})
        return code
    progress.ends(step.name, DONE, [], summary)
    return DONE


def perform(step: Step, settings: Settings) -> Summary:
    """The step's body inside a session, alone on its lake; its summary is kept beside those of its run."""
    progress.begins(step.name, step.sentence)
    with held(settings.lake, "step", settings.run_id, PATIENCE):
        spark = session.start(f"hindsight {step.name} {settings.run_id}")
        try:
            upgrade_lake(spark, settings.lake)
            earlier = _earlier(spark, step, settings)
            _claim_staging(spark, step, settings, earlier)
            summary = _body(step).run_step(spark, settings, earlier)
            lake_files.write_json(spark, _summary_path(settings, step), summary)
            return summary
        finally:
            spark.stop()


def _summary_path(settings: Settings, step: Step) -> str:
    return f"{settings.lake}/runs/{settings.run_id}/{step.name}.json"


def _earlier(spark: SparkSession, step: Step, settings: Settings) -> dict[str, Summary]:
    before = STEPS[: STEPS.index(step)] if step in STEPS else ()
    read = {s.name: lake_files.read_json(spark, _summary_path(settings, s)) for s in before}
    if missing := [name for name, summary in read.items() if summary is None]:
        raise BadInput(
            f"Run {settings.run_id} has no finished {' and no finished '.join(missing)} in {settings.lake}. "
            f"Needed: the steps before {step.name}, done in the same run. Run them first."
        )
    return read


def _claim_staging(spark: SparkSession, step: Step, settings: Settings, earlier: dict[str, Summary]) -> None:
    """Staging belongs to the run that filled it last: what another run staged is never published under our name.

    Where another run came in between, as runs of a backfill and the night itself do, ours is rebuilt first.
    """
    path = f"{settings.lake}/staging/_run.json"
    ours = {"run_id": settings.run_id}
    if any(name.startswith("staging.") for name in step.writes):
        lake_files.write_json(spark, path, ours)
    elif any(name.startswith("staging.") for name in step.reads):
        owner = (lake_files.read_json(spark, path) or {}).get("run_id")
        if owner != settings.run_id:
            progress.say(f"Staging holds run {owner}, which came in between: rebuilding ours first")
            lake_files.write_json(spark, path, ours)
            _body(REBUILD).run_step(spark, settings, earlier)


def _body(step: Step) -> Body:
    return importlib.import_module(f"spark_jobs.steps.{step.name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
