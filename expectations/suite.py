"""Expectations as a Great Expectations suite."""

from __future__ import annotations

from collections.abc import Iterable

import great_expectations as gx
from great_expectations.expectations import Expectation as GxExpectation

from expectations.derive import Expectation

_GX = gx.expectations


def law_column(expectation: Expectation) -> str:
    """The column in which the frame under validation says, row by row, whether a law is kept."""
    return f"law_{expectation.name}"


def suite_of(name: str, expectations: Iterable[Expectation]) -> gx.ExpectationSuite:
    """One suite, to be validated at once: GX then asks Spark for all its measures in a single aggregation.

    Edge case: laws are columns of the frame that must be true, not UnexpectedRowsExpectations. Those cost jobs of their
    own, each, and look at one temporary view of a fixed name, so that two validated at a time read each other's rows.
    """
    kept = tuple(expectations)
    laws = [law_column(e) for e in kept if e.kind == "law"]
    return gx.ExpectationSuite(name=name, expectations=[_translated(e, laws) for e in kept])


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
            return _GX.ExpectColumnValuesToBeInSet(column=law_column(expectation), value_set=[True], **about)
