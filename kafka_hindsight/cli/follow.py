"""A terminal that follows a run: what its steps print, how it ended, and how it is stopped."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from kafka_hindsight.catalog.steps import STEPS, Step
from kafka_hindsight.settings.home import RUNS, WORK
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT
from kafka_hindsight.start import launch

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LOOK_EVERY = 0.2
_PATIENCE = 10
_LAST_LINES = 5
_WIDEST = 300


class Screen:
    """What the terminal shows of a run, and what it knows about its end."""

    def __init__(self, steps: Sequence[Step] = STEPS, what: str = "the audit") -> None:
        self.steps = steps
        self.what = what
        self.began = time.monotonic()
        self.ended: list[dict[str, Any]] = []

    def show(self, entry: dict[str, Any]) -> None:
        """One sentence that a step printed."""
        match entry["event"]:
            case "begins":
                names = [s.name for s in self.steps]
                is_one_of_many = len(names) > 1 and entry["step"] in names
                number = f"[{names.index(entry['step']) + 1}/{len(names)}] " if is_one_of_many else ""
                self.line(f"{number}{entry['text']}")
            case "says":
                self.line(f"      {entry['text']}")
            case "ends":
                self.ended.append(entry)

    def line(self, text: str) -> None:
        """A line with the time since the start in front."""
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        print(f"{minutes:3d}:{seconds:02d}  {printable(text)}", flush=True)

    def verdict(self, log: Path) -> int:
        """The last words, and the exit code they mean. A night that was published is shown, whatever came after.

        Takes: the file of what the run said otherwise. Its end is shown where no step said why it ended.
        """
        done = {e["step"]: e["summary"] for e in self.ended if e["exit_code"] == DONE}
        failed = [e for e in self.ended if e["exit_code"] != DONE]
        missing = [s.name for s in self.steps if s.name not in done]
        if not missing:
            self.line("done\n" if not failed else "the night is published\n")
            if words := done[self.steps[-1].name].get("terminal"):
                print(printable(words), flush=True)
        if failed:
            return self._failed(failed[0], log)
        if missing:
            self.line(
                f"{self.what} ended before {missing[0]} was done, and no step said why. The last lines of its log:"
            )
            print(f"\n{_end_of(log)}\n  The details are in {near(str(log))}", file=sys.stderr)
            return FAULT
        return DONE

    def _failed(self, ended: dict[str, Any], log: Path) -> int:
        self.line(f"{ended['step']} ended {self.what}:")
        for sentence in ended["sentences"]:
            print(f"\n  {printable(sentence)}", file=sys.stderr)
        if ended["exit_code"] != BAD_INPUT:
            print(f"\n  The details are in {near(str(log))}", file=sys.stderr)
        return int(ended["exit_code"])


def _end_of(log: Path) -> str:
    with log.open(encoding="utf-8", errors="replace") as file:
        return "".join(f"  | {printable(line.rstrip())[:_WIDEST]}\n" for line in deque(file, _LAST_LINES))


def printable(text: str) -> str:
    """Text without the control characters that would move a terminal's cursor: logs are written by strangers."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def start_alone(program: str, settings: Settings, said: Mapping[str, str], noise: IO[bytes]) -> subprocess.Popen[bytes]:
    """Starts one step, or a whole audit, without Airflow.

    Takes: the program as spark_jobs/run.py knows it; variables that it gets; where its words go.
    Edge case: Spark makes a folder `spark-warehouse` where it is started: not in the folder where a user works.
    """
    return subprocess.Popen(
        command_alone(program, settings),
        env={**without_theirs(), **launch.environment(), **said},
        stdin=subprocess.DEVNULL,
        stdout=noise,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=RUNS,
    )


def command_alone(program: str, settings: Settings) -> list[str]:
    """The command that runs a step: of spark-submit where Spark does the work, else of Python alone.

    Spark's master is HINDSIGHT_SPARK_CONF's, else this machine.
    """
    is_large = launch.is_large(settings.logs, settings.client_logs)
    if not launch.uses_spark(settings.engine, is_large):
        return [str(launch.spark_python()), str(launch.RUN), program, "--settings", settings.to_json()]
    conf = {"spark.master": launch.DEFAULT_MASTER, **launch.configuration(is_large)}
    return launch.submission(conf, program, "--settings", settings.to_json())


def without_theirs() -> dict[str, str]:
    """The user's variables, without those of another Airflow or Python."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW__", "AIRFLOW_HOME", "PYTHON"))}


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a program and the Spark that it started: they are a process group of their own."""
    for signal_ in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal_)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_PATIENCE)


def follow(process: subprocess.Popen[bytes], told: Path, screen: Screen) -> None:
    """Shows what the steps of a process print into a file, until the process ends; an interrupt ends the process."""
    try:
        _show(process, told, screen)
    except BaseException:
        stop(process)
        raise


def _show(process: subprocess.Popen[bytes], told: Path, screen: Screen) -> None:
    with told.open(encoding="utf-8") as file:
        rest = ""
        while True:
            over = process.poll() is not None
            rest += file.read()
            *lines, rest = rest.split("\n")
            for line in lines:
                screen.show(json.loads(line))
            if over:
                return
            time.sleep(_LOOK_EVERY)


def near(place: str) -> str:
    """A path as seen from the folder where we work, where it lies inside."""
    return str(Path(place).relative_to(WORK)) if place.startswith(f"{WORK}/") else place
