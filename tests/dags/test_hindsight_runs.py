"""The names of runs: the night and the cluster in the note of each, and in the id of a scheduled one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.models import Connection, DagRun
from airflow.models.base import Base
from airflow.sdk import Param
from airflow.sdk.definitions.param import ParamsDict
from airflow.serialization.serialized_objects import DagSerialization
from airflow.timetables.base import DataInterval
from airflow.utils.types import DagRunType
from hindsight_operator import night_params
from hindsight_runs import NightTimetable, RunNames
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.settings.home import FILE_VARIABLE

DAGS = Path(__file__).resolve().parents[2] / "dags"
ORDERS = Cluster("orders", None, {"cluster": "orders", "logs": "/logs"})
SYDNEY = Cluster("sydney", None, {"cluster": "sydney", "logs": "/logs"}, timezone="Australia/Sydney")
UNNAMED = Cluster(None, None, {})
END = datetime(2026, 11, 21, 2, tzinfo=UTC)
NIGHT = "night of 2026-11-20"
CONNECTION = {"conn_type": "hindsight", "host": "/lake", "schema": "live", "extra": {"look_ahead_hours": 6}}


@pytest.fixture()
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """Airflow's own tables, in memory, which it asks in one session."""
    engine = create_engine("sqlite://")
    tables = ("dag_run", "dag_run_note", "connection", "log_template")
    Base.metadata.create_all(engine, tables=[Base.metadata.tables[name] for name in tables])
    with Session(engine) as opened:
        monkeypatch.setattr("airflow.utils.session.create_session", lambda *_, **__: nullcontext(opened))
        yield opened


def run_of(
    session: Session, of: Cluster = ORDERS, run_type: str = "scheduled", *,
    tags: tuple[str, ...] = ("hindsight",), note: str | None = None, conf: dict[str, Any] | None = None,
) -> DagRun:  # fmt: skip
    """A run as the scheduler has it, in its session and with its DAG."""
    has_interval = run_type in ("scheduled", "backfill")
    run = DagRun(dag_id="d", run_id=uuid4().hex, run_type=run_type, run_after=END, conf=conf)
    if note:
        run.note = note
    run.data_interval_start, run.data_interval_end = (END - timedelta(days=1), END) if has_interval else (None, None)
    run.dag = SimpleNamespace(tags={*tags}, params=ParamsDict(night_params(of)))  # type: ignore[assignment]
    session.add(run)
    session.flush()
    return run


def started(run: DagRun) -> str | None:
    """The note of a run after the scheduler has started it."""
    RunNames().on_dag_run_running(run, "started")
    session = Session.object_session(run)
    assert session is not None
    session.flush()
    session.expire(run)
    return run.note


@pytest.mark.parametrize(
    ("cluster", "run_type", "conf", "name"),
    [
        (ORDERS, "scheduled", {}, f"orders: {NIGHT}"),
        (ORDERS, "backfill", {}, f"orders: {NIGHT}"),
        (ORDERS, "asset_triggered", {}, f"orders: {NIGHT}"),
        (ORDERS, "scheduled", {"look_ahead_hours": 3}, "orders: night of 2026-11-19"),
        (SYDNEY, "asset_triggered", {}, "sydney: night of 2026-11-20"),
        (SYDNEY, "asset_triggered", {"night_starts": "12:00"}, "sydney: night of 2026-11-19"),
        (ORDERS, "manual", {}, "orders: everything in the input"),
        (ORDERS, "manual", {"whole_input": True}, "orders: everything in the input"),
        (ORDERS, "manual", {"cluster": "pay", "from": "2026-11-02", "to": "2026-11-03T06:00+02:00"},
         "pay: 2026-11-02 00:00 to 2026-11-03 04:00 UTC"),
        (UNNAMED, "scheduled", {}, NIGHT),
    ],
)  # fmt: skip
def test_run_is_named_by_cluster_and_night(
    cluster: Cluster, run_type: str, conf: dict[str, Any], name: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", raising=False)
    assert started(run_of(session, cluster, run_type, conf=conf)) == name


def test_run_by_hand_with_interval_is_named_by_night_or_all_before_it(session: Session) -> None:
    run = run_of(session, run_type="manual")
    run.data_interval_start, run.data_interval_end = END - timedelta(days=1), END
    assert started(run) == f"orders: {NIGHT}, or everything so far if no record is older"


def test_users_note_stays_below_name_and_second_start_adds_nothing(session: Session) -> None:
    run = run_of(session, note="asked by Kim")
    assert started(run) == f"orders: {NIGHT}\n\nasked by Kim"
    assert started(run) == f"orders: {NIGHT}\n\nasked by Kim"


@pytest.mark.parametrize("place", ["variable", "table"])
def test_run_of_cluster_of_connection_is_named_by_it(
    place: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", raising=False)
    if place == "variable":
        monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", json.dumps(CONNECTION))
    else:
        session.add(Connection("hindsight_default", **{**CONNECTION, "extra": json.dumps(CONNECTION["extra"])}))
        session.flush()
    assert started(run_of(session, UNNAMED)) == "live: night of 2026-11-19", "six hours of look-ahead"


def test_run_has_no_name_where_secrets_backend_may_hold_connection(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__SECRETS__BACKEND", "some.Vault")
    assert started(run_of(session, UNNAMED)) is None
    assert started(run_of(session, ORDERS)) == f"orders: {NIGHT}", "its DAG asks for no connection"


def test_other_dags_and_unusable_conf_get_no_name(session: Session) -> None:
    assert started(run_of(session, tags=("theirs",))) is None
    assert started(run_of(session, conf={"timezone": "Mars/Olympus"})) is None
    run = run_of(session)
    run.dag = SimpleNamespace(tags={"hindsight"}, params=ParamsDict({"logs": Param("/logs")}))  # type: ignore[assignment]
    assert started(run) is None, "a collect audits no night"


def id_of(timetable: Any, run_type: DagRunType) -> str:
    interval = DataInterval(END - timedelta(days=1), END)  # type: ignore[arg-type]
    return str(timetable.generate_run_id(run_type=run_type, run_after=END, data_interval=interval))


def test_scheduled_run_has_cluster_and_night_in_its_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "h.toml").write_text("[[clusters]]\nname = 'orders'\nlogs = '/a'\nnight_starts = '22:00'\n")
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "h.toml"))
    dag = DagBag(str(DAGS)).dags["kafka_night_audit_orders"]
    timetable = DagSerialization.from_dict(DagSerialization.to_dict(dag)).timetable
    assert type(timetable).__name__ == "NightTimetable", "Airflow loads plugins of its own"
    assert id_of(timetable, DagRunType.SCHEDULED) == "scheduled__orders__2026-11-19__2026-11-21T02:00:00+00:00"
    assert id_of(timetable, DagRunType.MANUAL) == "manual__2026-11-21T02:00:00+00:00", "its conf may say else"


@pytest.mark.parametrize(("cluster", "pattern"), [("a..b", ".*"), ("a", "^[0-9]+$")])
def test_id_that_airflow_would_refuse_is_its_own(cluster: str, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__SCHEDULER__ALLOWED_RUN_ID_PATTERN", pattern)
    timetable = NightTimetable("0 2 * * *", "UTC", cluster, "00:00", 2)
    assert id_of(timetable, DagRunType.SCHEDULED) == "scheduled__2026-11-21T02:00:00+00:00"
