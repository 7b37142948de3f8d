"""One step by hand, without Airflow: spark-submit, followed in a terminal."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kafka_hindsight.catalog.steps import BY_NAME, INGEST, NEWEST_RUN, Step
from kafka_hindsight.cli.audit import AsSummary, requested, summed_up, with_inputs
from kafka_hindsight.cli.follow import Screen, command_alone, follow, near, start_alone, without_theirs
from kafka_hindsight.lake.landing import read_text
from kafka_hindsight.settings.config import masked
from kafka_hindsight.settings.home import RUNS
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.start import launch
from kafka_hindsight.start.first_use import prepare_engine

_MB = 1_000_000
_MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024
"""The unit in which a system says how much memory its largest process had."""


@with_inputs
def by_hand(
    ctx: typer.Context,
    inputs: Mapping[str, str],
    as_json: AsSummary = False,
    run_id: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="the run to go on with; default: the one that ingested last. A run that ingests has a new name by"
            " default",
        ),
    ] = None,
) -> int:
    """Runs the step that the verb names."""
    step = BY_NAME[str(ctx.info_name)]
    settings = asked(step, os.environ, inputs, run_id)
    prepare_engine(settings)
    return summed_up(as_json, settings, step, lambda: run(step, settings))


def asked(
    step: Step, environment: Mapping[str, str], options: Mapping[str, str], run_id: str | None = None
) -> Settings:
    """What the user asked for, as `audit` reads it. The run: the one named; else a new one to ingest, else the newest.

    Raises: BadInput with every problem at once; where no run of the lake has ingested anything.
    """
    settings = requested(environment, options)
    if run_id is None and step is not INGEST:
        run_id = _newest_run(settings.lake, step)
    return settings.model_copy(update={"read_to_end": True, "run_id": run_id or settings.run_id})


def _newest_run(lake: str, step: Step) -> str:
    try:
        return str(json.loads(read_text(f"{lake}/runs/{NEWEST_RUN}"))["run_id"])
    except FileNotFoundError:
        raise BadInput(
            f"The lake {masked(lake)} has no run whose ingest ended. Needed: one, before {step.name}. "
            "Run `hindsight ingest` on that lake first, or name a run with --run-id."
        ) from None


def run(step: Step, settings: Settings) -> int:
    """Runs the step and shows its progress; its last line says how much, how fast, and with what.

    Gives: the step's exit code.
    """
    RUNS.mkdir(parents=True, exist_ok=True)
    log, told = (RUNS / f"{settings.run_id}.{step.name}.{kind}" for kind in ("log", "progress"))
    told.write_text("", encoding="utf-8")
    print(f"Run {settings.run_id} of {masked(near(settings.lake))}; Spark's words go to {near(str(log))}", flush=True)
    screen, began = Screen((step,), "the run"), time.monotonic()
    with log.open("wb") as noise:
        process = start_alone(step.name, settings, {progress.FILE_VARIABLE: str(told)}, noise)
        follow(process, told, screen)
    code = screen.verdict(log)
    if code == DONE:
        ingested = json.loads(read_text(f"{settings.lake}/runs/{settings.run_id}/{INGEST.name}.json"))
        print(account(ingested, time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)), flush=True)
    return code


def become(
    name: Annotated[str, typer.Argument(metavar="STEP", help="the step", autocompletion=lambda: [*BY_NAME])],
    settings: Annotated[str, typer.Option(metavar="JSON", help="its settings as JSON")],
) -> int:
    """Becomes spark-submit with a step as a scheduler hands it over: its words, its exit code and its end are ours.

    Edge case: in a container this user may write little else than the lake, and Spark makes a folder where it starts.
    """
    if name not in BY_NAME:
        raise BadInput(f"The step {name!r} is not known. Needed: one of {', '.join(BY_NAME)}. Choose one.")
    given = Settings.of(json.loads(settings))
    prepare_engine(given)
    os.chdir(tempfile.gettempdir())
    command = command_alone(name, given)
    os.execve(command[0], command, {**without_theirs(), **launch.environment()})


def account(ingested: Mapping[str, Any], seconds: float, used: resource.struct_rusage) -> str:
    """The last line: the night's size as ingest counted it, the time of this step, and what its processes used.

    Edge case: an ingest of an earlier Hindsight did not count bytes.
    """
    size = ingested.get("input_bytes")
    megabytes, speed = (f"{size / _MB:,.1f} MB, ", f": {size / _MB / seconds:.1f} MB/s") if size else ("", "")
    return (
        f"{megabytes}{ingested['lines']['lines_in']:,} lines in {seconds:.1f} s{speed}; "
        f"{used.ru_utime + used.ru_stime:.0f} s of processor time, "
        f"peak memory {used.ru_maxrss * _MAXRSS_BYTES / _MB:,.0f} MB in the largest process"
    )
