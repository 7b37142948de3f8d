"""A table in order: few files, and none that no version of the last week holds."""

from __future__ import annotations

from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from kafka_hindsight.lake import landing
from kafka_hindsight.spark.tables.table_state import State

_FEW_LISTERS = ("spark.sql.sources.parallelPartitionDiscovery.parallelism", "8")
"""VACUUM lists a table's files in as many tasks, 10,000 by default, however few folders there are: minutes a table.

Source: `VacuumCommand.gc`, which takes `parallelPartitionDiscoveryParallelism` for its listing.
"""


def put_in_order(spark: SparkSession, path: str, state: State | None) -> None:
    """Makes many small files few, and removes files that no version of the last week holds (Delta's default).

    Takes: the files of the table, where they are known.
    Edge case: OPTIMIZE and VACUUM plan for seconds where there is nothing to do, and a lake has sixty tables. What
        OPTIMIZE leaves behind is younger than a week.
    """
    in_use = {file.path for file in state.files} if state else None
    has_others = in_use is None or not in_use.issuperset(_data_files(path))
    if in_use is None or len(in_use) > 1:
        DeltaTable.forPath(spark, path).optimize().executeCompaction()
    if has_others:
        spark.conf.set(*_FEW_LISTERS)
        DeltaTable.forPath(spark, path).vacuum()


def _data_files(path: str) -> list[str]:
    """Edge case: names of logs and of checksums begin with an underscore or a dot."""
    return [name for name in landing.names_in(path) if not name.startswith(("_", "."))]
