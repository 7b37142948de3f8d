"""An audit on YARN: the operator submits it to a real resource manager, by the connection that the page gives."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from kafka_hindsight.catalog.steps import STEPS
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start import embedded_airflow
from kafka_hindsight.start.launch import spark_home
from tests.stack.standalone import described
from tests.support.hadoop import QUEUE, yarn
from tests.support.lake import rows
from tests.support.nights import EXCERPTS

PAGE = (HOME / "docs" / "install.md").read_text(encoding="utf-8")
SMALL = (
    f"spark.yarn.jars=local:{spark_home()}/jars/*;spark.executor.instances=1;"
    "spark.executor.memory=1g;spark.yarn.am.memory=256m"
)
"""A cluster of one small machine, on which Spark's jars lie already."""


def test_audit_runs_on_yarn(tmp_path: Path) -> None:
    (connection,) = re.findall(r"^    AIRFLOW_CONN_SPARK_DEFAULT='(.*\"yarn\".*)'$", PAGE, re.MULTILINE)
    assert json.loads(connection)["extra"]["queue"] == QUEUE
    (tmp_path / "hadoop").mkdir()
    lake, home = tmp_path / "lake", tmp_path / "home"
    with yarn(tmp_path / "hadoop") as conf:
        given = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW", "HINDSIGHT_", "PYTHON"))},
            **embedded_airflow.airflow_variables(),
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
            "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(home / "logs"),
            "AIRFLOW_CONN_SPARK_DEFAULT": connection,
            "HADOOP_CONF_DIR": str(conf),
            "HINDSIGHT_SPARK_CONF": f"{SMALL};spark.yarn.stagingDir={conf}",
            **described(lake, logs=str(EXCERPTS / "crash-2.8")),
        }
        asked = ["dags", "test", "kafka_night_audit", "2026-11-22T02:00Z", "--conf", '{"whole_input": true}']
        for arguments in (["db", "migrate"], asked):
            command = [embedded_airflow.PROGRAM, *arguments]
            done = subprocess.run(command, env=given, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        manager = (conf / "ResourceManager.log").read_text()
    assert [o["kind"] for o in rows(lake, "gold.broker_outages")] == ["crash"], done.stdout
    finished = {*re.findall(r"(application_\d+_\d+) State change from \w+ to FINISHED", manager)}
    assert finished == {*re.findall(r"application_\d+_\d+", manager)} and len(finished) == len(STEPS)
    containers = {*re.findall(r"Assigned container (container_\w+)", manager)}
    assert len(containers) > len(STEPS), "each application's own, and those in which tasks ran"
