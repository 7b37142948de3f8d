"""The embedded Airflow of `make audit`: SQLite and local Spark, all inside the project."""

from __future__ import annotations

import json

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start.launch import DEFAULT_MASTER

AIRFLOW_HOME = HOME / ".airflow"
PROGRAM = HOME / ".venv-airflow" / "bin" / "airflow"
"""Set-up installs Airflow beside the project; pip does not."""


def airflow_variables() -> dict[str, str]:
    """Airflow's settings for one run without retries. They override those of the user's own Airflow."""
    return {
        "AIRFLOW_HOME": str(AIRFLOW_HOME),
        "AIRFLOW__CORE__DAGS_FOLDER": str(HOME / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(HOME / "plugins"),
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DEFAULT_TIMEZONE": "utc",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{AIRFLOW_HOME}/airflow.db",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(AIRFLOW_HOME / "logs"),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": DEFAULT_MASTER}),
        "HINDSIGHT_RETRIES": "0",
        "HINDSIGHT_DEADLINE_HOURS": "0",
        "PYTHONPATH": str(HOME),
        "NO_COLOR": "1",
        "TZ": "UTC",
    }
