"""One Spark session for all tests of a process, as every step gets it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_jobs import launch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The session, never stopped between tests. Imported late: tests of the DAGs run where there is no Spark."""
    os.environ.update(launch.environment())
    time.tzset()
    from spark_jobs.edges import session

    return session.start("tests", "local[2]")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Where tests run side by side, those of one file keep to one process, and those of the live cluster to one too."""
    if item.config.pluginmanager.hasplugin("xdist"):
        tier, *_ = item.path.relative_to(Path(__file__).parent).parts
        item.add_marker(pytest.mark.xdist_group(tier if tier == "live" else item.path.stem))
