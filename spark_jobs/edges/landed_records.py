"""Records of groups that have landed in the lake and were not taken yet."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.catalog.bronze import GROUP_RECORDS
from spark_jobs.edges import landing
from spark_jobs.edges.log_files import escaped
from spark_jobs.edges.store import Store
from spark_jobs.transforms.intake import group_records


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
