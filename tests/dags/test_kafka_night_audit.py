"""The nightly DAG: what it is made of, when it runs, and that parsing it does no work."""

from __future__ import annotations

import itertools
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pendulum
import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.encoders import coerce_to_core_timetable
from airflow.timetables.base import TimeRestriction

from kafka_hindsight.catalog.steps import INGEST, RECLASSIFY, STEPS
from kafka_hindsight.settings.models import INPUTS

DAGS = Path(__file__).resolve().parents[2] / "dags"


@pytest.fixture(scope="module")
def dag() -> Any:
    bag = DagBag(str(DAGS))
    assert bag.import_errors == {}
    return bag.dags["kafka_night_audit"]


def test_night_audit_tasks_are_steps_in_order(dag: Any) -> None:
    names = ["is_recorded", *(s.name for s in STEPS), "late_windows", RECLASSIFY.name]
    others = [INGEST.name, "other_clusters", "run_others"]
    assert {t.task_id for t in dag.tasks} == {*names, *others}
    for before, after in (*itertools.pairwise(names), *itertools.pairwise(others)):
        assert dag.get_task(after).upstream_task_ids == {before}


def test_night_audit_assets_are_tables_its_steps_write(dag: Any) -> None:
    for step in STEPS:
        assert {asset.name for asset in dag.get_task(step.name).outlets} == set(step.writes)


def test_night_audit_runs_one_at_a_time_without_catchup(dag: Any) -> None:
    assert (dag.max_active_runs, dag.catchup) == (1, False)


def test_night_audit_tasks_retry_twice(dag: Any) -> None:
    assert {t.retries for t in dag.tasks} == {2}
    assert {t.retry_delay for t in dag.tasks} == {timedelta(minutes=5)}


def test_night_audit_documents_tasks_and_params(dag: Any) -> None:
    assert all(f"`{name}`" in dag.doc_md for name in dag.task_ids)
    assert len(dag.params) == len(INPUTS) + 5
    assert all(dag.params.get_param(name).description for name in dag.params)


def test_night_audit_runs_at_two_utc_for_day_before(dag: Any) -> None:
    timetable = coerce_to_core_timetable(dag.timetable)
    unlimited = TimeRestriction(earliest=pendulum.datetime(2026, 11, 20), latest=None, catchup=True)
    first = timetable.next_dagrun_info(last_automated_data_interval=None, restriction=unlimited)
    assert first.data_interval.start == pendulum.datetime(2026, 11, 20, 2)
    assert first.run_after == first.data_interval.end == pendulum.datetime(2026, 11, 21, 2)


def test_dag_parsing_imports_no_spark() -> None:
    code = (
        "import sys, hindsight_operator, kafka_night_audit;"
        "loaded = {m.split('.')[0] for m in sys.modules};"
        "sys.exit(', '.join(loaded & {'pyspark', 'delta', 'great_expectations'}) or 0)"
    )
    path = [str(DAGS.parent), str(DAGS), str(DAGS.parent / "plugins")]
    run = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"], capture_output=True)
    assert run.returncode == 0, run.stderr.decode()[-500:]


def test_dag_files_are_under_80_lines() -> None:
    assert all(len(path.read_text().splitlines()) < 80 for path in DAGS.glob("*.py"))
