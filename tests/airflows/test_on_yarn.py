"""Audits on YARN: the operator submits them to a real resource manager, and waits there or in the triggerer."""

from __future__ import annotations

import json
import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_hindsight.catalog.steps import STEPS
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start import embedded_airflow
from kafka_hindsight.start.launch import spark_home
from tests.stack.short_nights import PARTS, last_night, write_nights
from tests.stack.standalone import Standalone, described, until
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
    spread = [step for step in STEPS if step.is_spread]
    assert finished == {*re.findall(r"application_\d+_\d+", manager)} and len(finished) == len(spread)
    containers = {*re.findall(r"Assigned container (container_\w+)", manager)}
    assert len(containers) > len(spread), "each application's own, and those in which tasks ran"


def test_worker_is_free_while_cluster_runs_step(tmp_path: Path) -> None:
    (tmp_path / "hadoop").mkdir()
    night = last_night(datetime.now(UTC))
    lake, nights = tmp_path / "lake", write_nights(tmp_path / "nights", (night,) * len(PARTS))
    with yarn(tmp_path / "hadoop") as conf:
        (address,) = re.findall(
            r"resourcemanager.webapp.address</name><value>([^<]+)", (conf / "yarn-site.xml").read_text()
        )
        extra = {"queue": QUEUE, "deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": address}
        given = {
            "AIRFLOW__CORE__PARALLELISM": "1",
            "AIRFLOW__OPERATORS__DEFAULT_DEFERRABLE": "True",
            "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "yarn", "extra": extra}),
            "HADOOP_CONF_DIR": str(conf),
            "HINDSIGHT_DRIVER_MEMORY": "1g",
            "HINDSIGHT_SPARK_CONF": f"{SMALL};spark.yarn.stagingDir={conf}",
            **described(lake, logs=f"{nights}/logs"),
        }
        with Standalone(tmp_path / "airflow", given) as airflow:
            until(lambda: "kafka_night_audit" in airflow.cli("dags", "list"), "the DAGs", 180, 5)
            for dag in ("kafka_night_audit", "kafka_alerts"):
                airflow.unpause(dag)
            runs = until(lambda: airflow.runs("kafka_night_audit", "scheduled"), "a scheduled audit", 120)
            run = runs[0]["dag_run_id"]

            def ingest() -> dict[str, Any]:
                return airflow.api(f"dags/kafka_night_audit/dagRuns/{run}/taskInstances/ingest")

            until(lambda: ingest()["state"] == "deferred", "a deferred ingest", 300)
            pool = airflow.api("pools/default_pool")
            other = airflow.trigger("kafka_alerts")
            assert airflow.run_over("kafka_alerts", other, 240)["state"] == "success", "it takes the only slot"
            state = ingest()["state"]
            assert (pool["running_slots"], pool["deferred_slots"], state) == (0, 1, "deferred")
            assert airflow.run_over("kafka_night_audit", run)["state"] == "success"
            assert [t["state"] for t in airflow.tries("kafka_night_audit", run) if t["task_id"] == "ingest"] == [
                "success"
            ]
        manager = (conf / "ResourceManager.log").read_text()
    assert {w["window_from"].date() for w in rows(lake, "quality.publications")} == {night}
    assert len({*re.findall(r"(application_\d+_\d+) State change from \w+ to FINISHED", manager)}) == len(STEPS)
