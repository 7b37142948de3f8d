"""One Spark session for all tests of a process, as every step gets it; the processes of a run share one Spark."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Generator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from kafka_hindsight.start import launch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIVE = "tests/live/"
DRILL = "tests/live/test_drill.py"
"""It starts brokers of its own."""


LONGEST = (
    "tests/live/",
    "tests/audit/",
    "tests/store/test_reclassify.py",
    "tests/store/test_mixed_folder.py",
    "tests/store/test_judged_night.py",
    "tests/store/test_group_records.py",
    "tests/store/test_metadata_files.py",
    "tests/unit/report/test_report_browser.py",
    "tests/store/",
    "tests/spark/",
    "tests/intake/",
    "tests/unit/expectations/test_validation.py",
    "tests/unit/docs/test_recipes.py",
    "tests/unit/package/test_api.py",
    "tests/unit/report/test_report_page.py",
    "tests/unit/doctor/test_doctor.py",
    "tests/unit/knowledge/test_pumping.py",
    "tests/unit/cli/test_alert_command.py",
    "tests/unit/logs/test_proposals.py",
    "tests/unit/judgements/test_ruling_predicates.py",
    "tests/unit/judgements/test_less_evidence.py",
    "tests/unit/sql/test_one_more_loss.py",
    "tests/unit/logs/test_pattern_layouts.py",
)
"""What begins first, where tests run side by side: what begins last should be short."""


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The session, never stopped between tests.

    Imported late: tests of the DAGs run where there is no Spark.
    """
    os.environ.update(launch.spark_variables())
    time.tzset()
    from tests.support.one_spark import started

    return started()


@pytest.hookimpl(tryfirst=True)  # before Hypothesis loads the profile that the command line names
def pytest_configure(config: pytest.Config) -> None:
    """Where tests run side by side, the process that hands them out offers one Spark to all of them."""
    if config.pluginmanager.has_plugin("hypothesispytest"):  # tests of the DAGs run where there is none
        from tests.support import draws

        draws.load_profiles()
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        from tests.support.leash import offered

        stack = ExitStack()
        stack.enter_context(offered())
        config.add_cleanup(stack.close)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What collection makes stays to the end: the garbage collector does not look at it, and later seldom at all."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(5_000, 20, 50)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest groups first; the others keep the order of the command line."""

    def turn(item: pytest.Item) -> int:
        return next((n for n, begin in enumerate(LONGEST) if item.nodeid.startswith(begin)), len(LONGEST))

    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where tests run side by side, those of one file keep to one process, and those of the live cluster to one too.

    Work is handed out in the order of `pytest_collection_modifyitems`.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return LIVE if file.startswith(LIVE) and file != DRILL else file

    return ByFile(config, log)
