"""One Spark for all processes of a test run: what one of them loads and compiles, the others need not.

The process that hands out the tests opens a folder and holds a lock in it, the leash. The first test that asks for
Spark starts it, in a process of its own; the others join. It ends with the leash, however the run ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

from py4j.clientserver import ClientServer
from pyspark import SparkContext
from pyspark.sql import SparkSession

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start import launch
from spark_jobs import session
from tests.support.leash import FOLDER, LEASH, held

_MASTER = "local[4]"
_MEMORY = "3g"
_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.delta.log.cacheSize": "100",
    **dict.fromkeys(
        (
            "spark.sql.ui.retainedExecutions",
            "spark.ui.retainedJobs",
            "spark.ui.retainedStages",
            "spark.ui.retainedTasks",
        ),
        "10",
    ),
}
"""How much is kept of lakes, plans and jobs that are over. By default it is what a whole run makes: the heap fills, and
Java takes a tenth of its time to look for garbage."""

_TURN, _ADDRESS, _LOG = "turn", "address.json", "log"


def started() -> SparkSession:
    """The session of this process: one of the shared Spark where one is offered, else that of a Spark of its own."""
    folder = os.environ.get(FOLDER)
    return _joined(Path(folder)) if folder else session.start("tests", "local[2]", _SETTINGS)


def _joined(folder: Path) -> SparkSession:
    port, secret = _address(folder)
    os.environ |= {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    try:
        of_process: Any = SparkContext
        of_process._ensure_initialized()
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    jvm = of_process._jvm
    sessions = jvm.org.apache.spark.sql.classic.SparkSession
    first = sessions.getDefaultSession().get()
    context = SparkContext(
        _MASTER, "tests", gateway=of_process._gateway, jsc=jvm.JavaSparkContext(first.sparkContext())
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)  # PySpark's own cancels the jobs of all processes
    mine = SparkSession(context, first.newSession())
    sessions.setDefaultSession(first)
    return mine


def _address(folder: Path) -> tuple[int, str]:
    """Where the shared Spark listens, and its secret. The first who asks starts it."""
    with held(folder / _TURN):
        if not (folder / _ADDRESS).exists():
            _start(folder)
    port, secret = json.loads((folder / _ADDRESS).read_text())
    return int(port), str(secret)


def _start(folder: Path) -> None:
    environment = {**os.environ, "HINDSIGHT_DRIVER_MEMORY": os.environ.get("HINDSIGHT_DRIVER_MEMORY") or _MEMORY}
    command = [sys.executable, "-m", "tests.support.one_spark", str(folder)]
    with (folder / _LOG).open("w") as log:
        server = subprocess.Popen(
            command,
            cwd=HOME,
            env=environment,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    while not (folder / _ADDRESS).exists():
        if server.poll() is not None:
            raise RuntimeError(f"Spark did not start: {(folder / _LOG).read_text()}")
        time.sleep(0.1)


def main(folder: Path) -> None:
    """Starts Spark, says where it listens, and ends with the leash."""
    os.environ.update(launch.spark_variables())
    session.start("tests", _MASTER, _SETTINGS)
    gateway = cast("ClientServer", SparkContext._gateway)
    coming = folder / f"{_ADDRESS}.coming"
    coming.write_text(json.dumps([gateway.gateway_parameters.port, gateway.gateway_parameters.auth_token]))
    coming.rename(folder / _ADDRESS)
    with held(folder / LEASH):
        os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
