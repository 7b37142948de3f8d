"""What gold asks of every writer that knows Delta's CHECK, as Spark does: a row that breaks a law is not taken."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import gold
from kafka_hindsight.lake.store import Store
from tests.support.rows import AT, values
from tests.support.spark_rows import frame_of


def test_spark_cannot_write_row_that_breaks_check_of_gold(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.create(gold.REBALANCES)
    backwards = values(gold.REBALANCES, ended_at=AT - timedelta(seconds=1))
    writer = frame_of(spark, [backwards], gold.REBALANCES).write.format("delta").mode("append")
    with pytest.raises((PySparkException, Py4JError), match="ends_after_start"):
        writer.save(f"{tmp_path}/gold/rebalances")
    assert store.version(gold.REBALANCES) == 0
