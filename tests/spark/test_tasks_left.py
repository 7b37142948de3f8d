"""What a step says while Spark works."""

from __future__ import annotations

import re
import time

import pytest
from pyspark.sql import SparkSession

from kafka_hindsight.shared import progress
from spark_jobs import tasks


def test_long_spark_stage_reports_done_tasks(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "INTERVAL_S", 0.1)
    with tasks.reported(spark):
        spark.sparkContext.parallelize(range(12), 12).foreach(lambda _: time.sleep(0.3))
    # Tests beside this one share its Spark, and the stages of all are reported.
    sentences = [text for text in capsys.readouterr().out.splitlines() if " of 12 tasks " in text]
    assert sentences
    form = re.compile(r"\d+ of 12 tasks of this stage are done; about \d+ (?:s|min) left")
    assert all(map(form.fullmatch, sentences))
