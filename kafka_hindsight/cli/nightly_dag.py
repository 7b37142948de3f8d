"""`make audit`: the nightly DAG, run once by the Airflow that set-up built, and followed in a terminal.

It is not a verb: no verb of `hindsight` starts Airflow. It takes its inputs from variables, as make hands them on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import IO

from kafka_hindsight.audit.audit_run import audit
from kafka_hindsight.audit.follow import clean_environment
from kafka_hindsight.audit.inputs import audit_settings, live_cluster
from kafka_hindsight.cli.endings import exit_code_of
from kafka_hindsight.settings.home import WORK
from kafka_hindsight.settings.models import INPUTS, Settings, param_name
from kafka_hindsight.start import embedded_airflow

DAG = "kafka_night_audit"


def main() -> int:
    """Audit by DAG runs. Exit codes are those of `hindsight audit`."""
    return exit_code_of(lambda: audit(audit_settings(os.environ, {}), live_cluster(os.environ), _start_dag_run))


def _start_dag_run(settings: Settings, variables: Mapping[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    values = json.loads(settings.to_json())
    conf = {
        **{param_name(field): values[field] for field in INPUTS},
        "whole_input": settings.window_from is None,
        "read_to_end": True,
        "run_id": settings.run_id,
    }
    return subprocess.Popen(
        [str(embedded_airflow.PROGRAM), "dags", "test", DAG, settings.run_at.isoformat(), "--conf", json.dumps(conf)],
        env={**clean_environment(), **embedded_airflow.airflow_variables(), **variables},
        stdout=output,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        cwd=WORK,
    )


if __name__ == "__main__":
    sys.exit(main())
