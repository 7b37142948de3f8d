"""How Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_jobs.shared import launch
from spark_jobs.shared.config import Settings


def test_the_last_word_on_sparks_configuration_is_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_SPARK_CONF", "spark.driver.memory=8g; spark.a=b=c")
    conf = launch.configuration()
    assert (conf["spark.driver.memory"], conf["spark.a"]) == ("8g", "b=c")
    assert "-Xms8g" in conf["spark.driver.extraJavaOptions"], "a heap begins no larger than it may become"


def test_a_large_input_gets_the_second_compiler_and_smaller_partitions(tmp_path: Path) -> None:
    logs, clients = tmp_path / "logs", tmp_path / "clients"
    for folder in (logs / "broker-1", clients):
        folder.mkdir(parents=True)
        with (folder / "server.log").open("wb") as file:
            file.truncate(30_000_000)
    assert not launch.is_large(str(logs), None)
    assert not launch.is_large(str(tmp_path / "missing"))
    assert launch.is_large(str(logs), str(clients))
    assert launch.is_large(str(clients / "server.log"), str(logs / "broker-1" / "server.log"))
    assert launch.is_large("s3a://logs")
    small, large = launch.configuration(), launch.configuration(is_large=True)
    assert "TieredStopAtLevel" in small["spark.driver.extraJavaOptions"]
    assert "TieredStopAtLevel" not in large["spark.driver.extraJavaOptions"]
    assert large["spark.sql.files.maxPartitionBytes"] == "32m"


@pytest.mark.parametrize(("holds", "used"), [(b"classes", True), (b"", False), (None, False)])
def test_kept_classes_are_used_where_java_could_keep_them(
    holds: bytes | None, used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "classes.jsa"
    if holds is not None:
        kept.write_bytes(holds)
    monkeypatch.setattr(launch, "CLASSES", kept)
    options = launch.configuration()["spark.driver.extraJavaOptions"].split()
    assert (f"-XX:SharedArchiveFile={kept}" in options) is used


def test_a_schedulers_run_id_becomes_a_name_that_settings_take() -> None:
    name = launch.safe_run_id("scheduled__2026-11-21T02:00:00+00:00")
    assert name == "scheduled__2026-11-21T02-00-00-00-00"
    Settings.of({"logs": "/l", "lake": "/l", "run_id": name, "run_at": "2026-11-21"})
