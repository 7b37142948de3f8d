"""A child process in the Spark environment: what it may see of ours, and where secrets go instead."""

from __future__ import annotations

import os
import subprocess

from hindsight_airflow import AirflowFailException

from kafka_hindsight.settings.home import HOME, PYTHON_PATH
from kafka_hindsight.start import launch

CONTAINER = "HINDSIGHT_CONTAINER"
"""Names what runs steps in containers. What else is started then needs no Spark, and may run beside Airflow."""


def child(*arguments: str) -> subprocess.Popen[str]:
    """A verb of `hindsight`, started; it takes secrets on stdin and says everything on stdout.

    Raises: AirflowFailException where there is no Spark environment.
    """
    if not os.environ.get(CONTAINER) and (missing := launch.missing_environment()):
        raise AirflowFailException(missing)
    return subprocess.Popen(
        [str(launch.spark_python()), "-m", "kafka_hindsight.cli.main", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=HOME,
        env={**launch.without_airflows(), "PYTHONPATH": PYTHON_PATH},
    )


def last_line(output: str) -> str:
    """The last line of what a child said."""
    return output.strip().rpartition("\n")[2]
