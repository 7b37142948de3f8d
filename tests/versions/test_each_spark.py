"""Each minor version of Spark: the wheel audits the recorded night beside it, and leaves the tables of one process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kafka_hindsight.audit.audit_run import judge
from kafka_hindsight.audit.inputs import SAMPLE
from kafka_hindsight.settings.home import HOME
from setup import maven
from setup.build import BUILD, DELTA_LOCK, UV, build_environment, index_settings
from tests.support.lake import contents
from tests.support.package import add_wheel, build

JARS = {
    "delta-spark_4.0_2.13-4.4.0.jar": "49e899667168b9412f83cbe894ce264107d7b896d6c5e12edca4e216845c1104",
    "delta-spark_4.1_2.13-4.4.0.jar": "75a9400986853c061f5109f012547de2545a5759e5e752e5ef633dabe16a4f10",
    **maven.locked(DELTA_LOCK),
}
"""Delta's jars for each version, in one folder."""

SPARKS = {"4.0.5": True, "4.1.4": True, "4.2.0": True, "4.2.1": True, "4.3.0": False}
"""Whether Delta serves a jar for each."""
INPUT = {"client_logs": str(SAMPLE / "clients"), "snapshots": str(SAMPLE / "snapshots.jsonl")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(HOME, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def of_one_process(tmp_path_factory: pytest.TempPathFactory) -> object:
    lake = tmp_path_factory.mktemp("one") / "lake"
    judge(SAMPLE / "logs", lake, **INPUT)
    return contents(lake)


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("delta") / "jars"
    modules = [maven.Module("io.delta", *name.removesuffix(".jar").rsplit("-", 1)) for name in JARS]
    maven.fetch(modules, JARS, folder, BUILD / "ivy", is_transitive=False)
    return folder


@pytest.mark.parametrize("version", SPARKS)
def test_audit_on_each_spark_leaves_tables_of_one_process(
    version: str, wheel: Path, of_one_process: object, jars: Path, tmp_path: Path
) -> None:
    environment, lake = tmp_path / "environment", tmp_path / "lake"
    build_environment(environment, "spark.txt")
    into = ["--python", environment / "bin" / "python"]
    # delta-spark's Python takes one Spark alone, and no step uses it: jars are enough.
    for command in (["uninstall", *into, "delta-spark"], ["install", "--no-deps", *into, f"pyspark=={version}"]):
        subprocess.run([UV, "pip", *command], env={**os.environ, **index_settings()}, check=True)
    hindsight = add_wheel(wheel, environment)
    options = [f"--{name.replace('_', '-')}={place}" for name, place in INPUT.items()]
    done = subprocess.run(
        [hindsight, "audit", "--engine=spark", f"--logs={SAMPLE / 'logs'}", f"--lake={lake}", *options],
        env={k: v for k, v in os.environ.items() if not k.startswith(("HINDSIGHT_", "PYTHON", "SPARK_"))}
        | {"HINDSIGHT_DELTA_JARS": str(jars)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert contents(lake) == of_one_process
    (log,) = (tmp_path / ".hindsight" / "runs").glob("*.log")
    assert "Spark application local-" in log.read_text()
    assert ("has no Delta, so this process judges" in log.read_text()) is not SPARKS[version]
