"""Airflow as `make audit` brings it along, on tables of its own."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from kafka_hindsight.start import embedded_airflow

os.environ.update(embedded_airflow.environment())
os.environ["AIRFLOW_HOME"] = tempfile.mkdtemp(prefix="hindsight-airflow-")
atexit.register(shutil.rmtree, os.environ["AIRFLOW_HOME"], ignore_errors=True)
os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] = f"sqlite:///{os.environ['AIRFLOW_HOME']}/airflow.db"
os.environ["AIRFLOW__LOGGING__BASE_LOG_FOLDER"] = os.environ["AIRFLOW_HOME"] + "/logs"
for name in ("HINDSIGHT_RETRIES", "HINDSIGHT_DEADLINE_HOURS", "AIRFLOW_CONN_SPARK_DEFAULT"):
    os.environ.pop(name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a DAG or a plugin does by a deprecated name of Airflow's is an error, whoever warns."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings("error::DeprecationWarning", "error::FutureWarning"))
