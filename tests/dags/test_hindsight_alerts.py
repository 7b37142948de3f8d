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
from kafka_hindsight.settings.settings_file import FILE_VARIABLE
from kafka_hindsight.shared.exits import BadInput

PYTHON = """#!/bin/sh
printf '%s\\n' "$@" > "$0.arguments"
env > "$0.environment"
cat > "$0.stdin"
echo 'last words'
exit {code}
"""
URL = "slack://s3cret/token"
PROD = Cluster("prod", None, {"lake": "/lake"})
NIGHT = datetime(2026, 11, 20, 2, tzinfo=UTC)
SIX = datetime(2026, 11, 21, 6, 0, 0, 116746, tzinfo=UTC)


@pytest.fixture()
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark environment whose interpreter notes what it was given, and a receiver."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "h.toml").write_text('[alerts]\nreceivers = [{name = "pager", severities = ["critical"]}]\n')
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "h.toml"))
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", str(tmp_path))
    monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_ALERTS_PAGER", json.dumps({"conn_type": "generic", "password": URL}))
    return ends(tmp_path / "bin" / "python", 0)


def ends(python: Path, code: int) -> Path:
    python.write_text(PYTHON.format(code=code))
    python.chmod(0o755)
    return python


def noted(python: Path, what: str) -> str:
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
        "task_instance": SimpleNamespace(dag_id="kafka_night_audit", task_id="ingest"),
    }


def test_a_look_hands_receivers_over_on_stdin_and_nowhere_else(python: Path) -> None:
    Look()(context())
    assert noted(python, "arguments").split() == [
        "-m",
        "kafka_hindsight.cli.main",
        "alert",
        "--stdin",
        "--lake",
        "/lake",
    ]
    assert json.loads(noted(python, "stdin")) == {"urls": {"pager": URL}, "event": None}
    assert URL not in noted(python, "arguments") + noted(python, "environment")


def test_a_night_that_failed_is_an_event_with_its_reason_and_its_interval(python: Path) -> None:
    Failure()(context(ValueError("disk full\nand more")))
    event = json.loads(noted(python, "stdin"))["event"]
    assert (event["rule"], event["cluster"], event["from"]) == ("night_failed", "prod", NIGHT.isoformat())
    assert event["subject"] == "kafka_night_audit.ingest of scheduled__1"
    assert event["reason"] == "The step ingest of kafka_night_audit failed and is not tried again: disk full"


def test_a_refused_publication_is_told_by_the_lake_and_not_twice(python: Path) -> None:
    Failure()(context(Refused("publish ended with exit code 42.")))
    assert json.loads(noted(python, "stdin"))["event"] is None


def test_a_killed_task_has_no_exception_and_is_told(python: Path) -> None:
    Failure()(context())
    assert json.loads(noted(python, "stdin"))["event"]["reason"].endswith("it was killed")


def test_a_missed_deadline_is_told_with_the_run(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_DEADLINE_HOURS", "0")
    assert deadline(PROD) == {}
    monkeypatch.delenv("HINDSIGHT_DEADLINE_HOURS")
    alert = deadline(PROD)["deadline"]
    assert alert.interval == timedelta(hours=4)
    night = {"data_interval_start": "2026-11-20T02:00:00Z", "data_interval_end": "2026-11-21T02:00:00Z"}
    run = {"dag_id": "kafka_night_audit", "dag_run_id": "scheduled__1", **night}
    deadline_missed(**alert.callback.kwargs, context={"dag_run": run, "deadline": {"deadline_time": SIX}})
    event = json.loads(noted(python, "stdin"))["event"]
    assert (event["rule"], event["subject"]) == ("deadline_missed", "kafka_night_audit of scheduled__1")
    assert event["reason"] == "kafka_night_audit is not done, and should have been by 2026-11-21 06:00 UTC"
    assert event["from"] == NIGHT.isoformat(), "a night of a backfill is as old as it is, and wakes no one"


@pytest.mark.parametrize(("said", "meant"), [("0.5", timedelta(minutes=30)), ("6", timedelta(hours=6))])
def test_a_deadline_is_hours(monkeypatch: pytest.MonkeyPatch, said: str, meant: timedelta) -> None:
    monkeypatch.setenv("HINDSIGHT_DEADLINE_HOURS", said)
    alert = deadline(PROD)["deadline"]
    assert alert.interval == meant


def test_where_the_executor_runs_no_callbacks_a_night_has_no_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HINDSIGHT_DEADLINE_HOURS", raising=False)
    assert deadline(PROD)
    monkeypatch.setattr(ExecutorLoader, "import_default_executor_cls", lambda: (BaseExecutor, None))
    assert deadline(PROD) == {}


@pytest.mark.parametrize("said", ["soon", "-1", "nan", "inf", "1e300"])
def test_a_deadline_that_is_no_hours_says_what_is_needed(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("HINDSIGHT_DEADLINE_HOURS", said)
    with pytest.raises(BadInput, match="Needed: hours"):
        deadline(PROD)


@pytest.mark.parametrize("error", [AirflowSecretsBackendAccessDenied, ConnectionError])
def test_where_connections_may_not_be_read_the_lake_keeps_the_event(
    python: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def refuses(connection_id: str) -> None:
        raise error(connection_id)

    monkeypatch.setattr(Connection, "get", refuses)
    send_alerts("/lake", {"rule": "deadline_missed"})
    assert json.loads(noted(python, "stdin")) == {"urls": {}, "event": {"rule": "deadline_missed"}}


def test_where_the_settings_cannot_be_read_the_lake_keeps_the_event(python: Path, tmp_path: Path) -> None:
    (tmp_path / "h.toml").write_text("[alerts]\nrotes = []\n")
    send_alerts("/lake", {"rule": "night_failed"})
    assert json.loads(noted(python, "stdin")) == {"urls": {}, "event": {"rule": "night_failed"}}
    with pytest.raises(BadInput, match="rotes is not known"):
        send_alerts("/lake")


def test_a_child_that_cannot_tell_is_an_error_of_its_own_and_fails_no_task(python: Path) -> None:
    ends(python, 2)
    with pytest.raises(AirflowException, match="last words"):
        send_alerts("/lake")
    Look()(context())


def test_a_receiver_without_a_connection_has_its_url_in_a_variable(
    python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_HINDSIGHT_ALERTS_PAGER")
    send_alerts("/lake")
    assert not Path(f"{python}.arguments").exists(), "where nobody is to be told nothing is started"
    monkeypatch.setenv("HINDSIGHT_ALERTS_PAGER", URL)
    send_alerts("/lake")
    assert json.loads(noted(python, "stdin"))["urls"] == {}


def test_the_connection_of_the_cluster_may_hold_the_url_of_the_default_receiver_and_the_lake(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "h.toml").write_text("")
    described = {"conn_type": "hindsight", "host": "/srv/lake", "schema": "prod", "password": URL}
    monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", json.dumps(described))
    send_alerts(None)
    assert json.loads(noted(python, "stdin")) == {"urls": {"default": URL}, "event": None}
    assert noted(python, "arguments").endswith("--lake\n/srv/lake\n")
    night = {"data_interval_start": None, "data_interval_end": None}
    run = {"dag_id": "kafka_night_audit", "dag_run_id": "scheduled__1", **night}
    deadline_missed(cluster=None, lake=None, context={"dag_run": run, "deadline": {"deadline_time": SIX}})
    assert json.loads(noted(python, "stdin"))["event"]["cluster"] == "prod"


def test_a_night_whose_settings_cannot_be_used_is_reported_all_the_same(python: Path) -> None:
    given = context(ValueError("The conf of this run has 'lgos'."))
    given["dag_run"].conf = {"lgos": "/x"}
    Failure()(given)
    assert json.loads(noted(python, "stdin"))["event"]["rule"] == "night_failed"
