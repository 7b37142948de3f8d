"""NOUNS: every table of the lake, declared once. Standard library only."""

from kafka_hindsight.catalog import bronze, gold, quality, quality_metadata, quality_verdicts, silver
from kafka_hindsight.catalog.model import Check, Column, Table

TABLES: tuple[Table, ...] = (
    *bronze.TABLES,
    *silver.TABLES,
    *gold.TABLES,
    *quality.TABLES,
    *quality_verdicts.TABLES,
    *quality_metadata.TABLES,
)
BY_NAME: dict[str, Table] = {t.full_name: t for t in TABLES}
__all__ = ["BY_NAME", "TABLES", "Check", "Column", "Table"]
