"""The DAG of readings: a task for each cluster, secrets on stdin alone, and what an exit code means to Airflow."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.exceptions import AirflowException, AirflowNotFoundException
from hindsight_airflow import AirflowFailException
from hindsight_snapshot import SnapshotOperator

from kafka_hindsight.settings.clusters import Cluster, clusters
from kafka_hindsight.settings.home import FILE_VARIABLE

DAGS = Path(__file__).resolve().parents[2] / "dags"
PYTHON = """#!/bin/sh
printf '%s\\n' "$@" > "$0.arguments"
env > "$0.environment"
cat > "$0.stdin"
echo 'last words'
exit {code}
"""
EXTRA = {"bootstrap.servers": "b:1", "sasl.password": "s3cret"}


@pytest.fixture()
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark environment whose interpreter notes what it was given."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", str(tmp_path))
    monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", json.dumps({"conn_type": "hindsight", "host": "/lake"}))
    monkeypatch.setenv("AIRFLOW_CONN_ORDERS", json.dumps({"conn_type": "kafka", "extra": EXTRA}))
    return tmp_path / "bin" / "python"


def run(python: Path, code: int, connection_id: str = "orders") -> None:
    python.write_text(PYTHON.format(code=code))
    python.chmod(0o755)
    run_after = datetime(2026, 11, 20, 3, 5, tzinfo=UTC)
    named = Cluster(connection_id, connection_id, {"lake": "/lake", "cluster": connection_id})
    cluster = clusters()[0] if connection_id == "kafka_default" else named
    SnapshotOperator(cluster=cluster).execute({"dag_run": SimpleNamespace(run_after=run_after)})


def recorded(python: Path, what: str) -> str:
    return Path(f"{python}.{what}").read_text()


def dag_of() -> Any:
    bag = DagBag(str(DAGS))
    assert bag.import_errors == {}
    return bag.dags["kafka_snapshot"]


def test_snapshot_dag_without_cluster_file_has_default_connection() -> None:
    assert dag_of().task_ids == ["snapshot_kafka_default"]


def test_snapshot_dag_has_independent_task_per_cluster_with_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "h.toml").write_text(
        "[[clusters]]\nname = 'a'\nlogs = '/a'\nconnection = 'kafka_a'\nlake = '/lakes/a'\n"
        "[[clusters]]\nname = 'b'\nlogs = '/b'\n"
        "[[clusters]]\nname = 'c'\nlogs = '/c'\nconnection = 'pay/eu'\n"
    )
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "h.toml"))
    tasks = dag_of().tasks
    assert {t.task_id: t.cluster.name for t in tasks} == {"snapshot_kafka_a": "a", "snapshot_pay_eu": "c"}
    assert tasks[0].cluster.lake == "/lakes/a"
    assert not any(t.upstream_task_ids or t.downstream_task_ids for t in tasks)


def test_snapshot_dag_runs_every_five_minutes_with_retries() -> None:
    dag = dag_of()
    assert (dag.max_active_runs, dag.catchup) == (1, False)
    assert dag.timetable.expression == "*/5 * * * *"
    (task,) = dag.tasks
    assert task.retries == 2
    assert task.retry_delay + task.execution_timeout < timedelta(minutes=5)


def test_snapshot_passes_secrets_on_stdin_only(python: Path) -> None:
    run(python, 0)
    assert json.loads(recorded(python, "stdin")) == {"name": "orders", "settings": EXTRA}
    assert "s3cret" not in recorded(python, "arguments") + recorded(python, "environment")
    assert os.environ["AIRFLOW_CONN_ORDERS"]


def test_retried_snapshot_writes_same_file(python: Path) -> None:
    run(python, 0)
    first = recorded(python, "arguments")
    run(python, 0)
    assert recorded(python, "arguments") == first
    arguments = first.split()
    assert arguments[:4] == ["-P", "-m", "kafka_hindsight.cli.main", "snapshot"]
    assert dict(zip(arguments[4::2], arguments[5::2])) == {
        "--at": "2026-11-20T03:05:00+00:00",
        "--lake": "/lake",
        "--connection": "-",
        "--cluster": "orders",
    }


def test_variables_name_cluster_without_default_connection(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOTSTRAP", "b:1")
    run(python, 0, "kafka_default")
    assert recorded(python, "stdin") == ""
    assert "--connection" not in recorded(python, "arguments")
    assert "--cluster" not in recorded(python, "arguments")
    assert "BOOTSTRAP=b:1" in recorded(python, "environment").splitlines()
    prod = json.dumps({"conn_type": "hindsight", "host": "/lake", "schema": "prod"})
    monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", prod)
    run(python, 0, "kafka_default")
    assert recorded(python, "arguments").endswith("--cluster\nprod\n")


def test_missing_named_connection_is_not_replaced_by_default(python: Path) -> None:
    with pytest.raises(AirflowNotFoundException):
        run(python, 0, "nowhere")


def test_refused_settings_fail_snapshot_for_good(python: Path) -> None:
    with pytest.raises(AirflowFailException, match="orders cannot be read with these settings: last words"):
        run(python, 2)


@pytest.mark.parametrize("code", [1, 134, 143])
def test_other_snapshot_failure_may_be_retried(python: Path, code: int) -> None:
    with pytest.raises(AirflowException, match=f"exit code {code}") as failure:
        run(python, code)
    assert not isinstance(failure.value, AirflowFailException)
