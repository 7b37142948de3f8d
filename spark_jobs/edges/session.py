"""The Spark session."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_jobs import launch


def start(name: str, master: str | None = None) -> SparkSession:
    """A session with Delta, in UTC. Under spark-submit the master is already chosen and `master` is left out."""
    builder = SparkSession.builder.appName(name)
    for key, value in launch.configuration().items():
        builder = builder.config(key, value)
    if master:
        builder = builder.master(master)
    return builder.getOrCreate()
