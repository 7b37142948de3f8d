"""What providers that a user may add make of our tasks: run in an environment that has them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start import embedded_airflow
from kafka_hindsight.start.launch import spark_python
from setup.build import build_environment


def test_tasks_run_beside_providers_of_kubernetes_docker_and_openlineage(tmp_path: Path) -> None:
    environment, program = tmp_path / "environment", tmp_path / "bin" / "hindsight"
    build_environment(environment, "airflow.txt", "providers.txt")
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH={HOME} exec {spark_python()} -m kafka_hindsight.cli.main "$@"\n')
    program.chmod(0o755)
    given = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW", "HINDSIGHT_", "PYTHON"))},
        **embedded_airflow.airflow_variables(),
        "AIRFLOW_HOME": str(tmp_path / "home"),
        "HINDSIGHT_PROGRAM": str(program.parent),
    }
    tests = Path(__file__).with_name("beside_providers.py")
    command = [environment / "bin" / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    done = subprocess.run(command, cwd=HOME, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
