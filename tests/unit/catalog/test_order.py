"""The order in which tables are published."""

from __future__ import annotations

import pytest

from kafka_hindsight.catalog.gold import TABLES
from kafka_hindsight.catalog.order import in_waves
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.table_model import Column, Scalar, Table


def table(name: str, *refers_to: str) -> Table:
    ids = (f"{n}_id" for n in (name, *refers_to))
    return Table(Row, "gold", name, "one row", (f"{name}_id",), tuple(Column(i, Scalar.STRING, "an id") for i in ids))


def test_referenced_table_is_published_before_its_references() -> None:
    storm, outage, failover, finding = (
        table("storm", "failover"),
        table("outage"),
        table("failover", "outage"),
        table("finding"),
    )
    assert in_waves([storm, outage, failover, finding]) == [[outage, finding], [failover], [storm]]


def test_circular_references_of_tables_are_refused() -> None:
    with pytest.raises(ValueError, match=r"in a circle: gold\.one, gold\.two"):
        in_waves([table("free"), table("one", "two"), table("two", "one")])


def test_every_gold_table_refers_to_earlier_tables_alone() -> None:
    waves = in_waves(TABLES)
    assert sorted(t.full_name for wave in waves for t in wave) == sorted(t.full_name for t in TABLES)
    names = {t.key[0]: n for n, wave in reversed([*enumerate(waves)]) for t in wave if len(t.key) == 1}
    for n, wave in enumerate(waves):
        for t in wave:
            assert all(names[c.name] < n for c in t.columns if c.name in names and c.name != t.key[0])
