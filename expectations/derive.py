"""Expectations derived from a table's declaration and the laws that name it: plain data, no GX, no Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from expectations.laws import LAWS
from kafka_hindsight.catalog.table_model import Check, ListOf, Table

Kind = Literal["columns", "present", "code", "law"]

_SAYS_WHICH = ("group_id", "topic", "partition", "broker", "member_id", "client_id", "source", "rule_id", "subject")


@dataclass(frozen=True)
class Expectation:
    """One claim about one table.

    `kind` columns: the table has these `values` as columns and no others; present: `column` is never null;
    code: `column` is one of `values`; law: `predicate` holds for each row, where null counts as kept.
    `names` are the columns that show a reader which row broke it, and by what. `holds` is the condition of a row in
    SQL, by which rows that break it are left out; empty where columns or other tables decide.
    """

    table: str
    name: str
    kind: Kind
    says: str
    severity: str = "critical"
    column: str = ""
    values: tuple[str, ...] = ()
    predicate: str = ""
    names: tuple[str, ...] = ()
    holds: str = ""


def expectations_of(table: Table) -> tuple[Expectation, ...]:
    """All expectations of a table: columns, no nulls, known codes, one row a key, its window, checks and laws."""
    return (
        Expectation(
            table.full_name, "columns_match", "columns", "the columns are those declared", values=table.column_names
        ),
        *(_presence(table, c.name) for c in table.columns if not c.nullable),
        *(_codes(table, c.name, c.codes) for c in table.columns if c.codes),
        _uniqueness(table),
        *(_law(table, check) for check in _shape_checks(table)),
        *(_law(table, check, holds=check.predicate) for check in table.checks),
        *(_law(table, check) for check in LAWS.get(table.full_name, ())),
    )


def _presence(table: Table, column: str) -> Expectation:
    return Expectation(
        table.full_name,
        f"{column}_present",
        "present",
        f"{column} is never null",
        column=column,
        names=_names(table, (column,)),
        holds=f"`{column}` IS NOT NULL",
    )


def _codes(table: Table, column: str, codes: tuple[str, ...]) -> Expectation:
    return Expectation(
        table.full_name,
        f"{column}_known",
        "code",
        f"{column} is one of its codes",
        column=column,
        values=codes,
        names=_names(table, (column,)),
        holds=f"`{column}` IN ({', '.join(repr(str(code)) for code in codes)})",
    )


def _law(table: Table, check: Check, holds: str = "") -> Expectation:
    mentioned = set(re.findall(r"\w+", check.predicate))
    return Expectation(
        table.full_name,
        check.name,
        "law",
        check.says,
        check.severity,
        predicate=check.predicate,
        names=_names(table, tuple(n for n in table.column_names if n in mentioned)),
        holds=holds,
    )


def _uniqueness(table: Table) -> Expectation:
    """One row a key. Rows that share one are left out together: it is not known which of them is right."""
    key = ", ".join(f"`{k}`" for k in table.key)
    is_alone = f"count(*) OVER (PARTITION BY {key}) = 1"
    check = Check("key_unique", is_alone, f"no two rows share their {' and '.join(table.key)}")
    return _law(table, check, holds=is_alone)


def _shape_checks(table: Table) -> tuple[Check, ...]:
    """One cluster, and no row outside the window, which publish replaces as a whole."""
    return (
        Check(
            "one_cluster",
            "cluster = (SELECT cluster FROM published_window)",
            "every row belongs to the cluster that is published",
        ),
        Check(
            "inside_window",
            f"{table.time_column} >= (SELECT window_from FROM published_window)"
            f" AND {table.time_column} < (SELECT window_to FROM published_window)",
            "every row begins inside the window that is published",
        ),
    )


def _names(table: Table, mentioned: tuple[str, ...]) -> tuple[str, ...]:
    """The key, the columns by which people know a row, its instant, and the columns of the claim; once each."""
    key = tuple(k for k in table.key if k != "cluster")
    scalar = {c.name for c in table.columns if not isinstance(c.kind, ListOf)}
    return tuple(dict.fromkeys(n for n in (*key, *_SAYS_WHICH, table.time_column, *mentioned) if n in scalar))
