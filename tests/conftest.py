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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where tests run side by side, those of one file keep to one process, and those of the live cluster to one too.

    Before pytest-xdist, which reads the groups in the same hook.
    """
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            tier, *_ = item.path.relative_to(Path(__file__).parent).parts
            item.add_marker(pytest.mark.xdist_group(tier if tier == "live" else str(item.path)))
