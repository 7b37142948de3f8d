"""Lakes of earlier versions: renamed tables and columns, once, at the beginning of the first step of this version.

Each table is written again beside the lake's tables and then takes the old one's place, so that a run that ends in
between loses nothing: the next one goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.model import Table
from kafka_hindsight.catalog.upgrades import LAKE_VERSION, UPGRADES, Renames
from kafka_hindsight.lake import delta_log, landing
from kafka_hindsight.lake.version import FILE, lake_version
from kafka_hindsight.shared import progress
from kafka_hindsight.spark.conform import conform
from kafka_hindsight.spark.tables.store import forget_snapshots
from kafka_hindsight.spark.tables.table_creation import PATH, create_table

_WORKSHOP = "upgrade"


def upgrade_lake(spark: SparkSession, lake: str) -> list[str]:
    """Brings the lake's tables to this code's version, and writes the version into the lake.

    Gives: the tables that were written again, by full name. Keeps: every row; run twice, the second run does nothing.
    Raises: BadInput where the lake is newer than this code.
    """
    version, upgraded = lake_version(lake), []
    for number in range(version + 1, LAKE_VERSION + 1):
        progress.say(f"Upgrading the lake's tables from version {number - 1} to {number}")
        renames = [UPGRADES[later] for later in range(number, LAKE_VERSION + 1)]
        upgraded += [n for n in UPGRADES[number].touched if _upgrade_table(spark, lake, n, renames)]
        landing.remove(f"{lake}/staging")
    if upgraded or FILE not in landing.names_in(lake):
        landing.remove(f"{lake}/{_WORKSHOP}")
        landing.write_json(f"{lake}/{FILE}", {"version": LAKE_VERSION})
    return upgraded


def _upgrade_table(spark: SparkSession, lake: str, name: str, renames: Sequence[Renames]) -> bool:
    """Whether the table was written again. Each step that a former run has done is passed over.

    Takes: the renames of the version and of each later one, since a table is written as this code declares it.
    """
    former_name, columns = renames[0].old_name(name), renames[0].columns.get(name, {})
    old, new = _path(lake, former_name), _path(lake, name)
    made, former = _path(f"{lake}/{_WORKSHOP}/made", name), _path(f"{lake}/{_WORKSHOP}/former", name)
    is_whole = f"{made}.whole"
    if not landing.is_there(is_whole):
        landing.remove(former)
        if not _is_old(spark, old, columns, is_renamed=old != new):
            return False
        landing.remove(made)
        rows = spark.read.format("delta").load(old)
        for each in renames:
            rows = _renamed(rows, name, each)
        _write(spark, rows, BY_NAME[name], made)
        landing.write_atomically(is_whole, "")
    if landing.is_there(made):
        if not landing.is_there(former):
            _move(spark, old, former)
        _move(spark, made, new)
    # From here on the new table is in place: the mark goes first, so that what is left of the old one is only waste.
    landing.remove(is_whole)
    landing.remove(former)
    forget_snapshots(spark)
    progress.say(f"Upgraded {name}" + (f", which was {former_name}" if old != new else ""))
    return True


def _is_old(spark: SparkSession, path: str, columns: Mapping[str, str], is_renamed: bool) -> bool:
    log = landing.names_in(f"{path}/{delta_log.FOLDER}")
    if delta_log.newest_version(log) is None:
        return False
    # A table whose values alone change has no old column: its version in the lake is what tells.
    return is_renamed or not columns or bool(columns.keys() & set(spark.read.format("delta").load(path).columns))


def _renamed(rows: DataFrame, name: str, renames: Renames) -> DataFrame:
    rows = rows.withColumnsRenamed(dict(renames.columns.get(name, {})))
    for (table, column), values in renames.values.items():
        if table == name and column in rows.columns:
            rows = rows.withColumn(column, _replaced(F.col(f"`{column}`"), values))
    return rows


def _replaced(column: Column, values: Mapping[str, str]) -> Column:
    known = F.create_map(*(F.lit(word) for pair in values.items() for word in pair))
    return F.coalesce(known[column.cast("string")], column.cast("string"))


def _write(spark: SparkSession, rows: DataFrame, table: Table, path: str) -> None:
    """Writes rows of before. What an old table need not hold the new one need not hold either."""
    lacking = {c.name: F.lit(None).cast(c.type) for c in table.columns if c.name not in rows.columns}
    open_columns = {*lacking, *(field.name for field in rows.schema if field.nullable)}
    columns = tuple(replace(c, nullable=c.nullable or c.name in open_columns) for c in table.columns)
    create_table(spark, replace(table, columns=columns), path)
    conform(rows.withColumns(lacking), table).write.format("delta").mode("append").save(path)


def _move(spark: SparkSession, path: str, target: str) -> None:
    """Gives a folder another path. Raises: OSError where the file system did not move it."""
    context: Any = spark.sparkContext
    old, new = (getattr(context._jvm, PATH)(place) for place in (path, target))
    system = old.getFileSystem(context._jsc.hadoopConfiguration())
    system.mkdirs(new.getParent())
    if not system.rename(old, new):
        raise OSError(f"{path} was not moved to {target}.")


def _path(lake: str, name: str) -> str:
    return f"{lake.rstrip('/')}/{name.replace('.', '/')}"
