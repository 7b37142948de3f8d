"""Airflow's part as pip installs it: its DAG factory, its page, its metadata, and the name that it must have."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kafka_hindsight.settings.home import HOME
from tests.support.package import build

LOADED = """
import json, sys
from importlib.metadata import entry_points, version
from pathlib import Path
import airflow, jsonschema
from airflow.dag_processing.dagbag import DagBag
from airflow.plugins_manager import get_fastapi_plugins
from airflow.providers_manager import ProvidersManager
bag = DagBag(sys.argv[1])
apps, _ = get_fastapi_plugins()
providers = entry_points(group="apache_airflow_provider", name="provider_info")
(provider,) = providers.select(module="kafka_hindsight_airflow.provider")
schema = Path(airflow.__file__).with_name("provider_info.schema.json").read_text()
jsonschema.validate(provider.load()(), json.loads(schema))
manager = ProvidersManager()
hook = manager.hooks["hindsight"]
form = [hook.hook_name, hook.connection_id_attribute_name, manager.field_behaviours["hindsight"]["relabeling"]["host"]]
places = sorted({Path(sys.modules[name].__file__).parts[-3] for name in ("hindsight_operator", "kafka_hindsight")})
print(json.dumps([sorted(bag.dags), bag.import_errors, [app["name"] for app in apps], places, form]))
"""
DAG_FILE = """
\"\"\"The clusters that our Airflow audits.\"\"\"

from kafka_hindsight_airflow.dags import hindsight_dags
from kafka_hindsight_airflow.notifiers import Look
from kafka_hindsight_airflow.operators import SnapshotOperator, StepOperator

hindsight_dags([{"name": "orders", "logs": "/logs/orders"}], lake="/lake")
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(build(HOME / "setup" / "airflow", tmp_path_factory.mktemp("built"))).extractall(folder)
    return folder


def load_in_airflow(work: Path, *path: Path, dag_file: str = DAG_FILE) -> subprocess.CompletedProcess[str]:
    """What Airflow finds, in a folder where nothing of the project is, with the package among what is installed."""
    dags = work / "dags"
    dags.mkdir()
    (dags / "own.py").write_text(dag_file)
    theirs = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment = {
        **theirs,
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(work / "no"),
    }
    command = [sys.executable, "-c", LOADED, str(dags)]
    return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)


def test_airflow_finds_dags_and_page_of_package(site: Path, tmp_path: Path) -> None:
    done = load_in_airflow(tmp_path, site)
    assert done.returncode == 0, done.stderr
    dags, errors, pages, places, form = json.loads(done.stdout.splitlines()[-1])
    of_each = ("collect", "maintenance", "night_audit", "reclassify")
    assert dags == sorted(["kafka_alerts", "kafka_snapshot", *(f"kafka_{name}_orders" for name in of_each)])
    assert (errors, pages) == ({}, ["Kafka Hindsight"])
    assert places == ["kafka_hindsight_airflow"]
    assert form == ["Kafka Hindsight", "hindsight_conn_id", "Lake"], "the form of a connection"


def test_dag_file_of_managed_airflow_page_loads(site: Path, tmp_path: Path) -> None:
    page = (HOME / "docs" / "managed.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.+?)```", page, flags=re.DOTALL)
    dags, errors, *_ = json.loads(load_in_airflow(tmp_path, site, dag_file=example).stdout.splitlines()[-1])
    assert "kafka_night_audit_orders" in dags and errors == {}


def test_foreign_kafka_hindsight_package_is_reported_with_its_path(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "theirs" / "kafka_hindsight"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    done = load_in_airflow(tmp_path, other.parent, site)
    output = done.stdout + done.stderr
    assert f"Found: another package kafka_hindsight, {other}." in output
    assert "What to do: rename" in output


def test_step_without_spark_environment_says_what_it_needs(site: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(site), "HINDSIGHT_SPARK_ENV": str(tmp_path)}
    program = "import kafka_hindsight_airflow; from hindsight_child import child; child('sql')"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert f"AirflowFailException: Found: no {tmp_path}/bin/spark-submit. Needed: " in done.stderr


def test_triggerer_finds_trigger_of_package(site: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def output(code: str) -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[-1]

    place = output(
        "import kafka_hindsight_airflow; from hindsight_trigger import YarnTrigger;"
        " print(YarnTrigger('spark_default', 'application_1_1').serialize()[0])"
    )
    module, _, name = place.rpartition(".")
    assert (module, name) == ("kafka_hindsight_airflow.triggers", "YarnTrigger")
    assert output(f"from {module} import {name}; print({name}.__name__)") == name, "it has imported nothing of ours yet"


def test_child_process_runs_library_inside_package(site: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(site),
        "HINDSIGHT_SPARK_ENV": str(HOME / ".venv-spark"),
        "HINDSIGHT_CONTAINER": "image",
    }
    program = (
        "import kafka_hindsight_airflow; from hindsight_child import child; print(*child('clusters', 'schema').stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert '"$schema"' in done.stdout, done.stdout + done.stderr
