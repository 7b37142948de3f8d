"""Expectations as a Great Expectations suite."""

from __future__ import annotations

from collections.abc import Iterable

import great_expectations as gx
from great_expectations.expectations import Expectation as GxExpectation

from expectations.derive import Expectation

_GX = gx.expectations


def law_column(expectation: Expectation) -> str:
    """The column of the validated frame that is 1 in each row that keeps a law, else 0."""
    return f"law_{expectation.name}"


def suite_of(name: str, expectations: Iterable[Expectation]) -> gx.ExpectationSuite:
    """One suite in which each expectation stands by itself."""
    claims = tuple(expectations)
    return gx.ExpectationSuite(name=name, expectations=[_gx_expectation(e, _laws(claims)) for e in claims])


def first_suite_of(name: str, expectations: Iterable[Expectation]) -> gx.ExpectationSuite:
    """One suite that holds where all of them hold: GX takes milliseconds for each expectation, whatever the rows.

    A row has a mark for each law that it keeps, and for each value that may not be missing: all of them together are as
    many as there are.
    """
    claims = tuple(expectations)
    coded = {e.column for e in claims if e.kind == "code"}
    marked = [e for e in claims if e.kind == "law" or (e.kind == "present" and e.column not in coded)]
    others = [_gx_expectation(e, _laws(claims)) for e in claims if e not in marked]
    return gx.ExpectationSuite(name=name, expectations=[*others, *([_every_mark(marked)] if marked else [])])


def _every_mark(marked: list[Expectation]) -> GxExpectation:
    columns = [law_column(e) if e.kind == "law" else e.column for e in marked]
    return _GX.ExpectMulticolumnSumToEqual(column_list=columns, sum_total=len(columns), ignore_row_if="never")


def _laws(expectations: Iterable[Expectation]) -> list[str]:
    return [law_column(e) for e in expectations if e.kind == "law"]


def _gx_expectation(expectation: Expectation, laws: list[str]) -> GxExpectation:
    fields = {"severity": expectation.severity, "meta": {"name": expectation.name}}
    match expectation.kind:
        case "columns":
            return _GX.ExpectTableColumnsToMatchSet(column_set=[*expectation.values, *laws], exact_match=True, **fields)
        case "present":
            return _GX.ExpectColumnValuesToNotBeNull(column=expectation.column, **fields)
        case "code":
            return _GX.ExpectColumnValuesToBeInSet(
                column=expectation.column, value_set=list(expectation.values), **fields
            )
        case "law":
            return _GX.ExpectColumnValuesToBeInSet(column=law_column(expectation), value_set=[1], **fields)
