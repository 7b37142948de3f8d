"""The progress of Spark's running stages, for the terminal that waits for a step."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from pyspark.sql import SparkSession

from kafka_hindsight.shared import progress


@contextmanager
def reported(spark: SparkSession) -> Iterator[None]:
    """Say every ten seconds, while the block runs, how many tasks of each running stage are done.

    Source: SparkStatusTracker. It sees the stages of every thread of the application.
    """
    stop = Event()
    watcher = Thread(target=_watch, args=(spark.sparkContext.statusTracker(), stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _watch(tracker: Any, stop: Event) -> None:
    began = dict[int, float]()
    with contextlib.suppress(Exception):  # Java may end while it is asked
        while not stop.wait(progress.INTERVAL_S):
            for number in tracker.getActiveStageIds():
                stage, now = tracker.getStageInfo(number), time.monotonic()
                elapsed = now - began.setdefault(number, now)
                if stage and stage.numCompletedTasks and elapsed:
                    remaining = progress.time_left(elapsed, stage.numCompletedTasks / stage.numTasks)
                    progress.say(
                        f"{stage.numCompletedTasks} of {stage.numTasks} tasks of this stage are done; {remaining}"
                    )
