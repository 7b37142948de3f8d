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
