"""Every table of the lake: one class each. What tables have in common is in catalog/row.py and rows/columns.py."""

from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows.bronze_rows import *  # noqa: F403
from kafka_hindsight.catalog.rows.gold_balance import *  # noqa: F403
from kafka_hindsight.catalog.rows.gold_brokers import *  # noqa: F403
from kafka_hindsight.catalog.rows.gold_groups import *  # noqa: F403
from kafka_hindsight.catalog.rows.gold_incidents import *  # noqa: F403
from kafka_hindsight.catalog.rows.gold_offsets import *  # noqa: F403
from kafka_hindsight.catalog.rows.gold_partitions import *  # noqa: F403
from kafka_hindsight.catalog.rows.gold_producers import *  # noqa: F403
from kafka_hindsight.catalog.rows.gold_subjects import *  # noqa: F403
from kafka_hindsight.catalog.rows.internal import *  # noqa: F403
from kafka_hindsight.catalog.rows.quality_rows import *  # noqa: F403
from kafka_hindsight.catalog.rows.silver_rows import *  # noqa: F403
from kafka_hindsight.catalog.rows.structs import *  # noqa: F403
from kafka_hindsight.catalog.table_model import Table

ROW_CLASS: dict[str, type[Row]] = {c.TABLE.full_name: c for c in list(globals().values()) if hasattr(c, "TABLE")}
"""The class of each table, by the table's full name, in the order in which they are declared."""


def tables_of(layer: str) -> list[Table]:
    """The tables of a layer, in the order in which they are declared."""
    return [c.TABLE for c in ROW_CLASS.values() if layer == c.TABLE.layer]
