"""The DAG factory: a DAG file of a user's own names the clusters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.serialized_objects import DagSerialization

from kafka_hindsight.settings.home import FILE_VARIABLE

DAGS = Path(__file__).resolve().parents[2] / "dags"
PAGE = (DAGS.parent / "docs" / "operations.md").read_text(encoding="utf-8")
(OWN,) = re.findall(r"<!-- example: a DAG file -->\n```python\n(.+?)```", PAGE, flags=re.DOTALL)
FILE = """
lake = "s3a://lakes/kafka"
[[clusters]]
name = "orders"
logs = "/logs/orders"
connection = "kafka_orders"
keep = "bronze=90"
[[clusters]]
name = "payments"
logs = "s3a://logs/payments"
"""


def bag_of(folder: Path, text: str) -> Any:
    folder.mkdir()
    (folder / "own.py").write_text(text)
    return DagBag(str(folder))


def content(dags: dict[str, Any]) -> dict[str, Any]:
    def of(dag: Any) -> tuple[Any, ...]:
        timetable = DagSerialization.to_dict(dag)["dag"]["timetable"]
        return timetable, dag.doc_md, dag.params.dump(), sorted(t.task_id for t in dag.tasks)

    return {name: of(dag) for name, dag in dags.items()}


def test_factory_makes_same_dags_as_cluster_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = bag_of(tmp_path / "own", OWN)
    assert own.import_errors == {}
    (tmp_path / "hindsight.toml").write_text(FILE)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))
    of_file = DagBag(str(DAGS))
    assert content(own.dags) == content(of_file.dags)
    assert len(own.dags) == 2 * 3 + 3
    assert {dag.fileloc for dag in own.dags.values()} == {str(tmp_path / "own" / "own.py")}


def test_wrong_cluster_key_becomes_import_error(tmp_path: Path) -> None:
    (error,) = bag_of(tmp_path / "own", OWN.replace('"logs": "s3a', '"log": "s3a')).import_errors.values()
    assert "clusters.payments.log is not known. Needed: one of logs, " in error


def test_default_arguments_reach_each_task_of_cluster(tmp_path: Path) -> None:
    given = OWN.replace(
        'lake="s3a://lakes/kafka",', 'lake="s3a://lakes/kafka", default_args={"pool_slots": 3, "queue": "big"},'
    )
    dags = bag_of(tmp_path / "own", given).dags
    tasks = [t for dag in dags.values() if dag.dag_id.endswith("_orders") for t in dag.tasks]
    assert {(t.pool_slots, t.queue) for t in tasks} == {(3, "big")}
    assert {"collect", "ingest", "maintain", "publish", "rebuild", "reclassify", "report", "validate"} <= {
        t.task_id for t in tasks
    }


def test_factory_without_clusters_reads_cluster_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "hindsight.toml").write_text(FILE)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))
    own = bag_of(tmp_path / "own", "from hindsight_dags import hindsight_dags  # Airflow\nhindsight_dags()")
    assert content(own.dags) == content(DagBag(str(DAGS)).dags)
