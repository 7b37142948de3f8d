"""Expectations as a Great Expectations suite."""

from __future__ import annotations

from collections.abc import Iterable

import great_expectations as gx
from great_expectations.expectations import Expectation as GxExpectation

from expectations.derive import Expectation

_GX = gx.expectations


def law_column(expectation: Expectation) -> str:
    """The column in which the frame under validation says, row by row, whether a law is kept: 1, or 0."""
    return f"law_{expectation.name}"


def suite_of(name: str, expectations: Iterable[Expectation]) -> gx.ExpectationSuite:
    """One suite, to be validated at once: what is expected, each by itself."""
    kept = tuple(expectations)
    return gx.ExpectationSuite(name=name, expectations=[_translated(e, _laws(kept)) for e in kept])


def first_suite_of(name: str, expectations: Iterable[Expectation]) -> gx.ExpectationSuite:
    """One suite that holds where all of them hold: GX takes milliseconds for each expectation, whatever the rows.

    A row has a mark for each law that it keeps, and for each value that may not be missing: all of them together are as
    many as there are.
    """
    kept = tuple(expectations)
    coded = {e.column for e in kept if e.kind == "code"}
    marked = [e for e in kept if e.kind == "law" or (e.kind == "present" and e.column not in coded)]
    others = [_translated(e, _laws(kept)) for e in kept if e not in marked]
    return gx.ExpectationSuite(name=name, expectations=[*others, *([_every_mark(marked)] if marked else [])])


def _every_mark(marked: list[Expectation]) -> GxExpectation:
    columns = [law_column(e) if e.kind == "law" else e.column for e in marked]
    return _GX.ExpectMulticolumnSumToEqual(column_list=columns, sum_total=len(columns), ignore_row_if="never")


def _laws(expectations: Iterable[Expectation]) -> list[str]:
    return [law_column(e) for e in expectations if e.kind == "law"]


def _translated(expectation: Expectation, laws: list[str]) -> GxExpectation:
    about = {"severity": expectation.severity, "meta": {"name": expectation.name}}
    match expectation.kind:
        case "columns":
            return _GX.ExpectTableColumnsToMatchSet(column_set=[*expectation.values, *laws], exact_match=True, **about)
        case "present":
            return _GX.ExpectColumnValuesToNotBeNull(column=expectation.column, **about)
        case "code":
            return _GX.ExpectColumnValuesToBeInSet(
                column=expectation.column, value_set=list(expectation.values), **about
            )
        case "law":
            return _GX.ExpectColumnValuesToBeInSet(column=law_column(expectation), value_set=[1], **about)
