"""NOUNS: every table of the lake, declared once, as a class of catalog/rows. Standard library only."""

from kafka_hindsight.catalog import gold
from kafka_hindsight.catalog.rows import tables_of
from kafka_hindsight.catalog.table_model import Check, Column, Table

TABLES: tuple[Table, ...] = (*tables_of("bronze"), *tables_of("silver"), *gold.TABLES, *tables_of("quality"))
BY_NAME: dict[str, Table] = {t.full_name: t for t in TABLES}
__all__ = ["BY_NAME", "TABLES", "Check", "Column", "Table"]
