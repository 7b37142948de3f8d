"""Which row class belongs to which table."""

from kafka_hindsight.catalog import TABLES, internal, rows
from kafka_hindsight.catalog.model import Table
from kafka_hindsight.catalog.row import Row

ROW_CLASS: dict[str, type[Row]] = {t.full_name: getattr(rows, t.row_name) for t in (*TABLES, *internal.TABLES)}
"""By the table's full name."""

TABLE_OF: dict[type[Row], Table] = {ROW_CLASS[t.full_name]: t for t in (*TABLES, *internal.TABLES)}
