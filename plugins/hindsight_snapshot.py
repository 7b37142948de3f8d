"""The operator that takes one reading of one cluster in the Spark environment, and hands it the connection on stdin."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any

from airflow.exceptions import AirflowException, AirflowFailException, AirflowNotFoundException
from airflow.sdk import BaseOperator, Connection

from spark_jobs import launch
from spark_jobs.exits import BAD_INPUT, DONE

DEFAULT = "kafka_default"
_OURS = ("AIRFLOW_CONN_", "AIRFLOW__", "HINDSIGHT_JWT", "HINDSIGHT_DATABASE")
"""Variables that may hold secrets of Airflow's, of which a reading needs none."""


def clusters() -> list[str]:
    """The names of the connections that HINDSIGHT_CLUSTERS lists; the default one where it lists none."""
    listed = [name.strip() for name in os.environ.get("HINDSIGHT_CLUSTERS", "").split(",")]
    return list(dict.fromkeys(filter(None, listed))) or [DEFAULT]


class SnapshotOperator(BaseOperator):
    """Lands one reading. Exit code 2 fails the task for good; any other failure may be retried."""

    def __init__(self, *, connection_id: str, **kwargs: Any) -> None:
        super().__init__(task_id=f"snapshot_{re.sub(r'[^A-Za-z0-9_.-]', '_', connection_id)}", **kwargs)
        self.connection_id = connection_id
        self.process: subprocess.Popen[str] | None = None

    def execute(self, context: Any) -> None:
        """Takes the reading, for the end of the run's data interval, and logs what it says."""
        settings = settings_of(self.connection_id)
        command = [str(launch.spark_python()), "-m", "spark_jobs.cli", "snapshot"]
        command += ["--at", context["dag_run"].run_after.isoformat()]
        command += ["--lake", os.environ.get("HINDSIGHT_LAKE") or str(launch.HOME / "lake")]
        command += ["--connection", "-"] if settings else []
        command += ["--cluster", cluster] if (cluster := cluster_of(self.connection_id)) else []
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=launch.HOME,
            env={k: v for k, v in os.environ.items() if not k.startswith(_OURS)} | {"PYTHONPATH": str(launch.HOME)},
        )
        said, _ = self.process.communicate(settings)
        self.log.info("%s", said)
        code = self.process.returncode
        if code == BAD_INPUT:
            raise AirflowFailException(f"{self.connection_id} cannot be read with these settings: {_last(said)}")
        if code != DONE:
            raise AirflowException(f"The reading of {self.connection_id} ended with exit code {code}: {_last(said)}")

    def on_kill(self) -> None:
        """Ends the reading with the task."""
        if self.process:
            self.process.terminate()


def cluster_of(connection_id: str) -> str | None:
    """The cluster's name in the lake: its connection's; of the default one HINDSIGHT_CLUSTER, else its id tells."""
    return os.environ.get("HINDSIGHT_CLUSTER") or None if connection_id == DEFAULT else connection_id


def settings_of(connection_id: str) -> str | None:
    """The connection as a reading takes it on stdin; None where there is no such default, so that variables name it.

    Raises: AirflowNotFoundException for any other name.
    """
    try:
        connection = Connection.get(connection_id)
    except AirflowNotFoundException:
        if connection_id != DEFAULT:
            raise
        return None
    return json.dumps({"name": connection_id, "settings": connection.extra_dejson})


def _last(said: str) -> str:
    return said.strip().rpartition("\n")[2]
