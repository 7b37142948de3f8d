"""The checks of `hindsight doctor`. Standard library only: it runs where set-up has not run yet.

What needs packages runs in a process of the Spark environment: the other modules of this room, each of which prints its
checks as JSON. What a check writes to try a lake it removes.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kafka_hindsight.settings.config import is_dated
from kafka_hindsight.settings.home import HOME, IS_INSTALLED, WORK
from kafka_hindsight.start import java, launch
from kafka_hindsight.start.python_child import command_of, variables

NEEDED_GIB = 4
"""Airflow's process, one Spark driver of 2 GiB and its Python workers."""

REPAIR = "--repair"
"""The option that sets damaged files aside."""

CheckWords = tuple[str, str, str]
"""State, subject and text of a check, as a process of its own prints them."""


class CheckResult(NamedTuple):
    """One result. `state` is good, missing (the user has to act) or later (`make` or the first audit does it)."""

    state: str
    what: str
    says: str


def of_installation() -> Iterator[CheckResult]:
    """The parts of a checkout's set-up, Spark, this machine and the settings."""
    yield from () if IS_INSTALLED else of_checkout()
    yield from of_spark()
    yield from of_machine()
    yield from _checks_by("settings", _own_command("doctor.settings"))


def of_spark() -> Iterator[CheckResult]:
    """Java, and where pip installed us Python. An installation without Spark needs no Java."""
    if IS_INSTALLED:
        yield CheckResult("good", "Python", f"{platform.python_version()} ({sys.executable})")
        if not launch.spark_submit().exists():
            yield CheckResult(
                "later", "Spark", "audits run in one process; the extra `spark` and Java 17 serve large nights"
            )
            return
    problem = java.problem()
    yield CheckResult("missing" if problem else "good", "Java", problem or f"{java.release()} ({java.program()})")


def of_machine() -> Iterator[CheckResult]:
    """Memory, cores."""
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    is_enough = gib >= NEEDED_GIB
    advice = "" if is_enough else f". Needed: {NEEDED_GIB}. What to do: HINDSIGHT_DRIVER_MEMORY=1g, or more memory."
    yield CheckResult("good" if is_enough else "missing", "memory", f"{gib:.1f} GiB{advice}")
    yield CheckResult("good", "cores", str(os.cpu_count()))


def of_checkout() -> Iterator[CheckResult]:
    """Python, space on the disk, and the parts of set-up, as setup/doctor.py reports them."""
    yield from _checks_by("set-up", [sys.executable, str(HOME / "setup" / "doctor.py")])


def of_lake(lake: str) -> CheckResult:
    """Whether there is a lake with a publication, and whether it can be written."""
    near = next(p for p in (Path(lake), *Path(lake).absolute().parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=near) as file:
            file.write(b"hindsight doctor")
    except OSError as refusal:
        sentence = f"{near} cannot be written: {refusal.strerror}. Needed: write access. What to do: LAKE=..."
        return CheckResult("missing", "lake", sentence)
    if any((Path(lake) / "quality" / "publications" / "_delta_log").glob("[0-9]*.json")):
        return CheckResult("good", "lake", f"{lake} has published audits")
    return CheckResult("later", "lake", f"the first audit creates {lake}")


def of_tables(lake: str, is_repaired: bool = False) -> Iterator[CheckResult]:
    """The problems of a lake's tables; if it is repaired, what was set aside first."""
    if "://" not in lake and not Path(lake).exists():
        return
    yield from _checks_by("tables", _own_command("doctor.lake_check", lake, *([REPAIR] if is_repaired else ())))


def of_cluster(bootstrap: str, config: str) -> Iterator[CheckResult]:
    """One reading of a live cluster: whether it answers, and which parts are missing and why."""
    names = {"--bootstrap": bootstrap, "--config": config}
    words = [word for name, value in names.items() if value for word in (name, value)]
    reading = _output_of("cluster", _own_command("cli.main", "snapshot", *words, "--print"), cwd=WORK)
    if isinstance(reading, CheckResult):
        yield reading
        return
    yield CheckResult("good", "cluster", f"{len(reading['brokers'])} brokers, {len(reading.get('topics', ()))} topics")
    for lack in reading.get("missing", ()):
        yield CheckResult(
            "missing", lack["part"], f"{lack['reason']}\nWhat to do: see the rights that a reading needs, docs/live.md."
        )


def of_logs(variable: str, place: str, pattern: str, glob: str) -> Iterator[CheckResult]:
    """A sample of each log in a folder: its layout, how much of it is read, and the most frequent other lines."""
    if not place:
        return
    if is_dated(place):
        yield CheckResult("later", variable, f"{place}: only an audit knows its window, and which folders that names")
        return
    yield from _checks_by(variable, _own_command("doctor.logs", variable, place, pattern, glob))


def _own_command(module: str, *words: str) -> list[str]:
    """The command that runs a module of the library in the Spark environment."""
    return command_of(f"kafka_hindsight.{module}", *words, python=launch.spark_python())


def _checks_by(what: str, command: Sequence[str]) -> Iterator[CheckResult]:
    """The checks of a program of ours."""
    output = _output_of(what, command)
    yield from [output] if isinstance(output, CheckResult) else (CheckResult(*check) for check in output)


def _output_of(what: str, command: Sequence[str], cwd: Path | None = None) -> Any:
    """The JSON that a program of ours prints; a check with its error if it fails."""
    if not Path(command[0]).exists():
        return CheckResult("later", what, "Needs set-up first. What to do: make setup")
    env = {**os.environ, **variables()}
    process = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env)
    if process.returncode:
        return CheckResult("missing", what, process.stderr.strip().splitlines()[-1])
    return json.loads(process.stdout)
