"""Spark's settings for judgements, and those of before when they are over."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import SparkSession

from kafka_hindsight.spark.session import for_judgements, for_many_rows
from tests.support.logs import conf

TASKS = "spark.sql.shuffle.partitions"
BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"


def test_a_judgement_gets_batches_with_a_limit_in_rows_alone(spark: SparkSession) -> None:
    def sizes(table: pa.Table) -> pa.Table:
        return pa.table({"rows": pa.array([len(b) for b in table.to_batches()], pa.int64())})

    lines = spark.range(2_500).selectExpr("1 AS key", "repeat('a long line of a log', 1000) AS text")
    batches = lines.groupBy("key").applyInArrow(sizes, "rows BIGINT")
    before = spark.conf.get(BYTES)
    with for_judgements(spark):
        assert [row["rows"] for row in batches.collect()] == [1_000, 1_000, 500]
    assert spark.conf.get(BYTES) == before


def test_many_rows_make_two_tasks_for_each_core_or_as_many_as_were_asked_for(spark: SparkSession) -> None:
    cores = spark.sparkContext.defaultParallelism
    for asked, tasks in ((1, 2 * cores), (2 * cores + 5, 2 * cores + 5)):
        with conf(spark, spark__sql__shuffle__partitions=str(asked)):
            with for_many_rows(spark):
                assert spark.conf.get(TASKS) == str(tasks)
            assert spark.conf.get(TASKS) == str(asked)
