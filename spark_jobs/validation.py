"""Runs Great Expectations over staged tables. Besides expectations/ the only module that imports GX.

DuckDB evaluates laws row by row; GX judges the answers, missing values, codes and columns.
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
    """Check every table against its expectations.

    If the columns of any table are wrong, only columns are judged: laws cannot be evaluated. For a table without a row
    too only the columns are judged: its other expectations are vacuous.

    Args:
        tables: Rows by the full name of their table.
        views: Other tables that laws read, by the name they use.
        window: `cluster`, `window_from` and `window_to`.

    Returns:
        For each expectation of each table, in order, columns of quality.validation_results: table, expectation,
        description, severity, success, is_vacuous, observed, unexpected_count, sentences.

    Raises:
        RuntimeError: An expectation could not be checked: that is a fault, not a breach.
    """
    expectations = {name: expectations_of(BY_NAME[name]) for name in tables}
    is_sound = all(set(rows.column_names) == set(BY_NAME[name].column_names) for name, rows in tables.items())
    if not is_sound:
        expectations = {name: claims[:1] for name, claims in expectations.items()}
    judged = {name for name, rows in tables.items() if len(rows) or not is_sound}
    answers = _answers(tables, views, window, {name: expectations[name] for name in judged})
    batches, verdicts = _batches(), list[Verdict]()
    for name, rows in tables.items():
        if name in judged:
            batch = _batch(batches, rows, answers[name], expectations[name])
            verdicts += _verdicts(batch, rows, expectations[name])
        else:
            verdicts += map(_verdict_on_no_row, expectations[name])
    return verdicts


def _answers(
    tables: Mapping[str, pa.Table],
    views: Mapping[str, pa.Table],
    window: Mapping[str, Any],
    expectations_of_tables: Mapping[str, Expectations],
) -> dict[str, pa.Table]:
    """Evaluate laws: a table for each table, with a column for each law that says whether the row keeps it."""
    by_name = {BY_NAME[name].name: rows for name, rows in tables.items()}
    of_window = {"published_window": pa.Table.from_pylist([{**window}])}
    answers = {}
    with tables_in_sql({**views, **by_name, **of_window}) as connection:
        for name, expectations in expectations_of_tables.items():
            laws = {law_column(e): e.predicate for e in expectations if e.kind == "law"}
            try:
                answers[name] = evaluate(connection, BY_NAME[name].name, laws)
            except duckdb.Error as problem:
                raise RuntimeError(f"{name}: its laws could not be checked: {one_sentence(problem)}") from problem
    return answers


def _batches() -> BatchDefinition[Any]:
    """The definition of batches of frames: GX needs a source, an asset and a definition."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return (
        context.data_sources.add_pandas("staged")
        .add_dataframe_asset("table")
        .add_batch_definition_whole_dataframe("all")
    )


def _batch(batches: BatchDefinition[Any], rows: pa.Table, answers: pa.Table, expectations: Expectations) -> Batch:
    """A table's columns as expectations need them: codes as they are, and marks.

    A mark is 1 if a value is there or a law is kept, else 0 or null. GX copies the frame for each expectation, so
    columns that none needs have no values.
    """
    coded = {e.column for e in expectations if e.kind == "code"}
    present = {e.column for e in expectations if e.kind == "present"} - coded
    columns = dict.fromkeys(rows.column_names, pa.nulls(len(rows), _MARK))
    columns |= {name: pc.if_else(pc.is_valid(rows[name]), _ONE, None) for name in present}
    columns |= {name: rows[name] for name in coded}
    columns |= {name: answers[name].cast(_MARK) for name in answers.column_names}
    return batches.get_batch({"dataframe": pa.table(columns).to_pandas()})


def _verdicts(batch: Batch, rows: pa.Table, expectations: Expectations) -> list[Verdict]:
    """Judge all expectations together, which is cheap; if one fails, each by itself, to count and name rows."""
    table = expectations[0].table
    if batch.validate(first_suite_of(table, expectations), result_format={"result_format": "BOOLEAN_ONLY"}).success:
        return [_verdict(e) for e in expectations]
    result_format = {"result_format": "SUMMARY", "partial_unexpected_count": NAMED_ROWS}
    results = batch.validate(suite_of(table, expectations), result_format=result_format).results
    by_name = {r.expectation_config.meta["name"]: r for r in results}
    return [_verdict_of(e, by_name[e.name], rows) for e in expectations]


def _verdict_on_no_row(expectation: Expectation) -> Verdict:
    return _verdict(expectation) | {"is_vacuous": expectation.kind != "columns"}


def _verdict_of(expectation: Expectation, result: ExpectationValidationResult, rows: pa.Table) -> Verdict:
    if fault := _fault(result.exception_info):
        raise RuntimeError(f"{expectation.table}: {expectation.name} could not be checked: {fault}")
    verdict, details = _verdict(expectation), result.result
    if result.success:
        return verdict
    if expectation.kind == "columns":
        columns = details["observed_value"]
        columns_verdict = {"observed": ", ".join(columns), "sentences": columns_breach(expectation, columns)}
        return verdict | {"success": False, **columns_verdict}
    count, numbers = details["unexpected_count"], details["partial_unexpected_index_list"]
    return verdict | {
        "success": False,
        "observed": f"{count} of {details['element_count']} rows",
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
    """The reason why GX could not check; empty if it could. GX gives one entry, or one for each metric that failed."""
    info = exception_info or {}
    entries = [info] if "raised_exception" in info else list(info.values())
    return "; ".join(str(e["exception_message"]) for e in entries if e["raised_exception"])
