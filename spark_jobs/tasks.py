"""Tasks that Spark's workers run, and their progress.

The driver packs tasks into the function, so that no plan has them as text.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from kafka_hindsight.shared import progress

Task = TypeVar("Task")


def spread(
    spark: SparkSession,
    tasks: Sequence[Task],
    work: Callable[[Task], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    """Run work on tasks, each by a Spark task of its own. `schema` is that of the batches."""
    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(partial(_run, tasks=tasks, work=work), schema)


def _run(
    batches: Iterable[pa.RecordBatch], tasks: Sequence[Task], work: Callable[[Task], Iterator[pa.RecordBatch]]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch["id"].to_pylist():
            yield from work(tasks[number])


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
