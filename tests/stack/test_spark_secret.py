"""The stack's Spark, by its own command lines: it takes work from who knows the secret that was drawn alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kafka_hindsight.start import launch
from setup import stack as setup_stack
from tests.stack.compose import Outside, stack
from tests.stack.running import Running

COUNT = """
from spark_jobs import session
import sys
print(session.start("secret", sys.argv[1]).range(10).count())
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = tmp_path_factory.mktemp("stack")
    setup_stack.draw(root / ".env")
    started = Running(Outside(stack(setup_stack.values_of(root / ".env")), root))
    try:
        started.start("spark-worker")
        yield started
    finally:
        started.end()


def count_with_settings(running: Running, conf: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A job of a driver with these settings."""
    master = f"spark://127.0.0.1:{running.outside.port('spark-master', 7077)}"
    settings = {"HINDSIGHT_SPARK_CONF": ";".join(f"{name}={value}" for name, value in conf.items())}
    environment = {**os.environ, **launch.spark_variables(), **settings}
    words = [sys.executable, "-c", COUNT, master]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=180)


def test_spark_refuses_driver_without_secret(running: Running, tmp_path: Path) -> None:
    text = running.outside.environment(running.outside.services["airflow-scheduler"])["HINDSIGHT_SPARK_CONF"]
    conf = {**dict(pair.split("=", 1) for pair in text.split(";")), "spark.executor.memory": "512m"}
    done = count_with_settings(running, conf)
    assert done.stdout == "10\n", done.stderr
    for wrong in ({**conf, "spark.authenticate.secret": "guessed"}, {"spark.cores.max": "1"}):
        refused = count_with_settings(running, wrong)
        assert refused.returncode != 0 and "10" not in refused.stdout
        assert "All masters are unresponsive" in refused.stderr
    secret = conf["spark.authenticate.secret"]
    assert secret not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
