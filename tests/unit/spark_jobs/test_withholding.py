"""Rows that break a law by themselves are taken out, whatever else their table holds."""

from __future__ import annotations

from typing import Any

import pyarrow

from kafka_hindsight.catalog import gold
from kafka_hindsight.catalog.quality import WITHHELD_ROWS
from spark_jobs.publish import Checked, withhold
from tests.support.lake import schema
from tests.support.rows import AT, values


def broken(**row_numbers: tuple[int, ...]) -> list[dict[str, Any]]:
    """What validation says of gold.findings where these expectations do not hold."""
    verdict = {"table": "gold.findings", "description": "it holds", "success": False, "severity": "critical"}
    return [{**verdict, "expectation": name, "row_numbers": numbers} for name, numbers in row_numbers.items()]


def table_of(rows: list[dict[str, Any]]) -> pyarrow.Table:
    return pyarrow.Table.from_pylist(rows, schema(gold.FINDINGS))


def findings(*bad: dict[str, Any], good: int = 4) -> Checked:
    rows = [values(gold.FINDINGS, finding_id=f"good-{n}") for n in range(good)]
    rows += [values(gold.FINDINGS, finding_id=f"bad-{n}", **columns) for n, columns in enumerate(bad)]
    laws = {"evidence_quoted": (good,), "severity_known": (), "inside_window": ()}
    laws |= {"severity_known": (good + 1,)} if len(bad) > 1 else {}
    return Checked({"gold.findings": table_of(rows)}, broken(**laws))


def test_withheld_row_is_kept_with_the_laws_it_breaks() -> None:
    left = withhold(findings({"evidence": []}))
    assert left.tables["gold.findings"]["finding_id"].to_pylist() == [f"good-{n}" for n in range(4)]
    (row,) = left.rows
    assert (row["table"], row["happened_at"]) == ("gold.findings", AT)
    assert [s.partition(":")[0] for s in row["sentences"]] == ["evidence_quoted"]
    assert '"finding_id":"bad-0"' in row["row"]
    assert (left.misleads, left.sentences[0].partition(" broke ")[0]) == ((), "1 row of gold.findings")
    assert [v["severity"] for v in left.with_warnings().verdicts] == ["warning"] * 3
    run = {"run_id": "r", "cluster": "prod", "window_from": AT, "window_to": AT, "run_withheld_at": AT}
    (kept,) = pyarrow.Table.from_pylist([{**run, **row}], schema(WITHHELD_ROWS)).to_pylist()
    assert kept == {**run, **row}


def test_table_with_too_many_withheld_rows_is_misleading() -> None:
    left = withhold(findings({"evidence": []}, {"severity": "huge"}))
    assert [r["sentences"][0].partition(":")[0] for r in left.rows] == ["evidence_quoted", "severity_known"]
    assert left.misleads == ("gold.findings",)


def test_rows_with_the_same_key_are_withheld_together() -> None:
    twins = [values(gold.FINDINGS, finding_id=name) for name in ("a", "a", *"bcdefgh")]
    staged = table_of(twins)
    left = withhold(Checked({"gold.findings": staged}, broken(key_unique=(0, 1))))
    assert left.tables["gold.findings"]["finding_id"].to_pylist() == list("bcdefgh")
    assert [r["sentences"] for r in left.rows] == [["key_unique: it holds"]] * 2
    assert (left.misleads, left.tables["gold.findings"].column_names) == ((), staged.column_names)


def test_breach_of_columns_or_window_withholds_no_row() -> None:
    checked = findings()
    same = withhold(Checked(checked.tables, broken(inside_window=(), columns_match=())))
    assert (same.rows, same.tables) == ((), checked.tables)
