"""What Spark leaves on this machine when it is killed: it goes with our next process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kafka_hindsight.start import launch
from kafka_hindsight.start.temporary_folders import private_folder, temporary_folder

DRIVER = """
import time
from spark_jobs import session
spark = session.start("scratch", "local[1]")
spark.range(10).repartition(2).count()
print("works", flush=True)
time.sleep(600)
"""


def test_scratch_and_settings_of_a_killed_driver_go_with_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, **launch.spark_variables(), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as driver:
        assert driver.stdout and driver.stdout.readline() == "works\n"
        (folder,) = private_folder().iterdir()
        os.killpg(driver.pid, signal.SIGKILL)
    kinds = {path.name.partition("-")[0] for path in folder.iterdir()}
    assert {"blockmgr", "spark"} <= kinds
    with temporary_folder():
        assert not folder.exists()
