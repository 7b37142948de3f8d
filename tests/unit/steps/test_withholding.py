"""Rows that break critical expectations are taken out, whatever else their table holds; the account is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow
import pytest

from expectations.laws import LAWS
from kafka_hindsight.catalog import gold
from kafka_hindsight.catalog.quality import WITHHELD_ROWS
from kafka_hindsight.steps.validate import MOST_UNLINKED, row_withheld, withhold
from tests.support.lake import schema
from tests.support.rows import AT, values

LINK = ("gold.rebalances", "generation_reached_once")


def broken(table: str, row_count: int = 0, **row_numbers: Iterable[int]) -> list[dict[str, Any]]:
    """What validation says of a table where these expectations do not hold."""
    verdict = {"table": table, "description": "it holds", "success": False, "severity": "critical"}
    return [
        {
            **verdict,
            "expectation": name,
            "row_numbers": tuple(numbers),
            "row_count": row_count,
            "is_link": (table, name) == LINK,
        }
        for name, numbers in row_numbers.items()
    ]


def test_withheld_row_is_kept_with_the_expectations_that_it_breaks() -> None:
    laws = broken("gold.findings", 3, evidence_quoted=(1, 2), severity_known=(2,), window_from_present=())
    verdicts, withheld = withhold(laws)
    names = {n: [v["expectation"] for v in breaches] for n, breaches in withheld["gold.findings"].items()}
    assert names == {1: ["evidence_quoted"], 2: ["evidence_quoted", "severity_known"]}
    assert [v["severity"] for v in verdicts] == ["warning", "warning", "critical"]
    unproven = row_withheld(
        values(gold.FINDINGS, finding_id="unproven", evidence=[]), "gold.findings", withheld["gold.findings"][1]
    )
    assert (unproven["table"], unproven["happened_at"]) == ("gold.findings", AT)
    assert unproven["sentences"] == ["evidence_quoted: it holds"]
    assert '"finding_id":"unproven"' in unproven["row"]
    run = {"run_id": "r", "cluster": "prod", "window_from": AT, "window_to": AT, "run_withheld_at": AT}
    (kept,) = pyarrow.Table.from_pylist([{**run, **unproven}], schema(WITHHELD_ROWS)).to_pylist()
    assert kept == {**run, **unproven}


def test_a_table_may_lose_each_of_its_rows() -> None:
    verdicts, withheld = withhold(broken("gold.findings", 6, evidence_quoted=range(6)))
    assert [*withheld["gold.findings"]] == [*range(6)]
    assert [v["severity"] for v in verdicts] == ["warning"]


def test_rows_with_the_same_key_are_withheld_together() -> None:
    _, withheld = withhold(broken("gold.findings", 9, key_unique=(0, 1)))
    assert {n: [v["expectation"] for v in of_row] for n, of_row in withheld["gold.findings"].items()} == {
        0: ["key_unique"],
        1: ["key_unique"],
    }


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
    verdicts, withheld = withhold(broken(table, of, **{name: range(bad)}))
    assert [v["severity"] for v in verdicts] == ["critical" if is_refused else "warning"]
    assert len(withheld.get(table, {})) == (0 if is_refused else bad)


def test_breach_of_columns_or_of_the_account_withholds_no_row() -> None:
    laws = broken("gold.findings", 1, columns_match=()) + broken("quality.coverage", 1, lines_balance=())
    verdicts, withheld = withhold(laws)
    assert withheld == {}
    assert [v["severity"] for v in verdicts] == ["critical"] * 2
