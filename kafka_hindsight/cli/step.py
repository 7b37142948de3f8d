"""Run one step by hand, without Airflow, followed in a terminal."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from kafka_hindsight.audit.follow import Screen, command_alone, environment_alone, follow, relative, start_alone
from kafka_hindsight.audit.inputs import audit_settings
from kafka_hindsight.catalog.steps import BY_NAME, INGEST, NEWEST_RUN, PUBLISH, REPORT, Step
from kafka_hindsight.cli.audit import AsSummary, with_inputs, with_summary
from kafka_hindsight.lake.landing import read_json
from kafka_hindsight.settings.config import masked
from kafka_hindsight.settings.home import RUNS
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.start.first_use import prepare_engine

_MB = 1_000_000
_MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024
"""The unit of ru_maxrss on this system, in bytes."""


@with_inputs
def by_hand(
    ctx: typer.Context,
    inputs: Mapping[str, str],
    as_json: AsSummary = False,
    run_id: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="the run to continue; default: the one that ingested last. `ingest` starts a new run",
        ),
    ] = None,
) -> int:
    """Run the step that the verb names, and after a publication write its report: `report` is another verb."""
    step = BY_NAME[str(ctx.info_name)]
    steps = (step, REPORT) if step is PUBLISH else (step,)
    settings = settings_of_step(step, os.environ, inputs, run_id)
    prepare_engine(settings)
    return with_summary(as_json, settings, steps[-1], lambda: run(steps, settings))


def settings_of_step(
    step: Step, environment: Mapping[str, str], options: Mapping[str, str], run_id: str | None = None
) -> Settings:
    """The settings of a step, as for `audit`. Without a run id: a new run to ingest, else the newest run.

    Raises:
        BadInput: Every problem, at once; or no run of the lake has finished its ingest.
        Damaged: The file that names the newest run has other bytes than were written.
    """
    settings = audit_settings(environment, options)
    if run_id is None and step is not INGEST:
        run_id = _newest_run(settings.lake, step)
    return settings.model_copy(update={"read_to_end": True, "run_id": run_id or settings.run_id})


def _newest_run(lake: str, step: Step) -> str:
    newest = read_json(f"{lake}/runs/{NEWEST_RUN}")
    if newest is None:
        raise BadInput(
            f"The lake {masked(lake)} has no run with a finished ingest. Needed: one, before {step.name}. "
            "Run `hindsight ingest` on that lake first, or name a run with --run-id."
        )
    return str(newest["run_id"])


def run(steps: Sequence[Step], settings: Settings) -> int:
    """Run steps, one after another, and return the exit code of the last one that ran."""
    return next((code for step in steps if (code := run_one(step, settings)) != DONE), DONE)


def run_one(step: Step, settings: Settings) -> int:
    """Run the step, show its progress and its figures, and return its exit code."""
    RUNS.mkdir(parents=True, exist_ok=True)
    log, progress_file = (RUNS / f"{settings.run_id}.{step.name}.{kind}" for kind in ("log", "progress"))
    progress_file.write_text("", encoding="utf-8")
    print(f"Run {settings.run_id} into {masked(relative(settings.lake))}; log: {relative(str(log))}", flush=True)
    screen, began = Screen((step,), "the run"), time.monotonic()
    with log.open("wb") as output:
        process = start_alone(step.name, settings, {progress.FILE_VARIABLE: str(progress_file)}, output)
        follow(process, progress_file, screen)
    code = screen.verdict(log)
    if code == DONE:
        ingested = read_json(f"{settings.lake}/runs/{settings.run_id}/{INGEST.name}.json")
        print(account(ingested, time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)), flush=True)
    return code


def become(
    name: Annotated[str, typer.Argument(metavar="STEP", help="its name", autocompletion=lambda: [*BY_NAME])],
    settings: Annotated[str, typer.Option(metavar="JSON", help="its settings as JSON")],
) -> int:
    """Replace this process by the step's, with a scheduler's settings: its output, exit code and end are ours.

    It starts in the temporary folder: Spark makes a folder where it starts, and a container may allow no other.
    """
    if name not in BY_NAME:
        raise BadInput(f"There is no step {name!r}. Needed: one of {', '.join(BY_NAME)}. Choose one.")
    step_settings = Settings.of(json.loads(settings))
    prepare_engine(step_settings)
    os.chdir(tempfile.gettempdir())
    command = command_alone(name, step_settings)
    os.execve(command[0], command, environment_alone())


def account(ingested: Mapping[str, Any], seconds: float, used: resource.struct_rusage) -> str:
    """The figures of a step: the size of the input, its time, and the resources of its processes."""
    megabytes = ingested["input_bytes"] / _MB
    return (
        f"{megabytes:,.1f} MB, {ingested['lines']['lines_in']:,} lines in {seconds:.1f} s:"
        f" {megabytes / seconds:.1f} MB/s; "
        f"{used.ru_utime + used.ru_stime:.0f} s of processor time, "
        f"peak memory {used.ru_maxrss * _MAXRSS_BYTES / _MB:,.0f} MB in the largest process"
    )
