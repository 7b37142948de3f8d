"""The recorded night, and the same with the clock of one broker in another zone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from drill.plain_reader import read_folder
from spark_jobs.catalog.silver import EVENTS
from spark_jobs.shared.conform import frame_of
from spark_jobs.transforms.intake.clocks_apart import Distance, apart, distances
from tests.support.logs import unpack_night


def test_a_broker_in_another_zone_is_named_and_a_plain_night_says_nothing(spark: SparkSession, tmp_path: Path) -> None:
    events, _ = read_folder(unpack_night(tmp_path) / "logs", "prod", "broker")
    told = [e.as_dict() for e in events if e.kind in ("leader_started", "follower_started")]

    def said(hours: int) -> list[str]:
        moved = timedelta(hours=hours)
        rows = [{**row, "happened_at": row["happened_at"] + moved * (row["broker"] == 2)} for row in told]
        return apart(Distance(*row) for row in distances(frame_of(spark, rows, EVENTS)).collect())

    assert said(0) == []
    assert [sentence.partition(" seem")[0] for sentence in said(-2)] == [
        "The clocks of brokers 1 and 2",
        "The clocks of brokers 2 and 3",
    ]
