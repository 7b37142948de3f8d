"""The Spark session."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from py4j.java_gateway import java_import
from pyspark import SparkContext
from pyspark.sql import SparkSession

from kafka_hindsight.settings.home import HOME, PACKAGE
from kafka_hindsight.start import launch
from kafka_hindsight.start.temporary_folders import folder_of_process, temporary_folder

_ARCHIVE = "kafka_hindsight"
"""The archive of our own code, which executors import."""

_SHIPPED: dict[str, TemporaryDirectory[str]] = {}
"""The folder in which the archive of an application lies."""

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable by which spark-submit names its JVM to Python. That JVM has read our settings from a file."""

_FREQUENT_CLASSES = ("org.apache.spark.sql.functions", "org.apache.spark.api.python.PythonUtils")
"""Classes that PySpark looks up by a short name for each column. Without an import Java searches every jar for them."""


def start(name: str, master: str | None = None, overrides: Mapping[str, str] | None = None) -> SparkSession:
    """Start a session in UTC; `overrides` are settings that replace ours.

    Under spark-submit the master is chosen already, so leave `master` out.
    """
    is_submitted = _SUBMITTED in os.environ
    settings = {**({} if is_submitted else launch.configuration()), **(overrides or {})}
    builder = SparkSession.builder.appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    if not is_submitted:
        _start_java(settings)
    if master:
        builder = builder.master(master)
    spark = builder.getOrCreate()
    context: Any = spark.sparkContext
    for name in _FREQUENT_CLASSES:
        java_import(context._jvm, name)
    if not spark.sparkContext.master.startswith("local["):
        _ship(spark)
    return spark


def _start_java(settings: Mapping[str, str]) -> None:
    """Start the JVM of this process, if it has none. Source: PySpark's launch_gateway.

    PySpark would hand all settings to spark-submit as arguments, and other users of the machine see those.
    """
    spark_context: Any = SparkContext
    folder = folder_of_process()
    file = shlex.quote(str(launch.properties_file(settings, folder)))
    ours = {"PYSPARK_SUBMIT_ARGS": f"--properties-file {file} pyspark-shell", **launch.java_variables(folder)}
    before = {name: value for name, value in os.environ.items() if name in ours}
    os.environ |= ours
    try:
        spark_context._ensure_initialized()
    finally:
        for name in ours:
            del os.environ[name]
        os.environ |= before


def running() -> SparkSession | None:
    """The session of this process; None if it has none."""
    return SparkSession.getActiveSession()


def stop() -> None:
    """Stop the session of this process, if it has one."""
    if spark := running():
        spark.stop()


def _ship(spark: SparkSession) -> None:
    """Send our own code to the executors, once for each application: a worker elsewhere imports it.

    Executors fetch the archive from the driver while the application lives, so its folder lives as long as this
    process.
    """
    context = spark.sparkContext
    if context.applicationId in _SHIPPED:
        return
    _SHIPPED[context.applicationId] = folder_of_archive = temporary_folder()
    packed = Path(folder_of_archive.name, f"{_ARCHIVE}.zip")
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for folder in (PACKAGE, HOME / "spark_jobs"):
            for file in sorted((*folder.rglob("*.py"), *folder.rglob("noise/*.jsonl"))):
                archive.write(file, Path(folder.name, file.relative_to(folder)))
    context.addPyFile(str(packed))
