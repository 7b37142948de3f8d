"""What is expected of a table follows from its declaration, and a breach is told so that a person can find the row."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import pytest

from expectations.derive import CHECKED, LANDED, suite_of
from expectations.laws import LAWS
from expectations.own import FOLDER, suite_text
from expectations.sentences import Claim, breach, columns_breach, naming_columns
from kafka_hindsight.catalog import BY_NAME, gold, quality
from kafka_hindsight.catalog.codes import Code
from kafka_hindsight.catalog.gold import REBALANCES
from kafka_hindsight.catalog.row import Row, table
from kafka_hindsight.catalog.table_model import Check, Table
from kafka_hindsight.lake.table_files import properties
from kafka_hindsight.sql.predicates import as_duck, tables_in_sql
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


def by_name(table: Table) -> dict[str, dict[str, Any]]:
    return {e["meta"]["name"]: e for e in suite_of(table)["expectations"]}


def test_table_declaration_gives_its_expectations() -> None:
    native = "expect_column_values_to"
    assert [(name, e["type"], e["severity"]) for name, e in by_name(PETS).items()] == [
        ("columns_match", "expect_table_columns_to_match_set", "critical"),
        ("cluster_present", f"{native}_not_be_null", "critical"),
        ("pet_id_present", f"{native}_not_be_null", "critical"),
        ("kind_present", f"{native}_not_be_null", "critical"),
        ("kind_known", f"{native}_be_in_set", "critical"),
        ("key_unique", "expect_compound_columns_to_be_unique", "critical"),
        ("one_cluster", f"{native}_be_in_set", "critical"),
        ("inside_window", f"{native}_be_between", "critical"),
        ("dies_after_birth", "expect_column_pair_values_a_to_be_greater_than_b", "critical"),
        ("has_toys", "unexpected_rows_expectation", "warning"),
    ]
    kwargs = {name: e["kwargs"] for name, e in by_name(PETS).items()}
    assert kwargs["columns_match"]["column_set"] == ["cluster", "pet_id", "kind", "born_at", "died_at", "toys"]
    assert kwargs["kind_known"]["value_set"] == ["cat", "dog"]
    assert kwargs["key_unique"]["column_list"] == ["cluster", "pet_id"]


@pytest.mark.parametrize(
    ("predicate", "kwargs"),
    [
        ("n BETWEEN 0 AND 1", {"column": "n", "min_value": 0, "max_value": 1}),
        ("n > 0", {"column": "n", "min_value": 0, "strict_min": True}),
        ("n <= 1", {"column": "n", "max_value": 1, "strict_max": False}),
        ("n < m", {"column_A": "m", "column_B": "n", "or_equal": False, "ignore_row_if": "either_value_is_missing"}),
        ("n IS NOT NULL", {"column": "n"}),
        ("n <> 0", {"unexpected_rows_query": "SELECT * FROM (SELECT * FROM {batch}) AS pets WHERE NOT (n <> 0)"}),
    ],
)
def test_predicate_becomes_native_expectation_if_there_is_one(predicate: str, kwargs: dict[str, Any]) -> None:
    table = replace(PETS, checks=(Check("some_law", predicate, "it holds"),))
    assert by_name(table)["some_law"]["kwargs"] == kwargs


def test_breach_names_key_instant_and_involved_columns() -> None:
    assert naming_columns(PETS, "{'column_A': 'died_at', 'column_B': 'born_at'}") == ("pet_id", "born_at", "died_at")
    assert naming_columns(PETS, "size(toys) > 0") == ("pet_id", "born_at")
    assert naming_columns(PETS, "{'column': 'cluster'}") == ("pet_id", "born_at", "cluster")


def test_every_law_is_of_checked_table_with_unique_name() -> None:
    assert LAWS.keys() <= {t.full_name for t in CHECKED}
    assert {*gold.TABLES, quality.COVERAGE, quality.GENERATION_GAPS} == {*CHECKED} - {*LANDED}
    for checked in CHECKED:
        suite = suite_of(checked)
        assert len(by_name(checked)) == len(suite["expectations"]), f"{checked.full_name} has two of one name"
        assert all(e["description"] for e in suite["expectations"])


def test_suite_files_are_those_of_the_tables() -> None:
    assert {p.stem for p in FOLDER.iterdir()} == {t.full_name for t in CHECKED}
    assert all(json.loads(suite_text(t.full_name)) == suite_of(t) for t in CHECKED)


def test_expectations_of_bronze_and_silver_are_warnings() -> None:
    assert {e["severity"] for t in LANDED for e in suite_of(t)["expectations"]} == {"warning"}


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
        ("quality.coverage", "counts_the_records"),
        ("quality.generation_gaps", "breaks_bounded"),
    }


DIES_AFTER_BIRTH = Claim("gold.pets", "dies_after_birth", "no pet dies before it is born")


def named_pet(number: int) -> dict[str, object]:
    return {
        "pet_id": f"pet-{number}",
        "born_at": datetime(2026, 10, 1, 3, 0, 0, 123000, tzinfo=UTC),
        "died_at": None,
    }


def test_breach_of_one_row_is_one_sentence() -> None:
    assert breach(DIES_AFTER_BIRTH, [named_pet(1)], 1) == [
        "gold.pets: 1 row breaks dies_after_birth (no pet dies before it is born): "
        "pet_id='pet-1', born_at=2026-10-01T03:00:00.123Z, died_at=null"
    ]


def test_breach_of_many_rows_counts_them_and_names_five() -> None:
    sentences = breach(DIES_AFTER_BIRTH, [named_pet(n) for n in range(5)], 1234)
    assert sentences[0].startswith("gold.pets: 1,234 rows break dies_after_birth (")
    assert [n for n in range(5) if f"pet_id='pet-{n}'" in sentences[n]] == [0, 1, 2, 3, 4]
    assert sentences[5:] == ["gold.pets: dies_after_birth is broken by 1,229 more"]


def test_hostile_values_are_escaped_and_short_in_breach() -> None:
    hostile = named_pet(1) | {"pet_id": "\x1b[31m\r\nPUBLISHED\u202e" + "x" * 10_000}
    (sentence,) = breach(DIES_AFTER_BIRTH, [hostile], 1)
    assert sentence.isprintable()
    assert len(sentence) < 500
    assert r"pet_id='\x1b[31m\r\nPUBLISHED\u202exxx" in sentence


def test_wrong_columns_are_named() -> None:
    columns = ["cluster", "pet_id", "kind", "born_at", "died_at", "tail"]
    assert columns_breach(
        Claim("gold.pets", "columns_match", "the columns are those declared"), columns, PETS.column_names
    ) == ["gold.pets: columns_match is broken (the columns are those declared): missing toys; unknown tail"]


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
    home = Path(__file__).parents[3]
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
    assert knowing == {"expectations/suite.py", "expectations/validation.py"}


def test_checks_use_only_columns_of_their_table() -> None:
    """DuckDB binds each predicate against the table's columns, as Delta does when it creates the table."""
    for declared in BY_NAME.values():
        with tables_in_sql({"rows": schema(declared).empty_table()}) as connection:
            for check in declared.checks:
                connection.execute(as_duck(f"SELECT {check.predicate} FROM rows"))


def test_delta_constraints_are_expectations_too() -> None:
    """CHECK and NOT NULL hold for other writers; ours asks them as expectations."""
    for declared in gold.TABLES:
        asked = {name for name, e in by_name(declared).items() if e["severity"] == "critical"}
        constraints = {k.removeprefix("delta.constraints.") for k in properties(declared) if "constraints." in k}
        assert constraints
        assert constraints | {f"{c.name}_present" for c in declared.columns if not c.nullable} <= asked
