"""The hourly DAG: one step, every hour, after files that were rotated on the hour have come to rest."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pendulum
import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.encoders import coerce_to_core_timetable
from airflow.timetables.base import TimeRestriction
from hindsight_operator import params
from hindsight_step import WINDOW

from kafka_hindsight.catalog.steps import COLLECT
from kafka_hindsight.settings.clusters import Cluster

DAGS = Path(__file__).resolve().parents[2] / "dags"


@pytest.fixture(scope="module")
def dag() -> Any:
    bag = DagBag(str(DAGS))
    assert bag.import_errors == {}
    return bag.dags["kafka_collect"]


def test_collect_dag_has_collect_step_and_its_assets(dag: Any) -> None:
    names = [COLLECT.name, "other_clusters", "run_others"]
    assert [t.task_id for t in dag.topological_sort()] == names
    task = dag.get_task(COLLECT.name)
    assert {asset.name for asset in task.outlets} == set(COLLECT.writes)


def test_collect_dag_runs_hourly_at_ten_past_without_catchup(dag: Any) -> None:
    timetable = coerce_to_core_timetable(dag.timetable)
    unlimited = TimeRestriction(earliest=pendulum.datetime(2026, 11, 20), latest=None, catchup=True)
    first = timetable.next_dagrun_info(last_automated_data_interval=None, restriction=unlimited)
    second = timetable.next_dagrun_info(last_automated_data_interval=first.data_interval, restriction=unlimited)
    assert [first.run_after, second.run_after] == [
        pendulum.datetime(2026, 11, 20, 1, 10),
        pendulum.datetime(2026, 11, 20, 2, 10),
    ]
    assert (dag.max_active_runs, dag.catchup) == (1, False)


def test_collect_dag_retries_and_has_inputs_of_night_audit(dag: Any) -> None:
    task = dag.get_task(COLLECT.name)
    assert (task.retries, task.retry_delay) == (2, timedelta(minutes=5))
    assert set(dag.params) == set(params(Cluster(None, None, {}), *WINDOW)) - {"from", "to"}
