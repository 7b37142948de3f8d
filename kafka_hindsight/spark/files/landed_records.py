"""Records of groups that have landed in the lake and were not taken yet."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.catalog.bronze import GROUP_RECORDS
from kafka_hindsight.lake import landing
from kafka_hindsight.logs.files import escaped
from kafka_hindsight.spark.frames import group_record_rows as group_records
from kafka_hindsight.spark.tables.store import Store


def read_landed_records(store: Store, cluster: str, names: Iterable[str]) -> DataFrame | None:
    """What has landed for a cluster since the last run, as `group_records.read_records` gives it; None where nothing
    has.

    Takes: the names under which the cluster's records land.
    """
    landed = landing.landed_of(store.lake, landing.GROUP_RECORDS, names)
    held = store.held(GROUP_RECORDS, cluster) if landed else None
    if held is not None:
        landed -= {row[0] for row in held.select("run_landed_as").distinct().collect()}
    if not landed:
        return None
    folder = landing.landing_folder(store.lake, landing.GROUP_RECORDS)
    lines = store.spark.read.text([escaped(f"{folder}/{name}") for name in sorted(landed)])
    return group_records.read_records(lines.select("value", F.col("_metadata.file_name").alias("landed_as")))
