"""One Spark session for all tests of a process, as every step gets it."""

from __future__ import annotations

import os
import time

import pytest
from pyspark.sql import SparkSession

from spark_jobs import launch


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The session, never stopped between tests."""
    os.environ.update(launch.environment())
    time.tzset()
    from spark_jobs.edges import session

    return session.start("tests", "local[2]")
