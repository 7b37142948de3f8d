"""What is expected of a table follows from its declaration, and a breach is told so that a person can find the row."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import pytest

from expectations.derive import Expectation, expectations_of
from expectations.laws import LAWS
from expectations.sentences import breach, columns_breach
from kafka_hindsight.catalog import BY_NAME, gold
from kafka_hindsight.catalog.codes import Code
from kafka_hindsight.catalog.gold import REBALANCES
from kafka_hindsight.catalog.row import Row, table
from kafka_hindsight.catalog.table_model import Check, Table
from kafka_hindsight.lake.ddl import properties
from kafka_hindsight.sql.predicates import evaluate, tables_in_sql
from tests.support.lake import schema
from tests.support.rows import AT, values


class PetKind(Code):
    """What a pet is."""

    CAT = "cat"
    DOG = "dog"


@table("gold.pets", key=("cluster", "pet_id"), time_column="born_at")
class Pet(Row):
    """One pet."""

    cluster: Annotated[str, "Cluster"]
    pet_id: Annotated[str, "Id"]
    kind: Annotated[PetKind, "Kind"]
    born_at: Annotated[datetime | None, "Born"] = None
    died_at: Annotated[datetime | None, "Died"] = None
    toys: Annotated[list[str] | None, "Toys"] = None

    CHECKS = (
        Check("dies_after_birth", "died_at >= born_at", "no pet dies before it is born"),
        Check("has_toys", "size(toys) > 0", "a pet has toys", severity="warning"),
    )


PETS = Pet.TABLE


def expected(table: Table, name: str) -> Expectation:
    return next(e for e in expectations_of(table) if e.name == name)


def test_table_declaration_gives_its_expectations() -> None:
    assert [(e.name, e.kind, e.severity) for e in expectations_of(PETS)] == [
        ("columns_match", "columns", "critical"),
        ("cluster_present", "present", "critical"),
        ("pet_id_present", "present", "critical"),
        ("kind_present", "present", "critical"),
        ("kind_known", "code", "critical"),
        ("key_unique", "law", "critical"),
        ("one_cluster", "law", "critical"),
        ("inside_window", "law", "critical"),
        ("dies_after_birth", "law", "critical"),
        ("has_toys", "law", "warning"),
    ]
    assert expected(PETS, "columns_match").values == ("cluster", "pet_id", "kind", "born_at", "died_at", "toys")
    assert expected(PETS, "kind_known").values == ("cat", "dog")
    assert "`cluster`, `pet_id`" in expected(PETS, "key_unique").predicate


def test_breach_names_key_instant_and_involved_columns() -> None:
    assert expected(PETS, "dies_after_birth").names == ("pet_id", "born_at", "died_at")
    assert expected(PETS, "kind_known").names == ("pet_id", "born_at", "kind")
    assert expected(PETS, "has_toys").names == ("pet_id", "born_at")
    assert expected(PETS, "one_cluster").names == ("pet_id", "born_at", "cluster")


def test_every_law_is_of_checked_table_with_unique_name() -> None:
    checked = {t.full_name for t in gold.TABLES} | {"quality.coverage", "quality.generation_gaps"}
    assert LAWS.keys() <= checked
    for checked_table in checked:
        names = [e.name for e in expectations_of(BY_NAME[checked_table])]
        assert len(names) == len(set(names)), f"{checked_table} has two expectations of one name"
        assert all(e.says and e.table == checked_table for e in expectations_of(BY_NAME[checked_table]))


def test_only_laws_independent_of_lost_evidence_are_critical() -> None:
    gates = {(t, law.name) for t, laws in LAWS.items() for law in laws if law.severity == "critical"}
    assert gates == {
        ("gold.failovers", "chain_unbroken"),
        ("gold.failovers", "counted_in_ledger"),
        ("gold.partition_risks", "counts_the_ledger"),
        ("gold.unavailability", "apart"),
        ("gold.unavailability", "within_failover"),
        ("gold.failovers", "epochs_rise"),
        ("gold.failovers", "skips_marked"),
        ("gold.incidents", "counts_its_rebalances"),
        ("gold.incidents", "counts_its_failovers"),
        ("gold.incidents", "counts_the_ledger"),
        ("gold.incidents", "ranked_once"),
        ("gold.rebalances", "generation_reached_once"),
        ("gold.leader_imbalance", "counts_every_partition"),
        ("quality.generation_gaps", "breaks_bounded"),
    }


def named_pet(number: int) -> dict[str, object]:
    return {
        "pet_id": f"pet-{number}",
        "born_at": datetime(2026, 10, 1, 3, 0, 0, 123000, tzinfo=UTC),
        "died_at": None,
    }


def test_breach_of_one_row_is_one_sentence() -> None:
    assert breach(expected(PETS, "dies_after_birth"), 1, [named_pet(1)]) == [
        "gold.pets: 1 row breaks dies_after_birth (no pet dies before it is born): "
        "pet_id='pet-1', born_at=2026-10-01T03:00:00.123Z, died_at=null"
    ]


def test_breach_of_many_rows_counts_them_and_names_five() -> None:
    sentences = breach(expected(PETS, "dies_after_birth"), 1234, [named_pet(n) for n in range(5)])
    assert sentences[0].startswith("gold.pets: 1,234 rows break dies_after_birth (")
    assert [n for n in range(5) if f"pet_id='pet-{n}'" in sentences[n]] == [0, 1, 2, 3, 4]
    assert sentences[5:] == ["gold.pets: dies_after_birth is broken by 1,229 more"]


def test_hostile_values_are_escaped_and_short_in_breach() -> None:
    hostile = named_pet(1) | {"pet_id": "\x1b[31m\r\nPUBLISHED\u202e" + "x" * 10_000}
    (sentence,) = breach(expected(PETS, "dies_after_birth"), 1, [hostile])
    assert sentence.isprintable()
    assert len(sentence) < 500
    assert r"pet_id='\x1b[31m\r\nPUBLISHED\u202exxx" in sentence


def test_wrong_columns_are_named() -> None:
    columns = ["cluster", "pet_id", "kind", "born_at", "died_at", "tail"]
    assert columns_breach(expected(PETS, "columns_match"), columns) == [
        "gold.pets: columns_match is broken (the columns are those declared): missing toys; unknown tail"
    ]


@pytest.mark.parametrize("table", BY_NAME.values(), ids=lambda t: t.full_name)
def test_row_factory_fills_exactly_declared_columns(table: Table) -> None:
    made = values(table)
    assert tuple(made) == table.column_names
    assert all(made[c.name] is not None for c in table.columns if not c.nullable)
    assert all(made[c.name] in (None, *c.codes) for c in table.columns if c.codes)


def test_row_factory_takes_only_columns_of_table() -> None:
    assert values(REBALANCES, group_id="orders", ended_at=AT)["group_id"] == "orders"
    with pytest.raises(KeyError, match=r"gold\.rebalances has no generation"):
        values(REBALANCES, generation=3)


def test_great_expectations_is_imported_by_two_modules_only() -> None:
    home = Path(__file__).parents[2]
    sources = (
        s
        for room in ("kafka_hindsight", "spark_jobs", "expectations", "dags", "plugins", "lab")
        for s in (home / room).rglob("*.py")
    )
    knowing = {
        str(s.relative_to(home))
        for s in sources
        if re.search(r"^\s*(import|from) great_expectations", s.read_text(), re.MULTILINE)
    }
    assert knowing == {"expectations/suite.py", "spark_jobs/validation.py"}


def test_checks_use_only_columns_of_their_table() -> None:
    """DuckDB binds each predicate against the table's columns, as Delta does when it creates the table."""
    for declared in BY_NAME.values():
        with tables_in_sql({"rows": schema(declared).empty_table()}) as connection:
            answers = evaluate(connection, "rows", {check.name: check.predicate for check in declared.checks})
        assert answers.column_names == [check.name for check in declared.checks]


def test_delta_constraints_are_expectations_too() -> None:
    """CHECK and NOT NULL hold for other writers; ours asks them as expectations."""
    for declared in gold.TABLES:
        expectations = [e for e in expectations_of(declared) if e.severity == "critical"]
        asked = {f"delta.constraints.{e.name}": f"coalesce({e.predicate}, true)" for e in expectations}
        constraints = {k: v for k, v in properties(declared).items() if k.startswith("delta.constraints.")}
        assert constraints.items() <= asked.items()
        assert constraints
        present = {e.column for e in expectations if e.kind == "present"}
        assert present == {c.name for c in declared.columns if not c.nullable}
