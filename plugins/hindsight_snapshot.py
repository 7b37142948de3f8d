"""The operator that takes one reading of one cluster in the Spark environment, and hands it the connection on stdin."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any

from airflow.exceptions import AirflowException, AirflowFailException, AirflowNotFoundException
from airflow.sdk import BaseOperator, Connection
from hindsight_child import child, last_words

from kafka_hindsight.settings.clusters import DEFAULT_CONNECTION, Cluster
from kafka_hindsight.settings.clusters import clusters as configured
from kafka_hindsight.shared.exits import BAD_INPUT, DONE


def clusters() -> list[Cluster]:
    """Those that are read: the file's with a connection, else the connections that HINDSIGHT_CLUSTERS lists."""
    found = configured()
    listed = [name.strip() for name in os.environ.get("HINDSIGHT_CLUSTERS", "").split(",")]
    if any(c.name for c in found) or not any(listed):
        return [c for c in found if c.connection]
    names = dict.fromkeys(filter(None, listed))
    return [Cluster(None if n == DEFAULT_CONNECTION else n, n, found[0].inputs) for n in names]


class SnapshotOperator(BaseOperator):
    """Lands one reading. Exit code 2 fails the task for good; any other failure may be retried."""

    def __init__(self, *, cluster: Cluster, **kwargs: Any) -> None:
        self.connection_id = str(cluster.connection)
        super().__init__(task_id=f"snapshot_{re.sub(r'[^A-Za-z0-9_.-]', '_', self.connection_id)}", **kwargs)
        self.cluster = cluster
        self.process: subprocess.Popen[str] | None = None

    def execute(self, context: Any) -> None:
        """Takes the reading, for the end of the run's data interval, and logs what it says."""
        settings = settings_of(self.connection_id)
        name = self.cluster.name or self.cluster.inputs.get("cluster")
        self.process = child(
            "snapshot",
            *("--at", context["dag_run"].run_after.isoformat()),
            *("--lake", self.cluster.lake),
            *(("--connection", "-") if settings else ()),
            *(("--cluster", name) if name else ()),
        )
        said, _ = self.process.communicate(settings)
        self.log.info("%s", said)
        code = self.process.returncode
        if code == BAD_INPUT:
            raise AirflowFailException(f"{self.connection_id} cannot be read with these settings: {last_words(said)}")
        if code != DONE:
            raise AirflowException(
                f"The reading of {self.connection_id} ended with exit code {code}: {last_words(said)}"
            )

    def on_kill(self) -> None:
        """Ends the reading with the task."""
        if self.process:
            self.process.terminate()


def settings_of(connection_id: str) -> str | None:
    """The connection as a reading takes it on stdin; None where there is no such default, so that variables name it.

    Raises: AirflowNotFoundException for any other name.
    """
    try:
        connection = Connection.get(connection_id)
    except AirflowNotFoundException:
        if connection_id != DEFAULT_CONNECTION:
            raise
        return None
    return json.dumps({"name": connection_id, "settings": connection.extra_dejson})
