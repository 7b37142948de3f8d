"""Each minor version of Airflow 3: the project's DAG files load, and an audit runs by what pip installed there."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start import embedded_airflow
from kafka_hindsight.start.launch import spark_environment
from setup.build import build_environment
from tests.support.lake import contents, rows
from tests.support.nights import EXCERPTS
from tests.support.package import add_wheel, build

LOCKS = {"3.0": "airflow-3.0.txt", "3.1": "airflow-3.1.txt", "3.2": "airflow-3.2.txt", "3.3": "airflow.txt"}
OURS = ("alerts", "collect", "maintenance", "night_audit", "reclassify", "snapshot")
DAG_FILE = """
\"\"\"The clusters that our Airflow audits.\"\"\"

from kafka_hindsight_airflow.dags import hindsight_dags

hindsight_dags([{{"name": "orders", "logs": {logs!r}}}], lake={lake!r})
"""

NO_OUTAGE = {
    "name": "gold.broker_outages",
    "expectations": [
        {
            "type": "expect_table_row_count_to_equal",
            "kwargs": {"value": 0},
            "meta": {"name": "no_outage"},
            "description": "no broker was away",
            "severity": "critical",
        }
    ],
}
"""A user's own suite, which refuses the night."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(HOME / "setup" / "airflow", tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the rebuilt tables of the first audit hold; those of other minor versions are compared with it."""
    return {}


def report_links(database: Path) -> list[str]:
    """The reports that tasks link to, as Airflow keeps them."""
    with closing(sqlite3.connect(database)) as opened:
        return [json.loads(value) for (value,) in opened.execute("SELECT value FROM xcom WHERE key LIKE '%ReportLink'")]


@pytest.mark.parametrize("minor", LOCKS)
def test_dag_files_load_and_audit_runs_on_each_minor_version(
    minor: str, wheel: Path, audited: dict[str, str], tmp_path: Path
) -> None:
    environment = tmp_path / "environment"
    build_environment(environment, LOCKS[minor])
    given = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW", "HINDSIGHT_", "PYTHON"))},
        **embedded_airflow.airflow_variables(),
        "AIRFLOW_HOME": str(tmp_path / "home"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{tmp_path}/home/airflow.db",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(tmp_path / "home" / "logs"),
    }

    def airflow(*arguments: str, may_fail: bool = False) -> str:
        program = [environment / "bin" / "python", environment / "bin" / "airflow"]
        done = subprocess.run([*program, *arguments], cwd=tmp_path, env=given, capture_output=True, text=True)
        assert may_fail or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert airflow("version").splitlines()[-1].startswith(f"{minor}.")
    airflow("db", "migrate")
    airflow("dags", "reserialize")
    dags = airflow("dags", "list", "--columns", "dag_id", "--output", "plain")
    assert {*re.findall(r"^kafka_\w+", dags, re.MULTILINE)} == {f"kafka_{name}" for name in OURS}

    add_wheel(wheel, environment)
    lake, folder = tmp_path / "lake", tmp_path / "dags"
    folder.mkdir()
    (folder / "own.py").write_text(DAG_FILE.format(logs=str(EXCERPTS / "crash-2.8"), lake=str(lake)))
    given |= {
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(tmp_path / "none"),
        "HINDSIGHT_SPARK_ENV": str(spark_environment()),
        "PYTHONPATH": "",
    }
    airflow("dags", "reserialize")
    plugins = airflow("plugins", "--output", "json")
    assert "hindsight_report" in plugins and "hindsight_runs" in plugins
    whole = ("--conf", '{"whole_input": true}')
    output = airflow("dags", "test", "kafka_night_audit_orders", "2026-11-22T02:00Z", *whole)
    assert [o["kind"] for o in rows(lake, "gold.broker_outages")] == ["crash"], output
    (page,) = {Path(link).name for link in report_links(tmp_path / "home" / "airflow.db")}
    assert page != "index.html" and (lake / "report" / page).exists()
    content = contents(lake)
    assert audited.setdefault("", content) == content

    suite = lake / "expectations" / "gold.broker_outages.json"
    suite.parent.mkdir()
    suite.write_text(json.dumps(NO_OUTAGE))
    refused = airflow("dags", "test", "kafka_night_audit_orders", "2026-11-23T02:00Z", *whole, may_fail=True)
    sentences = " ".join(re.sub(r"[│\n]", " ", refused).split())
    for sentence in ("Refused: Nothing was published", "user.no_outage is broken", "validate ended with exit code 42."):
        assert sentence in sentences, refused
    assert [o["kind"] for o in rows(lake, "gold.broker_outages")] == ["crash"]
