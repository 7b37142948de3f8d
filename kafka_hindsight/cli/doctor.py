"""Shows what is missing on this machine, with LAKE in its tables, with BOOTSTRAP on a cluster, with LOGS what is read.

Standard library only: it runs where set-up has not run yet. It changes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kafka_hindsight.settings.config import is_dated
from kafka_hindsight.settings.home import HOME, IS_INSTALLED, LAKE, PYTHON_PATH, WORK
from kafka_hindsight.start import java, launch

NEEDED_GIB = 4
"""Airflow's process, one Spark driver of 2 GiB and its Python workers."""


class Told(NamedTuple):
    """One thing looked at. `state` is good, missing (something has to be done) or later (`make` does it itself)."""

    state: str
    what: str
    says: str


_MARKS = {"good": "✓", "missing": "✗", "later": "·"}


_LOGS = (("LOGS", "--logs", "PATTERN"), ("CLIENT_LOGS", "--client-logs", "CLIENT_PATTERN"))


def main(arguments: list[str] | None = None) -> int:
    """Prints what was found. 0: nothing is missing; 2: something is, and the line says what to do."""
    given = parser().parse_args(arguments)
    found = list(_found(given))
    if given.json:
        print(json.dumps([told._asdict() for told in found], indent=2))
    else:
        _print(found)
    return 2 if any(told.state == "missing" for told in found) else 0


def parser() -> argparse.ArgumentParser:
    """The options, without Typer, which set-up brings; the default of each is the variable of the same name."""
    options = argparse.ArgumentParser(prog="hindsight doctor", description=__doc__.splitlines()[0])
    options.add_argument("--bootstrap", default=os.environ.get("BOOTSTRAP", ""), help="brokers of a cluster to look at")
    options.add_argument("--lake", default=os.environ.get("LAKE", ""), help="the lake; all its tables are checked")
    for variable, option, pattern in _LOGS:
        options.add_argument(option, default=os.environ.get(variable, ""), help=f"{variable}: a sample is read")
        options.add_argument(
            f"--{pattern.lower().replace('_', '-')}", default=os.environ.get(pattern, ""), help=pattern
        )
    options.add_argument("--json", action="store_true", help="print what was found as JSON")
    return options


def _found(given: argparse.Namespace) -> Iterator[Told]:
    lake = given.lake or str(LAKE)
    yield from of_package() if IS_INSTALLED else of_checkout()
    yield from of_machine()
    yield of_lake(lake)
    if given.lake:
        yield from of_tables(lake)
    if given.bootstrap:
        yield from of_cluster(given.bootstrap)
    yield from of_logs("LOGS", given.logs, given.pattern)
    yield from of_logs("CLIENT_LOGS", given.client_logs, given.client_pattern)


def _print(found: list[Told]) -> None:
    width = max(len(told.what) for told in found)
    for told in found:
        first, *rest = told.says.splitlines()
        print(f"{_MARKS[told.state]} {told.what.ljust(width)}  {first}")
        print("".join(f"  {' ' * width}  {line}\n" for line in rest), end="")


def of_machine() -> Iterator[Told]:
    """Java, memory, cores."""
    problem = java.problem()
    yield Told("missing", "Java", problem) if problem else Told("good", "Java", f"{java.release()} ({java.program()})")
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    enough = gib >= NEEDED_GIB
    advice = "" if enough else f". Needed: {NEEDED_GIB}. What to do: HINDSIGHT_DRIVER_MEMORY=1g, or more memory."
    yield Told("good" if enough else "missing", "memory", f"{gib:.1f} GiB{advice}")
    yield Told("good", "cores", str(os.cpu_count()))


def of_checkout() -> Iterator[Told]:
    """Python, room, and what set-up builds, by its own words."""
    yield from _told_by("set-up", [sys.executable, str(HOME / "setup" / "doctor.py")])


def of_package() -> Iterator[Told]:
    """Python, and what the first use fetches."""
    yield Told("good", "Python", f"{platform.python_version()} ({sys.executable})")
    is_there = launch.jars().exists()
    says = str(launch.jars()) if is_there else f"the first audit fetches them into {launch.jars()}"
    yield Told("good" if is_there else "later", "jars", says)


def of_lake(lake: str) -> Told:
    """Whether there is a lake, and when something was last published into it."""
    if "://" in lake:
        return Told("later", "lake", f"{lake} is behind a URI: the first audit shows whether Spark can write there")
    published = Path(lake) / "quality" / "publications" / "_delta_log"
    if any(published.glob("[0-9]*.json")):
        return Told("good", "lake", f"{lake}, with an audit in it")
    near = next(p for p in (Path(lake), *Path(lake).absolute().parents) if p.exists())
    if not os.access(near, os.W_OK):
        return Told("missing", "lake", f"{near} cannot be written. Needed: a folder of this user. What to do: LAKE=...")
    return Told("later", "lake", f"{lake}: the first audit makes it")


def of_tables(lake: str) -> Iterator[Told]:
    """What is not whole in a lake's tables."""
    if "://" not in lake and not Path(lake).exists():
        return
    yield from _told_by("tables", _of_ours("doctor_lake", lake))


def of_cluster(bootstrap: str) -> Iterator[Told]:
    """One reading of a live cluster: whether it answers, and which parts it does not tell, and why."""
    reading = _of_child("cluster", _of_ours("main", "snapshot", "--bootstrap", bootstrap, "--print"), cwd=WORK)
    if isinstance(reading, Told):
        yield reading
        return
    yield Told("good", "cluster", f"{len(reading['brokers'])} brokers, {len(reading.get('topics', ()))} topics")
    for lack in reading.get("missing", ()):
        yield Told(
            "missing", lack["part"], f"{lack['reason']}\nWhat to do: see the rights that a reading needs, docs/live.md."
        )


def of_logs(variable: str, place: str, pattern: str) -> Iterator[Told]:
    """A sample of each log in a folder: what would be read, by which layout, and what most of the rest looks like."""
    if not place:
        return
    if "://" in place or is_dated(place):
        yield Told("later", variable, f"{place}: only an audit can look there")
        return
    yield from _told_by(variable, _of_ours("doctor_logs", variable, place, *([pattern] if pattern else [])))


def _of_ours(module: str, *words: str) -> list[str]:
    """A command that runs a module of this folder in the Spark environment."""
    return [str(launch.spark_python()), "-m", f"kafka_hindsight.cli.{module}", *words]


def _told_by(what: str, command: list[str]) -> Iterator[Told]:
    """What a program of ours finds."""
    found = _of_child(what, command)
    yield from [found] if isinstance(found, Told) else (Told(*told) for told in found)


def _of_child(what: str, command: list[str], cwd: Path | None = None) -> Any:
    """What a program of ours prints as JSON; why it does not, where it fails."""
    if not Path(command[0]).exists():
        return Told("later", what, "Needs set-up first. What to do: make setup")
    env = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env)
    if done.returncode:
        return Told("missing", what, done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
