"""A night that a collect starts, under `airflow standalone` with real spark-submit. Its ingest is killed twice.

The pictures of the docs are taken here: they stay in the folder that pytest names `pictures0`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog.steps import STEPS
from kafka_hindsight.start import launch
from tests.stack.airflow_browser import Tab
from tests.stack.short_nights import PARTS, last_night, write_nights
from tests.stack.standalone import POOL, Standalone, until
from tests.support.lake import contents
from tests.support.report_browser import found

AUDIT, COLLECT = "kafka_night_audit_orders", "kafka_collect_orders"
LAST = last_night(datetime.now(UTC))
SUITE = {
    "name": "quality.coverage",
    "expectations": [
        {
            "type": "expect_column_values_to_be_between",
            "kwargs": {"column": "lines_in", "max_value": 1000},
            "meta": {"name": "logs_are_short"},
            "description": "no log has more than 1,000 lines",
            "severity": "warning",
        }
    ],
}
WIDE_GRAPH = '{"details-panel,main-panel":{"expandToSizes":{},"layout":[74,26]}}'
OF_OTHERS = re.compile(r"Spark-Submit cmd|WARNING: |OpenJDK |[\d-]{10} [\d:]{8} (WARN|ERROR) |.*Warning: |:: ")
"""Lines among a step's output that are not ours: of Airflow's provider, Java, Spark, and Python's warnings."""


@dataclass
class Night:
    """The Airflow, the lake, the inputs of an audit without Airflow, and the run that a collect started."""

    airflow: Standalone
    lake: Path
    inputs: dict[str, str]
    run: str = ""


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Night]:
    folder = tmp_path_factory.mktemp("assets")
    logs = write_nights(folder / "nights", (LAST,) * len(PARTS))
    inputs = {"logs": f"{logs}/logs", "client_logs": f"{logs}/clients", "snapshots": f"{logs}/snapshots.jsonl"}
    lake, file = folder / "lake", folder / "hindsight.toml"
    (lake / "expectations").mkdir(parents=True)
    (lake / "expectations" / "quality.coverage.json").write_text(json.dumps(SUITE))
    cluster = {"name": "orders", "lake": str(lake), "schedule": "assets", **inputs}
    file.write_text("[[clusters]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in cluster.items()))
    given = {
        "AIRFLOW_CONN_SPARK_DEFAULT": '{"conn_type": "spark", "host": "local[*]"}',
        "HINDSIGHT_CONFIG": str(file),
        "HINDSIGHT_POOL": POOL,
        "HINDSIGHT_DRIVER_MEMORY": "1g",
    }
    with Standalone(folder / "airflow", given) as airflow:
        airflow.cli("pools", "set", POOL, "1", "one Spark step at a time")
        until(lambda: AUDIT in {dag["dag_id"] for dag in airflow.api("dags?limit=100")["dags"]}, "the DAGs", 120)
        yield Night(airflow, lake, inputs)


def test_killed_ingest_leaves_tables_of_undisturbed_audit(night: Night, tmp_path: Path) -> None:
    for dag in (AUDIT, COLLECT):
        night.airflow.unpause(dag)
    night.run = until(lambda: night.airflow.runs(AUDIT, "asset_triggered"), "a run by assets", 600)[0]["dag_run_id"]
    reads(night, tries=0)
    night.airflow.kill("ingest")
    reads(night, tries=1)
    os.kill(task_of(night.airflow.processes("ingest")), signal.SIGKILL)
    assert night.airflow.run_over(AUDIT, night.run)["state"] == "success"
    tries = [t for t in night.airflow.tries(AUDIT, night.run) if t["task_id"] == "ingest"]
    assert [t["state"] for t in sorted(tries, key=lambda t: t["try_number"])] == ["failed", "failed", "success"]
    undisturbed = tmp_path / "lake"
    inputs = {**night.inputs, "engine": "local", "cluster": "orders", "lake": str(undisturbed)}
    ends = {"from": f"{LAST}T00:00Z", "to": f"{LAST + timedelta(days=1)}T00:00Z"}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in (inputs | ends).items()]
    subprocess.run([launch.spark_python(), "-m", "kafka_hindsight.cli.main", "audit", *options], check=True)
    assert contents(night.lake) == contents(undisturbed)


def reads(night: Night, tries: int) -> None:
    """Waits until the next try of ingest is at work."""
    log = night.airflow.home / "logs" / f"dag_id={AUDIT}/run_id={night.run}/task_id=ingest/attempt={tries + 1}.log"
    until(lambda: log.exists() and "Spark application" in log.read_text(), f"try {tries + 1} of ingest", 300, every=0.1)


def task_of(processes: list[int]) -> int:
    """Airflow's process of a task: it started the first of these."""
    parents = {int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in processes}
    (task,) = parents - {*processes}
    return task


def test_nine_of_ten_lines_of_a_step_are_ours(night: Night) -> None:
    folder = night.airflow.home / "logs" / f"dag_id={AUDIT}" / f"run_id={night.run}"
    for step in STEPS:
        newest = max((folder / f"task_id={step.name}").glob("*.log"))
        lines = [json.loads(line) for line in newest.read_text().splitlines()]
        output = [x["event"] for x in lines if "SparkSubmitHook" in str(x.get("logger"))]
        assert len([line for line in output if OF_OTHERS.match(line)]) * 10 <= len(output), (step.name, output)


@pytest.fixture(scope="module")
def tab(night: Night, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    program = found()
    if program is None:
        pytest.skip("no Chromium on the PATH: install chromium to look at Airflow's pages")
    with Tab(program, tmp_path_factory.mktemp("profile")) as opened:
        opened.call("Target.setAutoAttach", autoAttach=False, waitForDebuggerOnStart=False)
        opened.log_in(night.airflow)
        yield opened


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


def test_graph_shows_each_task_of_the_run(night: Night, tab: Tab, pictures: Path) -> None:
    tab.tell("localStorage.setItem('default_dag_view', '\"graph\"')")
    tab.tell(f"localStorage.setItem('react-resizable-panels:graph-ltr', {json.dumps(WIDE_GRAPH)})")
    tab.open(f"{night.airflow.address}/dags/{AUDIT}/runs/{night.run}", 1500, 640)
    nodes = "[...document.querySelectorAll('.react-flow__node')].map(e => e.innerText.split('\\n')[0])"
    tasks = {"is_recorded", "is_unpublished", "late_windows", "other_clusters", "reclassify [1]", "run_others [1]"}
    assert {*until(lambda: tab.tell(nodes), "the graph", 60)} == tasks | {step.name for step in STEPS}
    tab.shows("success")
    tab.picture(pictures / "airflow-graph.webp")


def test_rendered_templates_show_settings_and_command(night: Night, tab: Tab, pictures: Path) -> None:
    tab.tell("localStorage.setItem('default_dag_view', '\"grid\"')")
    tab.open(f"{night.airflow.address}/dags/{AUDIT}/runs/{night.run}/tasks/rebuild/rendered_templates", height=860)
    for text in (night.inputs["logs"], '"window_from"', '"--settings"'):
        tab.shows(text)
    tab.picture(pictures / "airflow-rendered.webp")


def test_validation_leads_to_data_docs_that_ask_no_other_server(night: Night, tab: Tab, pictures: Path) -> None:
    tab.open(f"{night.airflow.address}/hindsight/orders/validation.html")
    tab.open(tab.tell("document.querySelector('a[href^=data_docs]').href"), height=600)
    tab.shows("no log has more than 1,000 lines")
    assert "ERR_" not in "".join(tab.said), "the browser refuses to ask, before any server could answer"
    tab.tell("[...document.querySelectorAll('h5')].find(e => e.innerText.trim() === 'lines_in').scrollIntoView()")
    tab.picture(pictures / "airflow-data-docs.webp")
