"""Follow a run in a terminal: print what its steps print, how it ended, and stop it on an interrupt."""

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

from kafka_hindsight.catalog.steps import BY_NAME, STEPS, Step
from kafka_hindsight.settings.home import RUNS, WORK
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import parent
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT
from kafka_hindsight.start import launch
from kafka_hindsight.start.python_child import command_of
from kafka_hindsight.start.temporary_folders import folder_of_process

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LOOK_EVERY = 0.2
_PATIENCE = 10
_LAST_LINES = 5
_WIDEST = 300


class Screen:
    """The terminal's view of a run. `subject` names the run in sentences."""

    def __init__(self, steps: Sequence[Step] = STEPS, subject: str = "the audit") -> None:
        self.steps = steps
        self.subject = subject
        self.began = time.monotonic()
        self.endings: list[dict[str, Any]] = []
        self.step = self.steps[0].name

    def show(self, entry: dict[str, Any]) -> None:
        """Show one entry of the progress file."""
        match entry["event"]:
            case "begins":
                self.step = entry["step"]
                names = [s.name for s in self.steps]
                is_one_of_many = len(names) > 1 and entry["step"] in names
                number = f"[{names.index(entry['step']) + 1}/{len(names)}] " if is_one_of_many else ""
                self.line(f"{number}{entry['text']}")
            case "says":
                self.line(f"      {entry['text']}")
            case "ends":
                self.endings.append(entry)

    def line(self, text: str) -> None:
        """Print a line, with the time since the start in front."""
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        print(f"{minutes:3d}:{seconds:02d}  {printable(text)}", flush=True)

    def verdict(self, log: Path) -> int:
        """Print how the run ended, and return the exit code. A published night is shown even if a later step failed.

        `log` is the log of the run; its end is shown if no step reported an error.
        """
        summaries = {e["step"]: e["summary"] for e in self.endings if e["exit_code"] == DONE}
        failed = [e for e in self.endings if e["exit_code"] != DONE]
        missing = [s.name for s in self.steps if s.name not in summaries]
        if not missing:
            self.line("done\n" if not failed else "the night is published\n")
            if words := summaries[self.steps[-1].name].get("terminal"):
                print(printable(words), flush=True)
        if failed:
            return self._failed(failed[0], log)
        if missing:
            self.line(
                f"{self.subject} ended before the step {missing[0]} was done, without an error message. End of its log:"
            )
            print(f"\n{_end_of(log)}\n  The details are in {relative(str(log))}", file=sys.stderr)
            return FAULT
        return DONE

    def _failed(self, ending: dict[str, Any], log: Path) -> int:
        self.line(f"The step {ending['step']} ended {self.subject}:")
        for sentence in ending["sentences"]:
            print(f"\n  {printable(sentence)}", file=sys.stderr)
        if ending["exit_code"] != BAD_INPUT:
            print(f"\n  The details are in {relative(str(log))}", file=sys.stderr)
        return int(ending["exit_code"])


def _end_of(log: Path) -> str:
    with log.open(encoding="utf-8", errors="replace") as file:
        return "".join(f"  | {printable(line.rstrip())[:_WIDEST]}\n" for line in deque(file, _LAST_LINES))


def printable(text: str) -> str:
    """Text without control characters, which could move a terminal's cursor: logs come from outside."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def start_alone(
    program: str, settings: Settings, variables: Mapping[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start one step, or a whole audit, without Airflow.

    It starts in the folder of runs, since Spark makes a folder `spark-warehouse` where it starts.

    Args:
        program: The name of the step, or `audit`.
        settings: The settings of the run.
        variables: Environment variables besides the user's own.
        output: The file for stdout and stderr.
    """
    return subprocess.Popen(
        command_alone(program, settings),
        env={**environment_alone(), **parent.as_parent(), **variables},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=RUNS,
    )


def command_alone(program: str, settings: Settings) -> list[str]:
    """The command that runs a step: spark-submit if Spark does the work, else Python, as for each light step.

    Spark's master is HINDSIGHT_SPARK_CONF's, else this machine.
    """
    is_large = launch.is_large(settings.logs, settings.client_logs)
    is_light = program in BY_NAME and not BY_NAME[program].is_spread
    if is_light or not launch.uses_spark(settings.engine, is_large):
        words = (program, "--settings", settings.to_json())
        return command_of(launch.IN_ONE_PROCESS, *words, python=launch.spark_python())
    conf = {"spark.master": launch.DEFAULT_MASTER, **launch.configuration(is_large)}
    return launch.submission(conf, folder_of_process(), program, "--settings", settings.to_json())


def environment_alone() -> dict[str, str]:
    """The variables of that command: the user's, and those of Spark, whose scratch ends with this process."""
    return {**clean_environment(), **launch.spark_variables(), **launch.java_variables(folder_of_process())}


def clean_environment() -> dict[str, str]:
    """The user's variables, without those of another Airflow or Python."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW__", "AIRFLOW_HOME", "PYTHON"))}


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a program and the Spark that it started, which share a process group."""
    for signal_ in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal_)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_PATIENCE)


def follow(process: subprocess.Popen[bytes], progress_file: Path, screen: Screen) -> None:
    """Show the progress file of a process until the process ends. An interrupt ends the process.

    Raises:
        KeyboardInterrupt: The user pressed Ctrl-C. It says where that met the run.
    """
    try:
        _show(process, progress_file, screen)
    except KeyboardInterrupt:
        stop(process)
        raise KeyboardInterrupt(
            f"Stopped by Ctrl-C in the step {screen.step}. Readers of the lake see each night whole, as it was or as it"
            " is now. Run the same command again: it leaves the same tables as an undisturbed run."
        ) from None
    except BaseException:
        stop(process)
        raise


def _show(process: subprocess.Popen[bytes], progress_file: Path, screen: Screen) -> None:
    with progress_file.open(encoding="utf-8") as file:
        partial_line = ""
        while True:
            is_over = process.poll() is not None
            partial_line += file.read()
            *lines, partial_line = partial_line.split("\n")
            for line in lines:
                screen.show(json.loads(line))
            if is_over:
                return
            time.sleep(_LOOK_EVERY)


def relative(place: str) -> str:
    """A path, relative to the working folder if it is inside."""
    return str(Path(place).relative_to(WORK)) if place.startswith(f"{WORK}/") else place
