"""The pipeline as data: every table has one writer, and nothing is read before it is written."""

from __future__ import annotations

from collections import Counter

from kafka_hindsight.catalog import TABLES
from kafka_hindsight.catalog.steps import BY_NAME, COLLECT, INGEST, MAINTAIN, RECLASSIFY, STAGED, STEPS


def test_every_table_of_the_lake_is_written_by_exactly_one_step() -> None:
    """Reclassify does what the nightly steps do, over a window of the past; one table is its own."""
    own = set(RECLASSIFY.writes) - {table for step in STEPS for table in step.writes}
    assert own == {"quality.verdict_changes"}
    writers = Counter([*own, *(table for step in STEPS for table in step.writes)])
    assert writers == Counter([*(t.full_name for t in TABLES), *STAGED])


def test_step_reads_only_tables_of_earlier_steps() -> None:
    written: set[str] = set()
    for step in STEPS:
        assert set(step.reads) <= written, step.name
        written |= set(step.writes)


def test_gold_is_written_only_by_the_step_after_validation() -> None:
    golden = {t.full_name for t in TABLES if t.layer == "gold"}
    assert [s.name for s in STEPS if golden & set(s.writes)] == ["publish"]
    assert [s.name for s in STEPS if set(STAGED) & set(s.reads)] == ["validate", "publish"]


def test_collect_writes_the_bronze_tables_of_ingest() -> None:
    assert set(COLLECT.writes) == {table for table in INGEST.writes if table.startswith("bronze.")}
    assert set(BY_NAME.values()) == {COLLECT, *STEPS, RECLASSIFY, MAINTAIN}
