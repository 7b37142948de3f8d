"""Where clocks of brokers differ, verdicts that compare brokers are no surer than likely."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_jobs.rebuild import at_most_likely


def test_where_clocks_differ_no_verdict_is_certain_and_none_becomes_surer(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("certain",), ("likely",), ("possible",), ("unknown",)], "confidence STRING")
    told = [row.confidence for row in at_most_likely(rows).collect()]
    assert told == ["likely", "likely", "possible", "unknown"]
