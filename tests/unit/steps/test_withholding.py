"""Rows that break critical expectations are taken out, whatever else their table holds; the account is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow
import pytest

from expectations.laws import LAWS
from kafka_hindsight.catalog import gold
from kafka_hindsight.catalog.quality import WITHHELD_ROWS
from kafka_hindsight.steps.publish import MOST_UNLINKED, Checked, withhold
from tests.support.lake import schema
from tests.support.rows import AT, values

LINK = ("gold.rebalances", "generation_reached_once")


def broken(table: str, **row_numbers: Iterable[int]) -> list[dict[str, Any]]:
    """What validation says of a table where these expectations do not hold."""
    verdict = {"table": table, "description": "it holds", "success": False, "severity": "critical"}
    return [
        {**verdict, "expectation": name, "row_numbers": tuple(numbers), "is_link": (table, name) == LINK}
        for name, numbers in row_numbers.items()
    ]


def table_of(rows: list[dict[str, Any]]) -> pyarrow.Table:
    return pyarrow.Table.from_pylist(rows, schema(gold.FINDINGS))


def findings(*names: str) -> pyarrow.Table:
    return table_of([values(gold.FINDINGS, finding_id=name, **{"evidence": []}) for name in names])


def test_withheld_row_is_kept_with_the_expectations_that_it_breaks() -> None:
    laws = broken("gold.findings", evidence_quoted=(1, 2), severity_known=(2,), window_from_present=())
    left = withhold(Checked({"gold.findings": findings("good", "unproven", "huge")}, laws))
    assert left.tables["gold.findings"]["finding_id"].to_pylist() == ["good"]
    unproven, huge = left.rows
    assert (unproven["table"], unproven["happened_at"]) == ("gold.findings", AT)
    assert unproven["sentences"] == ["evidence_quoted: it holds"]
    assert huge["sentences"] == ["evidence_quoted: it holds", "severity_known: it holds"]
    assert '"finding_id":"unproven"' in unproven["row"]
    assert [v["severity"] for v in left.verdicts] == ["warning", "warning", "critical"]
    run = {"run_id": "r", "cluster": "prod", "window_from": AT, "window_to": AT, "run_withheld_at": AT}
    (kept,) = pyarrow.Table.from_pylist([{**run, **unproven}], schema(WITHHELD_ROWS)).to_pylist()
    assert kept == {**run, **unproven}


def test_a_table_may_lose_each_of_its_rows() -> None:
    names = [f"f-{n}" for n in range(MOST_UNLINKED + 1)]
    left = withhold(Checked({"gold.findings": findings(*names)}, broken("gold.findings", evidence_quoted=range(6))))
    assert (len(left.tables["gold.findings"]), len(left.rows)) == (0, len(names))
    assert [v["severity"] for v in left.verdicts] == ["warning"]


def test_rows_with_the_same_key_are_withheld_together() -> None:
    staged = findings("a", "a", *"bcdefgh")
    left = withhold(Checked({"gold.findings": staged}, broken("gold.findings", key_unique=(0, 1))))
    assert left.tables["gold.findings"]["finding_id"].to_pylist() == list("bcdefgh")
    assert [r["sentences"] for r in left.rows] == [["key_unique: it holds"]] * 2
    assert left.tables["gold.findings"].column_names == staged.column_names


@pytest.mark.parametrize(
    ("bad", "of", "is_refused"),
    [
        (1, 1, False),
        (MOST_UNLINKED, MOST_UNLINKED, False),
        (MOST_UNLINKED + 1, 23, True),
        (MOST_UNLINKED + 1, 24, False),
    ],
)
def test_links_that_are_broken_in_many_rows_refuse(bad: int, of: int, is_refused: bool) -> None:
    table, name = LINK
    assert name in {law.name for law in LAWS[table]}
    rows = [values(gold.REBALANCES, rebalance_id=f"r-{n}") for n in range(of)]
    staged = {table: pyarrow.Table.from_pylist(rows, schema(gold.REBALANCES))}
    left = withhold(Checked(staged, broken(table, **{name: range(bad)})))
    assert [v["severity"] for v in left.verdicts] == ["critical" if is_refused else "warning"]
    assert len(left.tables[table]) == (of if is_refused else of - bad)
    assert len(left.rows) == (0 if is_refused else bad)


def test_breach_of_columns_or_of_the_account_withholds_no_row() -> None:
    staged = {"gold.findings": findings("good"), "quality.coverage": pyarrow.table({"lines_in": [1]})}
    laws = broken("gold.findings", columns_match=()) + broken("quality.coverage", lines_balance=())
    same = withhold(Checked(staged, laws))
    assert (same.rows, same.tables) == ([], staged)
    assert [v["severity"] for v in same.verdicts] == ["critical"] * 2
