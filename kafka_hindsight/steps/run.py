"""Run steps: claim, workers, body, summary.

`python -m kafka_hindsight.steps.run STEP --settings JSON` runs one step in one process, `audit` in place of STEP all
steps of a night. With Spark's workers, spark_jobs/spark_run.py does the same.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
import traceback
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from kafka_hindsight.catalog.steps import (
    BY_NAME,
    COLLECT,
    INGEST,
    MAINTAIN,
    NEWEST_RUN,
    PUBLISH,
    REBUILD,
    RECLASSIFY,
    STEPS,
    VALIDATE,
    Step,
)
from kafka_hindsight.engine.local import LocalWorkers
from kafka_hindsight.engine.workers import Workers
from kafka_hindsight.lake import landing, state
from kafka_hindsight.lake.claims import hold_cluster, hold_maintenance, hold_publication
from kafka_hindsight.lake.publishing import take_back
from kafka_hindsight.lake.results import Result, leave_result
from kafka_hindsight.lake.staging import read_staged
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.models import Settings, missing_inputs
from kafka_hindsight.shared import parent, progress, timings
from kafka_hindsight.shared.exits import DONE, FAULT, BadInput, exit_code, sentences_of
from kafka_hindsight.shared.hidden_packages import hide
from kafka_hindsight.start import launch
from kafka_hindsight.steps import validator

Summary = dict[str, Any]

_REST = timedelta(hours=1)
"""The age of a hidden file whose writer is dead: a file is written in seconds."""

_LONGEST = timedelta(days=7)
"""The age of scratch whose process is dead."""


class Body(Protocol):
    """The interface of `kafka_hindsight.steps.<step>`."""

    def run_step(self, workers: Workers, settings: Settings, earlier: dict[str, Summary]) -> Summary:
        """Do the step's work.

        Args:
            workers: Those that read and judge.
            settings: What the user set.
            earlier: The summaries of the run's earlier steps, by their names.

        Returns:
            A summary for JSON: counts, windows, places. The last step's `terminal` is printed at the end.

        Raises:
            BadInput, PublicationRefused: Any other error is a fault that a retry may fix.
        """


def main(arguments: list[str], workers: Workers) -> int:
    """Run one step, or all of an audit, and return the exit code of the last one."""
    parser = argparse.ArgumentParser(prog="run.py", description="Runs one step of the pipeline.")
    parser.add_argument("step", choices=[launch.AUDIT, *sorted(BY_NAME)])
    parser.add_argument("--settings", required=True, help="the settings as JSON")
    options = parser.parse_args(arguments)
    launch.keep_private()  # a cluster may have started this driver
    if options.step == launch.AUDIT:
        validator.started()
    names = [step.name for step in STEPS] if options.step == launch.AUDIT else [options.step]
    return next((code for name in names if (code := run_step(name, json.loads(options.settings), workers))), DONE)


def run_step(name: str, raw_settings: dict[str, Any], workers: Workers) -> int:
    """Run a step, and return its exit code. The traceback of a fault goes to the log, sentences to who waits."""
    step = BY_NAME[name]
    try:
        settings = Settings.of(raw_settings)
        if step not in STEPS[1:]:  # the first step of a run prints the settings of all
            print(settings.described(), flush=True)
        summary = perform(step, settings, workers)
    except Exception as error:
        if exit_code(error) == FAULT:
            traceback.print_exc()
        result = Result(exit_code(error), sentences_of(error), workers.application)
        return _report_end(step, raw_settings, result, {})
    return _report_end(step, raw_settings, Result(DONE, application=workers.application), summary)


def _report_end(step: Step, raw_settings: dict[str, Any], result: Result, summary: Summary) -> int:
    """Report a step's end in its log, its run's folder and the terminal that waits, and return its exit code."""
    if raw_settings.get("lake") and raw_settings.get("run_id"):
        leave_result(raw_settings["lake"], raw_settings["run_id"], step.name, result)
    progress.ends(step.name, result.exit_code, [*result.sentences], summary)
    return result.exit_code


def perform(step: Step, settings: Settings, workers: Workers) -> Summary:
    """Run the step's body, and keep its summary beside those of its run.

    A run of another cluster may work beside it. A setting may keep the work in this process, and so does a step of
    which little can be spread.
    """
    parent.watch()
    progress.begins(step.name, step.sentence)
    if step in (COLLECT, INGEST) and (problems := missing_inputs(settings)):
        raise BadInput(*problems)
    if step is INGEST:
        _require_sound_suites(settings)
    is_spread = step.is_spread and settings.engine != "local"
    timings.pop_longest()
    state.claim_version(settings.lake)
    earlier = _earlier(step, settings)
    with _claim(step, settings, earlier):
        state.require_whole(settings.lake, {*step.reads, *step.writes})
        if step in (RECLASSIFY, MAINTAIN):
            with hold_publication(settings.lake, settings.run_id):
                take_back(settings.lake, Store(settings.lake).restore)
        with workers.at_work(settings.run_id) if is_spread else nullcontext():
            doing = workers if is_spread else LocalWorkers()
            began = time.monotonic()
            if step in (INGEST, MAINTAIN):
                landing.remove_abandoned(settings.lake, datetime.now(UTC) - _REST)
                landing.remove_old_scratch(settings.lake, datetime.now(UTC) - _LONGEST)
            _claim_staging(doing, step, settings, earlier)
            try:
                summary = _body(step).run_step(doing, settings, earlier)
            finally:
                landing.remove(landing.scratch(settings.lake))
            summary |= {"took_s": round(time.monotonic() - began, 3), "longest": timings.pop_longest()}
        print(timings.described(step.name, summary), flush=True)
        landing.write_json(_summary_path(settings, step), summary)
        if step is INGEST:
            landing.write_json(f"{settings.lake}/runs/{NEWEST_RUN}", {"run_id": settings.run_id})
        return summary


def _claim(step: Step, settings: Settings, earlier: Mapping[str, Summary]) -> AbstractContextManager[None]:
    """The claim that a step holds. One that does not know its cluster yet claims it when it does."""
    if step is MAINTAIN:
        return hold_maintenance(settings.lake, settings.run_id)
    if INGEST.name in earlier:
        return hold_cluster(settings.lake, earlier[INGEST.name]["cluster"], settings.run_id)
    return nullcontext()


def _require_sound_suites(settings: Settings) -> None:
    """Check a user's own suites before the night is read. Raises: BadInput with a sentence for each problem."""
    if validator.may_have_suites(settings.expectations, settings.lake):
        validator.started().require_sound(settings.expectations, settings.lake)


def _summary_path(settings: Settings, step: Step) -> str:
    return f"{settings.lake}/runs/{settings.run_id}/{step.name}.json"


def _earlier(step: Step, settings: Settings) -> dict[str, Summary]:
    steps = STEPS[: STEPS.index(step)] if step in STEPS else ()
    summaries = {s.name: landing.read_json(_summary_path(settings, s)) for s in steps}
    if missing := [name for name, summary in summaries.items() if summary is None]:
        raise BadInput(
            f"Run {settings.run_id} has no finished {' and no finished '.join(missing)} in {settings.lake}. "
            f"Needed: the steps before {step.name}, finished in the same run. Run them first."
        )
    return summaries


def _claim_staging(workers: Workers, step: Step, settings: Settings, earlier: dict[str, Summary]) -> None:
    """Make sure that staging is ours: another run's tables are never checked or published under our name.

    A cluster's staging belongs to the run that filled it last. If another run, such as one of a backfill, came in
    between, ours is rebuilt first, and before a publication it is checked again.
    """
    if not _touches_staging(step.reads):
        return
    staged = read_staged(settings.lake, earlier[INGEST.name]["cluster"])
    if staged is None or staged.run_id != settings.run_id:
        reason = f"Run {staged.run_id} has filled staging in between" if staged else "Staging is not whole"
        progress.say(f"{reason}: rebuilding this run's tables first")
        _body(REBUILD).run_step(workers, settings, earlier)
        if step is PUBLISH:
            earlier[VALIDATE.name] = _body(VALIDATE).run_step(workers, settings, earlier)


def _touches_staging(tables: Iterable[str]) -> bool:
    return any(name.startswith("staging.") for name in tables)


def _body(step: Step) -> Body:
    return importlib.import_module(f"kafka_hindsight.steps.{step.name}")


if __name__ == "__main__":
    hide("pandas")  # pyarrow loads it where it is
    sys.exit(main(sys.argv[1:], LocalWorkers()))
