"""How Spark is started: its configuration, by a file; the rights and the folder of what a step writes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kafka_hindsight.cli import main as cli
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BAD_INPUT, BadInput
from kafka_hindsight.start import launch


def test_operator_setting_overrides_spark_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_SPARK_CONF", "spark.driver.memory=8g; spark.a=b=c")
    conf = launch.configuration()
    assert (conf["spark.driver.memory"], conf["spark.a"]) == ("8g", "b=c")
    assert "-Xms8g" in conf["spark.driver.extraJavaOptions"], "a heap begins no larger than it may become"


def test_driver_of_yarn_knows_it_and_is_started_once() -> None:
    conf = launch.configuration()
    assert conf[f"spark.yarn.appMasterEnv.{launch.DRIVER_OF_YARN}"] == conf["spark.yarn.maxAppAttempts"] == "1"
    assert f"spark.kubernetes.driverEnv.{launch.DRIVER_OF_YARN}" not in conf, (
        "Kubernetes awaits no application of Spark"
    )


def test_a_large_input_gets_the_second_compiler_and_smaller_partitions(tmp_path: Path) -> None:
    logs, clients = tmp_path / "logs", tmp_path / "clients"
    for folder in (logs / "broker-1", clients):
        folder.mkdir(parents=True)
        with (folder / "server.log").open("wb") as file:
            file.truncate(160_000_000)
    assert not launch.is_large(str(logs), None)
    assert not launch.is_large(str(tmp_path / "missing"))
    assert launch.is_large(str(logs), str(clients))
    assert launch.is_large(str(clients / "server.log"), str(logs / "broker-1" / "server.log"))
    assert launch.is_large("s3a://logs")
    small, large = launch.configuration(), launch.configuration(is_large=True)
    assert "TieredStopAtLevel" in small["spark.driver.extraJavaOptions"]
    assert "TieredStopAtLevel" not in large["spark.driver.extraJavaOptions"]
    assert large["spark.sql.files.maxPartitionBytes"] == "32m"


def test_run_id_of_scheduler_becomes_a_valid_name() -> None:
    name = launch.safe_run_id("scheduled__2026-11-21T02:00:00+00:00")
    assert name == "scheduled__2026-11-21T02-00-00-00-00"
    Settings.of({"logs": "/l", "lake": "/l", "run_id": name, "run_at": "2026-11-21"})


@pytest.fixture(autouse=True)
def default_umask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HINDSIGHT_UMASK", raising=False)


def test_spark_properties_file_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_SPARK_CONF", "spark.hadoop.fs.s3a.secret.key=a\\b")
    file = launch.properties_file(launch.configuration(), tmp_path)
    assert file.parent == tmp_path and stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = file.read_text().splitlines()
    assert "spark.hadoop.fs.s3a.secret.key a\\\\b" in lines
    assert {line.partition(" ")[0] for line in lines} == set(launch.configuration())


def test_options_of_a_user_for_the_jvm_come_after_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Djava.io.tmpdir=/scratch")
    expected = f'-Djava.io.tmpdir="{tmp_path}" -Djava.io.tmpdir=/scratch'
    assert launch.java_variables(tmp_path) == {"SPARK_SUBMIT_OPTS": expected}


@pytest.mark.parametrize(("umask", "mode"), [(None, 0o600), ("027", 0o640), ("007", 0o660)])
def test_written_files_are_private_unless_umask_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: str | None, mode: int
) -> None:
    if umask:
        monkeypatch.setenv("HINDSIGHT_UMASK", umask)
    before = os.umask(0o022)
    try:
        launch.keep_private()
        (tmp_path / "x").touch()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode
    assert launch.configuration()["spark.hadoop.fs.permissions.umask-mode"] == (umask or "077")


def test_invalid_umask_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HINDSIGHT_UMASK", "rwx")
    assert cli.main(["completion", "bash"]) == BAD_INPUT
    assert capsys.readouterr().err.startswith("HINDSIGHT_UMASK is 'rwx'. Needed: three digits from 0 to 7")


def test_auto_takes_spark_for_large_input_only_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert launch.uses_spark("auto", is_large=True) and not launch.uses_spark("auto", is_large=False)
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", str(tmp_path))
    assert not launch.uses_spark("auto", is_large=True)
    assert launch.uses_spark("spark", is_large=False)
    monkeypatch.setenv("HINDSIGHT_SPARK_CONF", "spark.master=yarn")
    assert launch.uses_spark("auto", is_large=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPARK_REMOTE", "sc://spark:15002"),
        ("HINDSIGHT_SPARK_CONF", "spark.remote=sc://spark:15002"),
        ("HINDSIGHT_SPARK_CONF", "spark.master=sc://spark:15002"),
    ],
)
def test_spark_connect_is_refused_in_a_sentence(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadInput, match=r"Found: Spark Connect.* Needed: a master.* What to do: "):
        launch.configuration()


def test_delta_is_configured_by_the_jars_of_the_sparks_own_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, jars = tmp_path / "environment", tmp_path / "jars"
    inside = environment / "lib" / "python3.11" / "site-packages" / "pyspark" / "jars"
    inside.mkdir(parents=True)
    jars.mkdir()
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", str(environment))
    monkeypatch.setenv("HINDSIGHT_DELTA_JARS", str(jars))
    for name in ("delta-spark_4.1_2.13-4.4.0.jar", "delta-spark_4.2_2.13-4.4.0.jar", "delta-storage-4.4.0.jar"):
        (jars / name).touch()
    configured = {}
    for core in ("spark-core_2.13-4.3.0.jar", "spark-core_2.13-4.2.1.jar"):
        for other in inside.iterdir():
            other.unlink()
        (inside / core).touch()
        configured[launch.spark_version()] = launch.configuration()
    assert not {name for name in configured["4.3"] if name == "spark.jars" or "catalog" in name}
    assert configured["4.2"]["spark.jars"] == f"{jars}/delta-spark_4.2_2.13-4.4.0.jar,{jars}/delta-storage-4.4.0.jar"
    assert configured["4.2"]["spark.sql.catalog.spark_catalog"].endswith("DeltaCatalog")
