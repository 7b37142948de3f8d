"""Airflow as `make audit` brings it along, on tables of its own."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from kafka_hindsight.start import embedded_airflow

os.environ.update(embedded_airflow.airflow_variables())
os.environ["AIRFLOW_HOME"] = tempfile.mkdtemp(prefix="hindsight-airflow-")
atexit.register(shutil.rmtree, os.environ["AIRFLOW_HOME"], ignore_errors=True)
os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] = f"sqlite:///{os.environ['AIRFLOW_HOME']}/airflow.db"
os.environ["AIRFLOW__LOGGING__BASE_LOG_FOLDER"] = os.environ["AIRFLOW_HOME"] + "/logs"
for name in ("HINDSIGHT_RETRIES", "HINDSIGHT_DEADLINE_HOURS", "AIRFLOW_CONN_SPARK_DEFAULT"):
    os.environ.pop(name)


OF_OTHERS = (
    "ignore:Using `httpx` with `starlette.testclient`",  # Airflow's own import of fastapi.testclient (3.3.2)
    "ignore:unclosed file:ResourceWarning",  # the provider's hook does not close spark-submit's output (6.3.4)
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each warning is an error, whoever warns, but for those of others that nothing of ours causes."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings("error", *OF_OTHERS))
