"""One audit, followed in a terminal: through the embedded Airflow, or in one process where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import IO

from kafka_hindsight.alerts.routes import owners_of
from kafka_hindsight.cli import snapshot
from kafka_hindsight.cli.follow import Screen, follow, near, start_alone, stop, without_theirs
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.kafka.connection import from_environment as from_variables
from kafka_hindsight.lake.lock import held
from kafka_hindsight.lake.waiting import LakeBusy
from kafka_hindsight.settings.clusters import file_path
from kafka_hindsight.settings.config import INPUTS, Settings, from_environment, masked, missing_inputs
from kafka_hindsight.settings.home import HOME, LAKE, RUNS, WORK
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput
from kafka_hindsight.start import application, embedded_airflow, launch

DAG = "kafka_night_audit"
SAMPLE = HOME / ".samples" / "night-4.1"


def requested(environment: Mapping[str, str], options: Mapping[str, str]) -> Settings:
    """What the user asked for: options above variables; the sample night where no input is named.

    Raises: BadInput with every problem at once.
    """
    said = {**from_environment(environment), **options}
    is_live = bool(environment.get("BOOTSTRAP", "").strip())
    if is_live and not said.get("logs"):
        raise BadInput(
            "BOOTSTRAP is given and LOGS is not. Needed: the brokers' logs, from which an audit is made. "
            "Give LOGS too, or take a reading alone with `hindsight snapshot --bootstrap ...`."
        )
    if SAMPLE.exists() and not any(said.get(i) for i in ("logs", "client_logs", "snapshots")):
        sample = {"logs": SAMPLE / "logs", "client_logs": SAMPLE / "clients", "snapshots": SAMPLE / "snapshots.jsonl"}
        said |= {name: str(path) for name, path in sample.items()}
    now = datetime.now(UTC)
    own = {"run_id": now.strftime("%Y%m%dT%H%M%S.%fZ"), "run_at": now, "owners": owners_of(file_path())}
    settings = Settings.of({"lake": str(LAKE), **said, **own})
    if problems := missing_inputs(settings):
        raise BadInput(*problems)
    return settings


def live_cluster(environment: Mapping[str, str]) -> Connection | None:
    """The cluster that is also read now: BOOTSTRAP, with the settings of KAFKA_CONFIG. Raises: BadInput."""
    return from_variables(environment) if environment.get("BOOTSTRAP", "").strip() else None


def audit(settings: Settings, live: Connection | None = None) -> int:
    """Reads the live cluster where one is named, then runs the steps once and shows their progress.

    The DAG runs them; where there is no Airflow beside us, one process does, and a line says so.

    Gives: the exit code of the step that ended it. Where a cluster cannot be read, a sentence says so and its logs are
    audited.
    """
    if live:
        _read(live, settings)
    RUNS.mkdir(parents=True, exist_ok=True)
    log, told = RUNS / f"{settings.run_id}.log", RUNS / f"{settings.run_id}.progress"
    told.touch()
    try:
        with held(settings.lake, "audit", settings.run_id), log.open("wb") as noise:
            print(f"Auditing {masked(near(settings.logs))} into {masked(near(settings.lake))}", flush=True)
            print(f"Everything that is said meanwhile goes to {near(str(log))}", flush=True)
            screen = Screen()
            said = {progress.FILE_VARIABLE: str(told), progress.LOG_VARIABLE: str(log)}
            if embedded_airflow.PROGRAM.exists():
                with _spark_ahead(settings, said) as ahead:
                    follow(_start_airflow(settings, {**said, **ahead}, noise), told, screen)
            else:
                print("There is no Airflow beside us: the steps run in one process, one after another.", flush=True)
                follow(start_alone(launch.AUDIT, replace(settings, read_to_end=True), said, noise), told, screen)
    except LakeBusy as busy:
        print(busy, file=sys.stderr)
        return FAULT
    return screen.verdict(log)


def _read(live: Connection, settings: Settings) -> None:
    """Lands a reading of now, where ingest finds it."""
    try:
        code = snapshot.run(snapshot.Order(live, settings.lake, settings.run_at, settings.cluster))
    except BadInput as problem:
        print("\n".join(problem.sentences), file=sys.stderr)
        code = BAD_INPUT
    if code != DONE:
        print(
            "Warning: no reading of now was taken; the audit goes on with what LOGS tell.", file=sys.stderr, flush=True
        )


@contextmanager
def _spark_ahead(settings: Settings, said: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Spark, started while Airflow starts: each keeps one core busy for ten seconds. It ends with the block.

    Gives: the variable by which the steps find it.
    """
    is_large = launch.is_large(settings.logs, settings.client_logs)
    conf = {**launch.configuration(is_large, settings.places), "spark.master": launch.DEFAULT_MASTER}
    place = application.place_of([], settings.lake, settings.run_id)
    if place is None:
        yield {}
        return
    spark = application.begin(
        place,
        launch.submission(conf, launch.SERVE, str(place.socket), str(place.log)),
        env={**without_theirs(), **launch.environment(), **said},
        umask=int(launch.umask(), 8),
        start_new_session=True,
        cwd=WORK,
    )
    try:
        yield {application.AHEAD_VARIABLE: place.socket.stem}
    finally:
        stop(spark)
        application.withdraw(place)


def _start_airflow(settings: Settings, variables: Mapping[str, str], noise: IO[bytes]) -> subprocess.Popen[bytes]:
    said = json.loads(settings.to_json())
    conf = {
        **{i.field.removeprefix("window_"): said[i.field] for i in INPUTS},
        "whole_input": settings.window_from is None,
        "read_to_end": True,
        "run_id": settings.run_id,
    }
    return subprocess.Popen(
        [
            str(embedded_airflow.PROGRAM),
            "dags",
            "test",
            DAG,
            settings.run_at.isoformat(),
            "--conf",
            json.dumps(conf),
        ],
        env={**without_theirs(), **embedded_airflow.environment(), **variables},
        stdout=noise,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        cwd=WORK,
    )
