"""The jobs of a rebuild: how plans, Spark's UI and its logs call them, and the tasks that read what was kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession

from kafka_hindsight.judgements.rebuild.sources import Judgement
from kafka_hindsight.lake.kept_files import KeptFile
from kafka_hindsight.shared.timings import STAGE, Timing, timed

Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")

TITLES = {
    "readings": "detect imbalance of leaders and replicas out of sync",
    "settings_read": "find changes of settings in readings",
    "last_state": "find the last state of the metadata log",
    "metadata_start": "find where the metadata log goes on",
    "metadata": "rebuild events of the metadata log",
    "signals": "find signals of the life of brokers",
    "names": "name the clients and groups of logs",
    "blocks": "cut topics into blocks of partitions",
    "brokers": "rebuild timelines of brokers and classify outages",
    "witnesses": "find what logs could show",
    "lost_lines": "find where the lines of all brokers were lost",
    "facts": "gather facts of the window",
    "groups": "rebuild timelines of groups and classify causes of rebalances",
    "topic_partitions": "find the partitions of topics",
    "partitions": "rebuild timelines of partitions and classify failovers",
    "settings_in_force": "find the settings in force",
    "aftermath": "detect what followed outages",
    "subjects": "list topics, groups and brokers of the window",
    "balance": "detect periods of imbalance",
    "offset_facts": "find changes of logs and deletions of offsets",
    "offsets": "find where groups went on elsewhere and classify causes",
    "incidents": "list incidents and classify their causes",
    "advised_incidents": "say what would have prevented each incident",
    "producer_logs": "find failures and settings in the logs of producers",
    "failure_topics": "find the topics whose producers failed",
    "producers": "link failures of producers to what caused them",
    "findings": "find broken rules",
}
"""What each judgement does, in the words of the person who reads the UI."""


class Longest:
    """Keeps the longest of the timings that workers send with their rows: an AccumulatorParam of Spark."""

    def zero(self, value: Timing) -> Timing:
        """See AccumulatorParam."""
        return value

    def addInPlace(self, value1: Timing, value2: Timing) -> Timing:
        """See AccumulatorParam."""
        return max(value1, value2)


def title(judgement: Judgement) -> str:
    """A sentence about a judgement, with its name and its key."""
    by = f", by {', '.join(judgement.key)}" if judgement.key[1:] else ""
    return f"{TITLES.get(judgement.name, 'judge')} ({judgement.name}{by})"


def names_of(judgements: Iterable[Judgement]) -> str:
    """The names of judgements, each once."""
    return ", ".join(dict.fromkeys(j.name for j in judgements))


def with_name(function: Function, name: str) -> Function:
    """A function by the name under which plans show it."""
    function.__name__ = name
    return function


def describe(spark: SparkSession, what: str) -> None:
    """Say what the next jobs do: in the UI their description and the name of each of their stages."""
    spark.sparkContext.setJobDescription(what)
    spark.sparkContext.setLocalProperty("callSite.short", what)


def files_of(spark: SparkSession, what: str, frame: DataFrame) -> list[KeptFile]:
    """Run the job of a frame whose rows are files that its workers kept, and give them."""
    describe(spark, what)
    with timed(STAGE, what):
        return [KeptFile(*row) for row in frame.collect()]


def each_by_task(
    spark: SparkSession, what: str, items: Sequence[Any], work: Callable[[Any], Iterator[Value]]
) -> list[Value]:
    """Run work on items, each by a task of its own, and give the values: few, for the driver holds them."""
    describe(spark, what)

    def of_item(nth: int) -> Iterator[Value]:
        return work(items[nth])

    with timed(STAGE, what):
        return list(spark.sparkContext.parallelize(range(len(items)), len(items)).flatMap(of_item).collect())
