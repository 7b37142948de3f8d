"""A child process in the Spark environment: it gets Airflow's environment without secrets, and secrets on stdin."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

from hindsight_airflow import AirflowFailException

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared import parent
from kafka_hindsight.start import launch
from kafka_hindsight.start.python_child import command_of, variables

CONTAINER = "HINDSIGHT_CONTAINER"
"""The variable that makes steps run in containers. Other commands then need no Spark, and may run beside Airflow."""


def child(*arguments: str, module: str = "main") -> subprocess.Popen[str]:
    """Start a command of `hindsight`, or another module of its room. It reads secrets on stdin and prints to stdout.

    Raises:
        AirflowFailException: There is no Spark environment.
    """
    if not os.environ.get(CONTAINER) and (missing := launch.missing_environment()):
        raise AirflowFailException(missing)
    return subprocess.Popen(
        command_of(f"kafka_hindsight.cli.{module}", *arguments, python=launch.spark_python()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=HOME,
        env={**launch.without_airflows(), **parent.as_parent(), **variables()},
        start_new_session=True,
    )


def end(process: subprocess.Popen[str]) -> None:
    """End a child and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


def last_line(output: str) -> str:
    """The last line of a child's output."""
    return output.strip().rpartition("\n")[2]
