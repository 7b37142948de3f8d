"""Two lakes compared: what is equal, what differs, and what a mapping declares of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pyarrow
import pytest
from deltalake import write_deltalake

from tools import compare_lakes
from tools.compare_lakes import Comparison, Lake, compare
from tools.lake_mapping import LakeMapping, MappingError, read_mapping

DECLARED = Path(compare_lakes.__file__).with_name("since_28d0312.toml")
KEYS = {"gold.failovers": ("partition",)}
AT = datetime(2026, 11, 21, 1, 50, tzinfo=UTC)

Rows = list[dict[str, Any]]


def lake(**gold: Rows) -> Lake:
    return {f"gold.{name}": lambda rows=rows: pyarrow.Table.from_pylist(rows) for name, rows in gold.items()}


def compare_all(old: Lake, new: Lake, **declared: Any) -> list[Comparison]:
    return list(compare(old, new, LakeMapping(**declared), KEYS))


def differences(old: Rows, new: Rows, **declared: Any) -> tuple[str, ...]:
    """Of one table."""
    (comparison,) = compare_all(lake(failovers=old), lake(failovers=new), **declared)
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


def test_one_sided_column_differs_unless_declared() -> None:
    old, new = [{"partition": 1, "asked_for": True}], [{"partition": 1, "ruling": "r"}]
    assert differences(old, new) == (
        "column asked_for: only in OLD, see `columns` and `removed`",
        "column ruling: only in NEW, see `columns` and `added`",
    )
    on = {"removed": {"gold.failovers": ["asked_for"]}, "added": {"gold.failovers": ["ruling"]}}
    assert differences(old, new, **on) == ()


def test_declared_addition_or_removal_must_be_one_sided() -> None:
    old, new = [{"partition": 1, "both": 1}], [{"partition": 1, "both": 2}]
    assert differences(old, new, added={"*": ["both"]}) == ("column both: only in OLD, see `columns` and `removed`",)
    assert differences(old, new, removed={"*": ["both"]}) == ("column both: only in NEW, see `columns` and `added`",)
    assert differences(old, new, left_out={"*": ["both"]}) == ()


def test_one_sided_rows_differ_unless_declared() -> None:
    old, new = ([{"kind": kind} for kind in kinds] for kinds in ("ab", "ac"))
    declared = {"removed_rows": {"gold.failovers": {"kind": ["b"]}}, "added_rows": {"gold.failovers": {"kind": ["c"]}}}
    assert len(differences(old, new)) == 2
    assert differences(old, new, **declared) == ()
    assert len(differences(new, old, **declared)) == 2


def test_renamed_tables_columns_and_codes_are_equal() -> None:
    old = lake(isr_lapses=[{"owed_to": "slow", "spans": [{"down": 1, "up": 2}], "kinds": ["slow", "disk"]}])
    new = lake(out_of_sync=[{"cause": "lagging", "spans": [{"from": 1, "up": 2}], "kinds": ["lagging", "disk"]}])
    table = "gold.out_of_sync"
    (comparison,) = compare_all(
        old,
        new,
        tables={"gold.isr_lapses": table},
        columns={"*": {"owed_to": "cause"}, table: {"spans.down": "from"}},
        values={table: {"cause": {"slow": "lagging"}, "kinds": {"slow": "lagging"}}},
    )
    assert comparison == Comparison(table, 1, 1, ())


def test_renamed_struct_keeps_renames_of_its_fields() -> None:
    old, new = [{"partition": 1, "spans": [{"down": 1}]}], [{"partition": 1, "times": [{"from": 1}]}]
    assert differences(old, new, columns={"*": {"spans": "times", "spans.down": "from"}}) == ()


def test_columns_can_swap_names_but_not_share_one() -> None:
    old, new = [{"partition": 1, "first": "a", "last": "b"}], [{"partition": 1, "first": "b", "last": "a"}]
    assert differences(old, new, columns={"*": {"first": "last", "last": "first"}}) == ()
    (sentence, *_) = differences(old, new, columns={"*": {"first": "last"}})
    assert sentence == "column last: two columns of OLD have this name, see `columns`"


def test_tables_cannot_share_a_name() -> None:
    with pytest.raises(MappingError, match="Needed: one name each"):
        compare_all(lake(a=[], b=[]), lake(b=[]), tables={"gold.a": "gold.b"})


def test_struct_field_can_be_declared() -> None:
    old = [{"partition": 1, "evidence": [{"line_id": "x", "text": "was seen"}]}]
    new = [{"partition": 1, "evidence": [{"line_id": "x", "text": "is shown", "layout": "l"}]}]
    on = {"reworded": {"gold.failovers": ["evidence.text"]}, "added": {"gold.failovers": ["evidence.layout"]}}
    assert differences(old, new, **on) == ()
    assert differences(old, [{**new[0], "partition": 2}], **on)


@pytest.mark.parametrize(
    ("old", "new", "is_equal"),
    [
        ("Who led nobody saw.", "Leader unknown.", True),
        (None, "Leader unknown.", False),
        ("Who led nobody saw.", "", False),
        (["one", "two"], ["1", "2"], True),
        (["one", "two"], ["both"], False),
    ],
)
def test_reworded_sentence_is_compared_by_presence(old: Any, new: Any, is_equal: bool) -> None:
    differing = differences(
        [{"partition": 1, "says": old}], [{"partition": 1, "says": new}], reworded={"gold.failovers": ["says"]}
    )
    assert (differing == ()) is is_equal


class TestIds:
    """An id is a hash of what a row is; with a word of it renamed, every reference to it changes too."""

    A, B, C, D = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)
    OLD = lake(
        outages=[{"outage_id": A, "broker": 1}, {"outage_id": B, "broker": 2}],
        failovers=[{"partition": 1, "outage_id": A, "all": [A, B]}],
    )
    REHASHED: ClassVar = {"rehashed": {"gold.outages": ["outage_id"]}}

    def renewed(self, **names: Any) -> Lake:
        return lake(
            outages=[{"outage_id": self.C, "broker": 1}, {"outage_id": self.D, "broker": 2}],
            failovers=[{"partition": 1, "outage_id": self.C, "all": [self.C, self.D], **names}],
        )

    def test_changed_ids_differ_with_hint(self) -> None:
        (_, outages) = compare_all(self.OLD, self.renewed())
        assert outages.differences[0].startswith("the rows differ in ids alone")

    def test_rehashed_ids_are_compared_by_their_rows(self) -> None:
        assert [c.differences for c in compare_all(self.OLD, self.renewed(), **self.REHASHED)] == [(), ()]

    def test_rehashed_reference_to_other_row_differs(self) -> None:
        (failovers, outages) = compare_all(self.OLD, self.renewed(outage_id=self.D), **self.REHASHED)
        assert outages.differences == ()
        assert failovers.differences[0].startswith("partition=1: outage_id was")


def test_one_sided_table_differs_unless_declared() -> None:
    old, new = lake(gone=[{"a": 1}]), lake(come=[{"a": 1}, {"a": 2}])
    assert compare_all(old, new) == [
        Comparison("gold.come", None, 2, ("only in NEW: see `tables` and `added`",)),
        Comparison("gold.gone", 1, None, ("only in OLD: see `tables` and `removed`",)),
    ]
    assert compare_all(old, new, added={"gold.come": ["*"]}, removed={"gold.gone": ["*"]}) == []
    assert compare_all(old, new, left_out={"gold.come": ["*"], "gold.gone": ["*"]}) == []


class TestFiles:
    """The command, on lakes and mappings that lie on disk."""

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

    def test_mapping_explains_differences(self, lakes: list[str], tmp_path: Path) -> None:
        mapping = tmp_path / "mapping.toml"
        mapping.write_text('[reworded]\n"gold.failovers" = ["says"]\n')
        assert compare_lakes.main([*lakes, "--mapping", str(mapping)]) == 0

    def test_unreadable_lake_or_mapping_is_refused(
        self, lakes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert compare_lakes.main([lakes[0], str(tmp_path / "none")]) == 2
        assert f"Found no Delta table in {tmp_path / 'none'}. Needed: a lake" in capsys.readouterr().err
        for text, problem in (
            ("[colums]\n", "the sections colums. Needed: tables, columns"),
            ('[columns]\nowed_to = "cause"\n', "section columns, another form for owed_to. Needed: the form that"),
            ('[added]\n"gold.failovers" = "ruling"\n', "section added, another form for gold.failovers. Needed:"),
            ("=", "cannot be read"),
        ):
            mapping = tmp_path / "mapping.toml"
            mapping.write_text(text)
            assert compare_lakes.main([*lakes, "--mapping", str(mapping)]) == 2
            assert problem in capsys.readouterr().err


def test_repository_mapping_and_its_examples_are_valid(tmp_path: Path) -> None:
    assert read_mapping(DECLARED).left_out["*"] == ["knowledge_version"]
    lines = DECLARED.read_text(encoding="utf-8").splitlines()
    sections = lines[next(n for n, line in enumerate(lines) if line.startswith("[")) :]
    examples = tmp_path / "examples.toml"
    examples.write_text("\n".join(line.removeprefix("# ") for line in sections), encoding="utf-8")
    assert all(vars(read_mapping(examples)).values())
