"""Run steps by the workers of Spark: `spark_run.py STEP --settings JSON`, as kafka_hindsight.steps.run has it.

spark-submit starts this file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

if __name__ == "__main__":  # Python puts this file's folder first, unless PYTHONSAFEPATH is set: `jobs` is no module
    here = Path(__file__).resolve().parent
    sys.path[:] = [str(here.parent), *(path for path in sys.path if Path(path).resolve() != here)]

from pyspark.sql import SparkSession

from kafka_hindsight.engine.judgement_run import Runner
from kafka_hindsight.engine.local import LocalRunner
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared import progress
from kafka_hindsight.start import launch
from kafka_hindsight.steps import run
from spark_jobs import session, tasks
from spark_jobs.ingest_logs import SparkEngine
from spark_jobs.rebuild_timelines import FrameRunner
from spark_jobs.tables import unreadable


class SparkWorkers:
    """The workers of this process's Spark application. It begins with the first step that needs it."""

    @property
    def application(self) -> str | None:
        """See Workers."""
        try:
            spark = session.running()
            return spark.sparkContext.applicationId if spark else None
        except Exception:  # Java may end while it is asked
            return None

    @contextmanager
    def at_work(self, run_id: str) -> Iterator[None]:
        """See Workers."""
        spark = session.running() or session.start(f"hindsight {run_id}")
        print(f"Spark application {spark.sparkContext.applicationId}", flush=True)
        with tasks.reported(spark):
            yield

    def engine(self) -> SparkEngine:
        """See Workers."""
        return SparkEngine(self._spark)

    def runner(self, store: Store) -> AbstractContextManager[Runner]:
        """See Workers. Without Delta this process judges."""
        if problem := unreadable(self._spark, store):
            progress.say(problem)
            return nullcontext(LocalRunner(store))
        return FrameRunner(self._spark, store)

    @property
    def _spark(self) -> SparkSession:
        spark = session.running()
        if spark is None:
            raise RuntimeError("There is no session. Needed: `at_work` around what asks for workers.")
        return spark


def main(arguments: list[str]) -> int:
    """Run one step, or all of an audit, and return the exit code of the last one."""
    try:
        if launch.DRIVER_OF_YARN in os.environ:
            session.start("hindsight")
        return run.main(arguments, SparkWorkers())
    finally:
        session.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
