"""Runs Great Expectations over staged tables. Besides expectations/ the only module that knows GX.

DuckDB answers, row by row, which laws hold; GX judges those answers, missing values, codes and columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
import great_expectations as gx
import pyarrow as pa
import pyarrow.compute as pc
from great_expectations.core import ExpectationValidationResult
from great_expectations.core.batch_definition import BatchDefinition
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.datasource.fluent.interfaces import Batch

from expectations.derive import Expectation, expectations_of
from expectations.sentences import NAMED_ROWS, breach, columns_breach
from expectations.suite import first_suite_of, law_column, suite_of
from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.sql.duck_types import one_sentence
from kafka_hindsight.sql.predicates import evaluate, tables_in_sql

Verdict = dict[str, Any]
Expectations = tuple[Expectation, ...]

_MARK = pa.float32()
_ONE = pa.scalar(1, _MARK)


def validate(tables: Mapping[str, pa.Table], views: Mapping[str, pa.Table], window: Mapping[str, Any]) -> list[Verdict]:
    """Checks every table against what is expected of it.

    Takes: rows by the full name of their table; what else the laws look at, by the name they give it; `cluster`,
        `window_from` and `window_to`
    Gives: for each expectation of each table, in order: table, expectation, description, severity, success,
        is_vacuous, observed, unexpected_count, sentences (columns of quality.validation_results)
    Raises: RuntimeError where an expectation could not be checked: that is a fault, not a breach
    Edge case: where the columns of any table are wrong, columns are all that is judged; laws could not even be asked.
        Of a table without a row the columns alone are judged: the other expectations are vacuous.
    """
    expected = {name: expectations_of(BY_NAME[name]) for name in tables}
    is_sound = all(set(rows.column_names) == set(BY_NAME[name].column_names) for name, rows in tables.items())
    if not is_sound:
        expected = {name: claims[:1] for name, claims in expected.items()}
    asked = {name for name, rows in tables.items() if len(rows) or not is_sound}
    answers = _answers(tables, views, window, {name: expected[name] for name in asked})
    batches, verdicts = _batches(), list[Verdict]()
    for name, rows in tables.items():
        if name in asked:
            batch = _batch(batches, rows, answers[name], expected[name])
            verdicts += _verdicts(batch, rows, expected[name])
        else:
            verdicts += map(_verdict_on_no_row, expected[name])
    return verdicts


def _answers(
    tables: Mapping[str, pa.Table],
    views: Mapping[str, pa.Table],
    window: Mapping[str, Any],
    expected: Mapping[str, Expectations],
) -> dict[str, pa.Table]:
    """For each table a column for each of its laws: whether the row keeps it."""
    named = {BY_NAME[name].name: rows for name, rows in tables.items()}
    of_window = {"published_window": pa.Table.from_pylist([{**window}])}
    answers = {}
    with tables_in_sql({**views, **named, **of_window}) as connection:
        for name, expectations in expected.items():
            laws = {law_column(e): e.predicate for e in expectations if e.kind == "law"}
            try:
                answers[name] = evaluate(connection, BY_NAME[name].name, laws)
            except duckdb.Error as problem:
                raise RuntimeError(f"{name}: its laws could not be checked: {one_sentence(problem)}") from problem
    return answers


def _batches() -> BatchDefinition[Any]:
    """What makes a batch of a frame, which GX asks to have a source, an asset and a definition."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return (
        context.data_sources.add_pandas("staged")
        .add_dataframe_asset("table")
        .add_batch_definition_whole_dataframe("all")
    )


def _batch(batches: BatchDefinition[Any], rows: pa.Table, answers: pa.Table, expectations: Expectations) -> Batch:
    """The table as far as an expectation looks at it: codes as they are, and marks.

    A mark is 1 where a value is there, or where a law is kept; and 0, or nothing, where not. GX copies a frame for each
    expectation, so what none looks at has no value.
    """
    coded = {e.column for e in expectations if e.kind == "code"}
    present = {e.column for e in expectations if e.kind == "present"} - coded
    columns = dict.fromkeys(rows.column_names, pa.nulls(len(rows), _MARK))
    columns |= {name: pc.if_else(pc.is_valid(rows[name]), _ONE, None) for name in present}
    columns |= {name: rows[name] for name in coded}
    columns |= {name: answers[name].cast(_MARK) for name in answers.column_names}
    return batches.get_batch({"dataframe": pa.table(columns).to_pandas()})


def _verdicts(batch: Batch, rows: pa.Table, expectations: Expectations) -> list[Verdict]:
    """The cheap result for all together first; where that does not hold, each by itself, to count and name rows."""
    table = expectations[0].table
    if batch.validate(first_suite_of(table, expectations), result_format={"result_format": "BOOLEAN_ONLY"}).success:
        return [_verdict(e) for e in expectations]
    named = {"result_format": "SUMMARY", "partial_unexpected_count": NAMED_ROWS}
    results = batch.validate(suite_of(table, expectations), result_format=named).results
    by_name = {r.expectation_config.meta["name"]: r for r in results}
    return [_verdict_of(e, by_name[e.name], rows) for e in expectations]


def _verdict_on_no_row(expectation: Expectation) -> Verdict:
    return _verdict(expectation) | {"is_vacuous": expectation.kind != "columns"}


def _verdict_of(expectation: Expectation, result: ExpectationValidationResult, rows: pa.Table) -> Verdict:
    if fault := _fault(result.exception_info):
        raise RuntimeError(f"{expectation.table}: {expectation.name} could not be checked: {fault}")
    verdict, found = _verdict(expectation), result.result
    if result.success:
        return verdict
    if expectation.kind == "columns":
        columns = found["observed_value"]
        told = {"observed": ", ".join(columns), "sentences": columns_breach(expectation, columns)}
        return verdict | {"success": False, **told}
    count, numbers = found["unexpected_count"], found["partial_unexpected_index_list"]
    return verdict | {
        "success": False,
        "observed": f"{count} of {found['element_count']} rows",
        "unexpected_count": count,
        "sentences": breach(expectation, count, rows.select(expectation.names).take(numbers).to_pylist()),
    }


def _verdict(expectation: Expectation) -> Verdict:
    return {
        "table": expectation.table,
        "expectation": expectation.name,
        "description": expectation.says,
        "severity": expectation.severity,
        "success": True,
        "is_vacuous": False,
        "observed": None,
        "unexpected_count": None if expectation.kind == "columns" else 0,
        "sentences": None,
    }


def _fault(exception_info: Mapping[str, Any] | None) -> str:
    """What kept GX from checking; empty where nothing did. GX keeps one entry, or one for each measure that failed."""
    info = exception_info or {}
    entries = [info] if "raised_exception" in info else list(info.values())
    return "; ".join(str(e["exception_message"]) for e in entries if e["raised_exception"])
