"""Airflow's callbacks: what they hand to the child that tells people, and that secrets go through stdin alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.exceptions import AirflowException
from airflow.executors.base_executor import BaseExecutor
from airflow.executors.executor_loader import ExecutorLoader
from airflow.sdk import DAG, Connection
from airflow.sdk.exceptions import AirflowSecretsBackendAccessDenied
from hindsight_alerts import Failure, Look, deadline, deadline_missed, send_alerts
from hindsight_step import Refused

from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.settings.home import FILE_VARIABLE
from kafka_hindsight.shared.exits import BadInput

PYTHON = """#!/bin/sh
printf '%s\\n' "$@" > "$0.arguments"
env > "$0.environment"
cat > "$0.stdin"
echo 'last words'
exit {code}
"""
LOG = "https://airflow.example.org/dags/kafka_night_audit/runs/scheduled__1/tasks/ingest"
URL = "slack://s3cret/token"
PROD = Cluster("prod", None, {"lake": "/lake"})
NIGHT = datetime(2026, 11, 20, 2, tzinfo=UTC)
SIX = datetime(2026, 11, 21, 6, 0, 0, 116746, tzinfo=UTC)


@pytest.fixture()
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark environment whose interpreter notes what it was given, and a receiver."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "h.toml").write_text(
        '[alerts]\nreceivers = [{name = "pager", kind = "page", severities = ["critical"]}]\n'
    )
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "h.toml"))
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", str(tmp_path))
    monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_ALERTS_PAGER", json.dumps({"conn_type": "generic", "password": URL}))
    return interpreter_that_exits(tmp_path / "bin" / "python", 0)


def interpreter_that_exits(python: Path, code: int) -> Path:
    python.write_text(PYTHON.format(code=code))
    python.chmod(0o755)
    return python


def recorded(python: Path, what: str) -> str:
    return Path(f"{python}.{what}").read_text()


def context(failure: BaseException | None = None) -> dict[str, Any]:
    params = {"lake": "/lake", "cluster": "prod"}
    return {
        "exception": failure,
        "params": params,
        "dag": DAG("kafka_night_audit", params=params),
        "dag_run": SimpleNamespace(
            run_id="scheduled__1",
            conf=None,
            run_type="scheduled",
            start_date=NIGHT,
            data_interval_start=NIGHT,
            data_interval_end=NIGHT + timedelta(days=1),
        ),
        "task_instance": SimpleNamespace(dag_id="kafka_night_audit", task_id="ingest", log_url=LOG),
    }


def test_look_passes_receivers_on_stdin_only(python: Path) -> None:
    Look()(context())
    assert recorded(python, "arguments").split() == [
        "-P",
        "-m",
        "kafka_hindsight.cli.main",
        "alert",
        "--stdin",
        "--lake",
        "/lake",
    ]
    assert json.loads(recorded(python, "stdin")) == {"urls": {"pager": URL}, "event": None}
    assert URL not in recorded(python, "arguments") + recorded(python, "environment")


def test_failed_audit_is_event_with_reason_and_interval(python: Path) -> None:
    ends = {"data_interval_start": NIGHT, "data_interval_end": NIGHT + timedelta(days=1)}
    Failure()({**context(ValueError("disk full\nand more")), **ends})
    event = json.loads(recorded(python, "stdin"))["event"]
    assert (event["rule"], event["cluster"], event["from"]) == ("night_failed", "prod", NIGHT.isoformat())
    assert event["subject"] == "kafka_night_audit.ingest of scheduled__1"
    assert event["reason"] == "prod was not audited for the night from 2026-11-20 00:00 UTC: disk full"
    assert event["link"] == LOG


def test_refused_publication_sends_no_event_because_lake_has_it(python: Path) -> None:
    Failure()(context(Refused("publish ended with exit code 42.")))
    assert json.loads(recorded(python, "stdin"))["event"] is None


def test_killed_task_without_exception_is_reported(python: Path) -> None:
    Failure()(context())
    assert json.loads(recorded(python, "stdin"))["event"]["reason"].endswith("it was killed")


def test_missed_deadline_is_event_with_run_and_interval(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_DEADLINE_HOURS", "0")
    assert deadline(PROD) == {}
    monkeypatch.delenv("HINDSIGHT_DEADLINE_HOURS")
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.example.org/")
    alert = deadline(PROD)["deadline"]
    assert alert.interval == timedelta(hours=4)
    night = {"data_interval_start": "2026-11-20T02:00:00Z", "data_interval_end": "2026-11-21T02:00:00Z"}
    run = {"dag_id": "kafka_night_audit", "dag_run_id": "scheduled__1", **night}
    deadline_missed(**alert.callback.kwargs, context={"dag_run": run, "deadline": {"deadline_time": SIX}})
    event = json.loads(recorded(python, "stdin"))["event"]
    assert (event["rule"], event["subject"]) == ("deadline_missed", "kafka_night_audit of scheduled__1")
    assert event["reason"] == "kafka_night_audit is not done, and should have been by 2026-11-21 06:00 UTC"
    assert event["link"] == "https://airflow.example.org/dags/kafka_night_audit/runs/scheduled__1"
    assert event["from"] == NIGHT.isoformat(), "a night of a backfill is as old as it is, and wakes no one"


@pytest.mark.parametrize(("text", "length"), [("0.5", timedelta(minutes=30)), ("6", timedelta(hours=6))])
def test_deadline_is_read_as_hours(monkeypatch: pytest.MonkeyPatch, text: str, length: timedelta) -> None:
    monkeypatch.setenv("HINDSIGHT_DEADLINE_HOURS", text)
    alert = deadline(PROD)["deadline"]
    assert alert.interval == length


def test_executor_without_callbacks_has_no_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HINDSIGHT_DEADLINE_HOURS", raising=False)
    assert deadline(PROD)
    monkeypatch.setattr(ExecutorLoader, "import_default_executor_cls", lambda: (BaseExecutor, None))
    assert deadline(PROD) == {}


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf", "1e300"])
def test_deadline_that_is_not_hours_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("HINDSIGHT_DEADLINE_HOURS", text)
    with pytest.raises(BadInput, match="Needed: hours"):
        deadline(PROD)


@pytest.mark.parametrize("error", [AirflowSecretsBackendAccessDenied, ConnectionError])
def test_event_is_kept_where_connections_cannot_be_read(
    python: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def refuses(connection_id: str) -> None:
        raise error(connection_id)

    monkeypatch.setattr(Connection, "get", refuses)
    send_alerts("/lake", {"rule": "deadline_missed"})
    assert json.loads(recorded(python, "stdin")) == {"urls": {}, "event": {"rule": "deadline_missed"}}


def test_event_is_kept_where_settings_cannot_be_read(python: Path, tmp_path: Path) -> None:
    (tmp_path / "h.toml").write_text("[alerts]\nrotes = []\n")
    send_alerts("/lake", {"rule": "night_failed"})
    assert json.loads(recorded(python, "stdin")) == {"urls": {}, "event": {"rule": "night_failed"}}
    with pytest.raises(BadInput, match="rotes is not known"):
        send_alerts("/lake")


def test_failed_alert_child_raises_and_fails_no_task(python: Path) -> None:
    interpreter_that_exits(python, 2)
    with pytest.raises(AirflowException, match="last words"):
        send_alerts("/lake")
    Look()(context())


def test_receiver_without_connection_has_url_in_variable(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_HINDSIGHT_ALERTS_PAGER")
    send_alerts("/lake")
    assert not Path(f"{python}.arguments").exists(), "where nobody is to be told nothing is started"
    monkeypatch.setenv("HINDSIGHT_ALERTS_PAGER", URL)
    send_alerts("/lake")
    assert json.loads(recorded(python, "stdin"))["urls"] == {}


def test_hindsight_connection_holds_url_of_default_receiver_and_lake(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "h.toml").write_text("")
    described = {"conn_type": "hindsight", "host": "/srv/lake", "schema": "prod", "password": URL}
    monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", json.dumps(described))
    send_alerts(None)
    assert json.loads(recorded(python, "stdin")) == {"urls": {"default": URL}, "event": None}
    assert recorded(python, "arguments").endswith("--lake\n/srv/lake\n")
    night = {"data_interval_start": None, "data_interval_end": None}
    run = {"dag_id": "kafka_night_audit", "dag_run_id": "scheduled__1", **night}
    deadline_missed(cluster=None, lake=None, context={"dag_run": run, "deadline": {"deadline_time": SIX}})
    assert json.loads(recorded(python, "stdin"))["event"]["cluster"] == "prod"


def test_failure_with_unusable_settings_is_reported(python: Path) -> None:
    given = context(ValueError("The conf of this run has 'lgos'."))
    given["dag_run"].conf = {"lgos": "/x"}
    Failure()(given)
    event = json.loads(recorded(python, "stdin"))["event"]
    assert (event["rule"], event["cluster"]) == ("night_failed", "kafka_night_audit")
    assert event["reason"] == "kafka_night_audit was not audited: The conf of this run has 'lgos'."
    Failure()({**given, "task": SimpleNamespace(cluster=PROD)})
    assert json.loads(recorded(python, "stdin"))["event"]["cluster"] == "prod"
