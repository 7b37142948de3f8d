"""At least, best, at most: each table that has two of them has a law that keeps them in that order."""

from __future__ import annotations

import re

import pytest

from kafka_hindsight.catalog import TABLES, Table


def pairs(table: Table) -> list[tuple[str, str]]:
    """The columns of a table of which the first is never above the second."""
    names = {c.name for c in table.columns}
    bounds = []
    for low in sorted(n for n in names if re.search(r"(^|_)low(_|$)", n)):
        high, best = re.sub(r"(^|_)low(_|$)", r"\1high\2", low), re.sub(r"_low(_|$)", r"\1", low)
        bounds += [(low, high)] if high in names else []
        if best != low and best in names:
            bounds += [(low, best), *([(best, high)] if high in names else [])]
    return bounds


PAIRS = [(t, low, high) for t in TABLES if t.layer in ("gold", "quality") for low, high in pairs(t)]


@pytest.mark.parametrize(("table", "low", "high"), PAIRS, ids=[f"{t.full_name} {a} {b}" for t, a, b in PAIRS])
def test_bounds_of_each_table_have_a_law(table: Table, low: str, high: str) -> None:
    order = re.compile(rf"\b{low} <= {high}\b|\b{high} >= {low}\b|\b{low} > {high}\b|\b{high} < {low}\b")
    assert any(order.search(check.predicate.replace("`", "")) for check in table.checks), (low, high)
