"""Check this machine; with --lake its tables, with --bootstrap a cluster, with --logs a sample of the logs.

Standard library only: it runs where set-up has not run yet. What it writes to try a lake it removes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kafka_hindsight.settings.config import is_dated
from kafka_hindsight.settings.home import HOME, IS_INSTALLED, LAKE, PYTHON_PATH, WORK
from kafka_hindsight.start import java, launch

NEEDED_GIB = 4
"""Airflow's process, one Spark driver of 2 GiB and its Python workers."""


class Check(NamedTuple):
    """One result. `state` is good, missing (the user has to act) or later (`make` or the first audit does it)."""

    state: str
    what: str
    says: str


_MARKS = {"good": "✓", "missing": "✗", "later": "·"}


_LOGS = (("LOGS", "--logs", "PATTERN"), ("CLIENT_LOGS", "--client-logs", "CLIENT_PATTERN"))


def main(arguments: list[str] | None = None) -> int:
    """Print the results. Return 0, or 2 if something is missing: its line says what to do."""
    options = parser().parse_args(arguments)
    checks = list(_checks(options))
    if options.json:
        print(json.dumps([check._asdict() for check in checks], indent=2))
    else:
        _print(checks)
    return 2 if any(check.state == "missing" for check in checks) else 0


def parser() -> argparse.ArgumentParser:
    """The options, without Typer, which set-up installs. The default of each is the variable of its name."""
    options = argparse.ArgumentParser(prog="hindsight doctor", description=__doc__.splitlines()[0])
    options.add_argument("--bootstrap", default=os.environ.get("BOOTSTRAP", ""), help="brokers, host:port,host:port")
    options.add_argument("--config", default=os.environ.get("KAFKA_CONFIG", ""), help="file of librdkafka's settings")
    options.add_argument("--lake", default=os.environ.get("LAKE", ""), help="the lake; all its tables are checked")
    for variable, option, pattern in _LOGS:
        layout = f"--{pattern.lower().replace('_', '-')}"
        options.add_argument(option, default=os.environ.get(variable, ""), help=f"a sample of {variable} is read")
        options.add_argument(layout, default=os.environ.get(pattern, ""), help="their layout, if none is found")
    options.add_argument("--json", action="store_true", help="print the results as JSON")
    return options


def _checks(options: argparse.Namespace) -> Iterator[Check]:
    lake = options.lake or str(LAKE)
    yield from () if IS_INSTALLED else of_checkout()
    yield from of_spark()
    yield from of_machine()
    yield from _checks_by("settings", _own_command("doctor_settings"))
    if "://" not in lake:
        yield of_lake(lake)
    if options.lake:
        yield from of_tables(lake)
    if options.bootstrap or options.config:
        yield from of_cluster(options.bootstrap, options.config)
    yield from of_logs("LOGS", options.logs, options.pattern)
    yield from of_logs("CLIENT_LOGS", options.client_logs, options.client_pattern)


def _print(checks: list[Check]) -> None:
    width = max(len(check.what) for check in checks)
    for check in checks:
        first, *more_lines = check.says.splitlines()
        print(f"{_MARKS[check.state]} {check.what.ljust(width)}  {first}")
        print("".join(f"  {' ' * width}  {line}\n" for line in more_lines), end="")


def of_spark() -> Iterator[Check]:
    """Java, and where pip installed us Python. An installation without Spark needs no Java."""
    if IS_INSTALLED:
        yield Check("good", "Python", f"{platform.python_version()} ({sys.executable})")
        if not launch.spark_submit().exists():
            yield Check("later", "Spark", "audits run in one process; the extra `spark` and Java 17 serve large nights")
            return
    problem = java.problem()
    yield Check("missing" if problem else "good", "Java", problem or f"{java.release()} ({java.program()})")


def of_machine() -> Iterator[Check]:
    """Memory, cores."""
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    is_enough = gib >= NEEDED_GIB
    advice = "" if is_enough else f". Needed: {NEEDED_GIB}. What to do: HINDSIGHT_DRIVER_MEMORY=1g, or more memory."
    yield Check("good" if is_enough else "missing", "memory", f"{gib:.1f} GiB{advice}")
    yield Check("good", "cores", str(os.cpu_count()))


def of_checkout() -> Iterator[Check]:
    """Python, space on the disk, and the parts of set-up, as setup/doctor.py reports them."""
    yield from _checks_by("set-up", [sys.executable, str(HOME / "setup" / "doctor.py")])


def of_lake(lake: str) -> Check:
    """Whether there is a lake with a publication, and whether it can be written."""
    near = next(p for p in (Path(lake), *Path(lake).absolute().parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=near) as file:
            file.write(b"hindsight doctor")
    except OSError as refusal:
        sentence = f"{near} cannot be written: {refusal.strerror}. Needed: write access. What to do: LAKE=..."
        return Check("missing", "lake", sentence)
    if any((Path(lake) / "quality" / "publications" / "_delta_log").glob("[0-9]*.json")):
        return Check("good", "lake", f"{lake} has published audits")
    return Check("later", "lake", f"the first audit creates {lake}")


def of_tables(lake: str) -> Iterator[Check]:
    """The problems of a lake's tables."""
    if "://" not in lake and not Path(lake).exists():
        return
    yield from _checks_by("tables", _own_command("doctor_lake", lake))


def of_cluster(bootstrap: str, config: str) -> Iterator[Check]:
    """One reading of a live cluster: whether it answers, and which parts are missing and why."""
    names = {"--bootstrap": bootstrap, "--config": config}
    words = [word for name, value in names.items() if value for word in (name, value)]
    reading = _output_of("cluster", _own_command("main", "snapshot", *words, "--print"), cwd=WORK)
    if isinstance(reading, Check):
        yield reading
        return
    yield Check("good", "cluster", f"{len(reading['brokers'])} brokers, {len(reading.get('topics', ()))} topics")
    for lack in reading.get("missing", ()):
        yield Check(
            "missing", lack["part"], f"{lack['reason']}\nWhat to do: see the rights that a reading needs, docs/live.md."
        )


def of_logs(variable: str, place: str, pattern: str) -> Iterator[Check]:
    """A sample of each log in a folder: its layout, how much of it is read, and the most frequent other lines."""
    if not place:
        return
    if is_dated(place):
        yield Check("later", variable, f"{place}: only an audit knows its window, and which folders that names")
        return
    yield from _checks_by(variable, _own_command("doctor_logs", variable, place, *([pattern] if pattern else [])))


def _own_command(module: str, *words: str) -> list[str]:
    """The command that runs a module of this folder in the Spark environment."""
    return [str(launch.spark_python()), "-m", f"kafka_hindsight.cli.{module}", *words]


def _checks_by(what: str, command: list[str]) -> Iterator[Check]:
    """The checks of a program of ours."""
    output = _output_of(what, command)
    yield from [output] if isinstance(output, Check) else (Check(*check) for check in output)


def _output_of(what: str, command: list[str], cwd: Path | None = None) -> Any:
    """The JSON that a program of ours prints; a check with its error if it fails."""
    if not Path(command[0]).exists():
        return Check("later", what, "Needs set-up first. What to do: make setup")
    env = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    process = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env)
    if process.returncode:
        return Check("missing", what, process.stderr.strip().splitlines()[-1])
    return json.loads(process.stdout)


if __name__ == "__main__":
    sys.exit(main())
