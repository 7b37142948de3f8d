"""Each minor version of Spark: the wheel audits the recorded night beside it, and leaves the tables of one process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kafka_hindsight.audit.audit_run import judge
from kafka_hindsight.audit.inputs import SAMPLE
from kafka_hindsight.settings.home import HOME
from setup.build import UV, build_environment, index_settings
from tests.support.lake import contents
from tests.support.package import add_wheel, build

SPARKS = ("4.0.5", "4.1.4", "4.2.0", "4.3.0")
INPUT = {"client_logs": str(SAMPLE / "clients"), "snapshots": str(SAMPLE / "snapshots.jsonl")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(HOME, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def of_one_process(tmp_path_factory: pytest.TempPathFactory) -> object:
    lake = tmp_path_factory.mktemp("one") / "lake"
    judge(SAMPLE / "logs", lake, **INPUT)
    return contents(lake)


@pytest.mark.parametrize("version", SPARKS)
def test_audit_on_each_spark_leaves_tables_of_one_process(
    version: str, wheel: Path, of_one_process: object, tmp_path: Path
) -> None:
    environment, lake = tmp_path / "environment", tmp_path / "lake"
    build_environment(environment, "spark.txt")
    into = ["--python", environment / "bin" / "python"]
    # delta-spark takes one Spark alone, and no step uses it.
    for command in (["uninstall", *into, "delta-spark"], ["install", "--no-deps", *into, f"pyspark=={version}"]):
        subprocess.run([UV, "pip", *command], env={**os.environ, **index_settings()}, check=True)
    hindsight = add_wheel(wheel, environment)
    options = [f"--{name.replace('_', '-')}={place}" for name, place in INPUT.items()]
    done = subprocess.run(
        [hindsight, "audit", "--engine=spark", f"--logs={SAMPLE / 'logs'}", f"--lake={lake}", *options],
        env={k: v for k, v in os.environ.items() if not k.startswith(("HINDSIGHT_", "PYTHON", "SPARK_"))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert contents(lake) == of_one_process
    (log,) = (tmp_path / ".hindsight" / "runs").glob("*.log")
    assert "Spark application local-" in log.read_text()
