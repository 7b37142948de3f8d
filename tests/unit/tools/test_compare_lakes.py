"""Two lakes compared: what is equal, and what differs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from deltalake import write_deltalake

from tools import compare_lakes
from tools.compare_lakes import TableComparison, TableReaders, compare

KEYS = {"gold.failovers": ("partition",)}
AT = datetime(2026, 11, 21, 1, 50, tzinfo=UTC)

Rows = list[dict[str, Any]]


def lake(**gold: Rows) -> TableReaders:
    return {f"gold.{name}": lambda rows=rows: pyarrow.Table.from_pylist(rows) for name, rows in gold.items()}


def differences(old: Rows, new: Rows, ignored: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Of one table."""
    (comparison,) = compare(lake(failovers=old), lake(failovers=new), KEYS, ignored)
    return comparison.differences


def test_row_order_is_ignored_but_row_count_is_compared() -> None:
    one, two = {"partition": 1, "at": AT}, {"partition": 2, "at": None}
    assert differences([one, two], [two, one]) == ()
    assert differences([one, one], [one]) == ('only in OLD: {"at": "2026-11-21 01:50:00+00:00", "partition": 1}',)


def test_rows_with_same_key_are_shown_side_by_side() -> None:
    old = [{"partition": 1, "kind": "offline", "evidence": [{"text": "a"}]}]
    new = [
        {"partition": 1, "kind": "planned", "evidence": [{"text": "b"}]},
        {"partition": 2, "kind": None, "evidence": None},
    ]
    assert differences(old, new) == (
        'partition=1: evidence was [{"text": "a"}], is [{"text": "b"}]; kind was "offline", is "planned"',
        'only in NEW: {"evidence": null, "kind": null, "partition": 2}',
    )


def test_number_differs_from_text_and_empty_list_from_null() -> None:
    assert differences([{"partition": 1}], [{"partition": "1"}])
    assert differences([{"partition": 1, "told": []}], [{"partition": 1, "told": None}])


def test_run_columns_are_not_compared() -> None:
    assert differences([{"partition": 1, "run_at": 1}], [{"partition": 1, "run_at": 2}]) == ()


def test_ignored_column_is_not_compared() -> None:
    old, new = ([{"partition": 1, "knowledge_version": version}] for version in "ab")
    assert differences(old, new) == ('partition=1: knowledge_version was "a", is "b"',)
    assert differences(old, new, ("knowledge_version",)) == ()
    assert differences(old, [{"partition": 1}], ("knowledge_version",)) == ()


def test_one_sided_column_differs() -> None:
    old, new = [{"partition": 1, "asked_for": True}], [{"partition": 1, "ruling": "r"}]
    assert differences(old, new) == ("column asked_for: only in OLD", "column ruling: only in NEW")


def test_one_sided_table_differs() -> None:
    old, new = lake(gone=[{"a": 1}]), lake(come=[{"a": 1}, {"a": 2}])
    assert [*compare(old, new, KEYS)] == [
        TableComparison("gold.come", None, 2, ("only in NEW",)),
        TableComparison("gold.gone", 1, None, ("only in OLD",)),
    ]


class TestFiles:
    """The command, on lakes that lie on disk."""

    @pytest.fixture()
    def lakes(self, tmp_path: Path) -> list[str]:
        for name, says in (("old", "Who led nobody saw."), ("new", "Leader unknown.")):
            for layer in ("bronze", "gold"):
                rows = pyarrow.Table.from_pylist([{"partition": 1, "at": AT, "says": says if layer == "gold" else ""}])
                write_deltalake(str(tmp_path / name / layer / "failovers"), rows)
        return [str(tmp_path / "old"), str(tmp_path / "new")]

    def test_lake_equals_itself(self, lakes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert compare_lakes.main([lakes[0], lakes[0]]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "equal    bronze.failovers             1 rows",
            "equal    gold.failovers               1 rows",
            "2 tables are equal, 0 differ.",
        ]

    def test_differences_are_printed(self, lakes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert compare_lakes.main(lakes) == 1
        output = capsys.readouterr().out
        assert "DIFFERS  gold.failovers" in output
        assert '"says": "Who led nobody saw."' in output
        assert output.endswith("1 tables are equal, 1 differ.\n")

    def test_ignored_columns_explain_differences(self, lakes: list[str]) -> None:
        assert compare_lakes.main([*lakes, "--ignore", "says", "--ignore", "at"]) == 0

    def test_unreadable_lake_is_refused(
        self, lakes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert compare_lakes.main([lakes[0], str(tmp_path / "none")]) == 2
        assert f"Found no Delta table in {tmp_path / 'none'}. Needed: a lake" in capsys.readouterr().err
