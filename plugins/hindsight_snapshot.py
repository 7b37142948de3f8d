"""The operator that takes one reading of one cluster in the Spark environment."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

from airflow.exceptions import AirflowException, AirflowNotFoundException
from airflow.sdk import BaseOperator
from hindsight_airflow import AirflowFailException
from hindsight_child import child, end, last_line
from hindsight_hook import connection_or_none, described

from kafka_hindsight.settings.clusters import DEFAULT_CONNECTION, Cluster
from kafka_hindsight.shared.exits import BAD_INPUT, DONE


class SnapshotOperator(BaseOperator):
    """An operator that lands one reading. Exit code 2 fails the task for good; any other failure may be retried."""

    def __init__(self, *, cluster: Cluster, **kwargs: Any) -> None:
        self.connection_id = str(cluster.connection)
        super().__init__(task_id=f"snapshot_{re.sub(r'[^A-Za-z0-9_.-]', '_', self.connection_id)}", **kwargs)
        self.cluster = cluster
        self.process: subprocess.Popen[str] | None = None

    def execute(self, context: Any) -> None:
        """Take the reading for the end of the run's data interval, with the connection on stdin, and log its output."""
        settings = settings_of(self.connection_id)
        cluster = described(self.cluster)
        name = cluster.inputs.get("cluster")
        self.process = child(
            "snapshot",
            *("--at", context["dag_run"].run_after.isoformat()),
            *("--lake", cluster.lake),
            *(("--connection", "-") if settings else ()),
            *(("--cluster", name) if name else ()),
        )
        output, _ = self.process.communicate(settings)
        self.log.info("%s", output)
        code = self.process.returncode
        if code == BAD_INPUT:
            raise AirflowFailException(f"{self.connection_id} cannot be read with these settings: {last_line(output)}")
        if code != DONE:
            raise AirflowException(
                f"The reading of {self.connection_id} ended with exit code {code}: {last_line(output)}"
            )

    def on_kill(self) -> None:
        """End the reading with the task."""
        if self.process:
            end(self.process)


def settings_of(connection_id: str) -> str | None:
    """The connection in the form that a reading takes on stdin; None without a default one: variables then name it.

    Raises:
        AirflowNotFoundException: There is no connection of a name that is not the default.
    """
    connection = connection_or_none(connection_id)
    if connection:
        return json.dumps({"name": connection_id, "settings": connection.extra_dejson})
    if connection_id != DEFAULT_CONNECTION:
        raise AirflowNotFoundException(f"There is no connection {connection_id}")
    return None
