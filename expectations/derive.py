"""The suite of a table in the format of Great Expectations, derived from the table's declaration and its laws: no GX.

`python -m tools.pages.docs` writes them to expectations/suites. An audit reads those files.
"""

from __future__ import annotations

import re
from typing import Any

from expectations.laws import LAWS
from kafka_hindsight.catalog import TABLES
from kafka_hindsight.catalog.quality import COVERAGE, GENERATION_GAPS
from kafka_hindsight.catalog.table_model import Check, Table
from kafka_hindsight.sql.predicates import as_duck

LANDED = tuple(t for t in TABLES if t.layer in ("bronze", "silver") and t.time_column)
"""Tables that a step wrote before they are checked: of them only keys and codes are, and a breach is a warning."""

CHECKED = (*(t for t in TABLES if t.layer == "gold"), COVERAGE, GENERATION_GAPS, *LANDED)
"""The tables that have a suite."""

Json = dict[str, Any]

_NOT_NULL = "expect_column_values_to_not_be_null"
_BETWEEN_VALUES = "expect_column_values_to_be_between"

_NUMBER = r"(-?[\d.]+)"
_BETWEEN = re.compile(rf"(\w+) BETWEEN {_NUMBER} AND {_NUMBER}")
_AT_LEAST = re.compile(rf"(\w+) (>=?) {_NUMBER}")
_AT_MOST = re.compile(rf"(\w+) (<=?) {_NUMBER}")
_PAIR = re.compile(r"(\w+) (>=?|<=?) ([a-z]\w*)")
_PRESENT = re.compile(r"(\w+) IS NOT NULL")


def suite_of(table: Table) -> Json:
    """The suite of a table: columns, no nulls, known codes, one row a key, its window, checks and laws."""
    expectations = _of_landed(table) if table in LANDED else _of_staged(table)
    return {"name": table.full_name, "expectations": expectations, "meta": {}, "notes": None}


def _of_staged(table: Table) -> list[Json]:
    first, end = {"$PARAMETER": "window_from"}, {"$PARAMETER": "window_to"}
    return [
        _expectation(
            "columns_match",
            "the columns are those declared",
            "expect_table_columns_to_match_set",
            {"column_set": [*table.column_names], "exact_match": True},
        ),
        *(_present(c.name) for c in table.columns if not c.nullable),
        *_known_codes(table),
        _unique_key(table),
        _expectation(
            "one_cluster",
            "every row belongs to the cluster that is published",
            "expect_column_values_to_be_in_set",
            {"column": "cluster", "value_set": {"$PARAMETER": "clusters"}},
        ),
        _expectation(
            "inside_window",
            "every row begins inside the window that is published",
            _BETWEEN_VALUES,
            {"column": table.time_column, "min_value": first, "max_value": end, "strict_max": True},
        ),
        *(_of_check(table, check) for check in (*table.checks, *LAWS.get(table.full_name, ()))),
    ]


def _of_landed(table: Table) -> list[Json]:
    coded = [c.name for c in table.columns if c.codes]
    present = [_present(name) for name in dict.fromkeys((*table.key, *coded)) if not table.column(name).nullable]
    return [e | {"severity": "warning"} for e in (*present, *_known_codes(table), _unique_key(table))]


def _expectation(name: str, says: str, kind: str, kwargs: Json, severity: str = "critical") -> Json:
    return {"type": kind, "kwargs": kwargs, "meta": {"name": name}, "description": says, "severity": severity}


def _present(column: str) -> Json:
    return _expectation(f"{column}_present", f"{column} is never null", _NOT_NULL, {"column": column})


def _known_codes(table: Table) -> list[Json]:
    return [
        _expectation(
            f"{c.name}_known",
            f"{c.name} is one of its codes",
            "expect_column_values_to_be_in_set",
            {"column": c.name, "value_set": [str(code) for code in c.codes]},
        )
        for c in table.columns
        if c.codes
    ]


def _unique_key(table: Table) -> Json:
    """One row a key. Rows that share one are left out together: it is not known which of them is right."""
    says = f"no two rows share their {' and '.join(table.key)}"
    if len(table.key) == 1:
        kwargs: Json = {"column": table.key[0]}
        return _expectation("key_unique", says, "expect_column_values_to_be_unique", kwargs)
    kwargs = {"column_list": [*table.key], "ignore_row_if": "never"}
    return _expectation("key_unique", says, "expect_compound_columns_to_be_unique", kwargs)


def _of_check(table: Table, check: Check) -> Json:
    """A predicate as an expectation of GX's own if it has one, else as a query for the rows that break it."""
    kind, kwargs = _native(check.predicate) or _query(table, check.predicate)
    return _expectation(check.name, check.says, kind, kwargs, check.severity)


def _native(predicate: str) -> tuple[str, Json] | None:
    """The type and kwargs of an expectation that says the same; None if GX has none."""
    if m := _BETWEEN.fullmatch(predicate):
        return _BETWEEN_VALUES, {"column": m[1], "min_value": float(m[2]), "max_value": float(m[3])}
    if m := _AT_LEAST.fullmatch(predicate):
        return _BETWEEN_VALUES, {"column": m[1], "min_value": float(m[3]), "strict_min": m[2] == ">"}
    if m := _AT_MOST.fullmatch(predicate):
        return _BETWEEN_VALUES, {"column": m[1], "max_value": float(m[3]), "strict_max": m[2] == "<"}
    if m := _PAIR.fullmatch(predicate):
        larger, smaller = (m[1], m[3]) if m[2][0] == ">" else (m[3], m[1])
        kwargs = {"column_A": larger, "column_B": smaller, "or_equal": m[2][1:] == "="}
        missing = {"ignore_row_if": "either_value_is_missing"}
        return "expect_column_pair_values_a_to_be_greater_than_b", kwargs | missing
    if m := _PRESENT.fullmatch(predicate):
        return _NOT_NULL, {"column": m[1]}
    return None


def _query(table: Table, predicate: str) -> tuple[str, Json]:
    """A query in DuckDB's SQL, in which a row has the name of its table. A null result counts as kept."""
    clause = "QUALIFY" if " OVER " in predicate else "WHERE"
    query = f"SELECT * FROM (SELECT * FROM {{batch}}) AS {table.name} {clause} NOT ({as_duck(predicate)})"
    return "unexpected_rows_expectation", {"unexpected_rows_query": query}
