"""Runs Great Expectations over staged frames. Besides expectations/ the only module that knows GX."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import great_expectations as gx
from great_expectations.core import ExpectationValidationResult
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.datasource.fluent.interfaces import Batch
from pyspark.sql import DataFrame, SparkSession, functions

from expectations.derive import Expectation, expectations_of
from expectations.sentences import NAMED_ROWS, breach, columns_breach
from expectations.suite import law_column, suite_of
from kafka_hindsight.catalog import BY_NAME

Verdict = dict[str, Any]

_AT_ONCE = 4
"""Suites validated side by side: on small tables most of the time is planning, in which one core is enough for each."""


def validate(
    spark: SparkSession,
    tables: Mapping[str, DataFrame],
    views: Mapping[str, DataFrame],
    window: Mapping[str, Any],
    empty: Container[str] = (),
) -> list[Verdict]:
    """Checks every table against what is expected of it.

    Takes: frames by the full name of their table; what else the laws look at, by the name they give it;
        `cluster`, `window_from` and `window_to`; the names of tables known to have no row, so none breaks a law
    Gives: for each expectation of each table, in order: table, expectation, description, severity, success,
        is_vacuous, observed, unexpected_count, sentences (columns of quality.validation_results)
    Raises: RuntimeError where an expectation could not be checked: that is a fault, not a breach
    Edge case: where the columns of any table are wrong, columns are all that is judged; laws could not even be asked.
        Of a table without a row the columns alone are judged: the other expectations are vacuous.
    """
    expected = {name: expectations_of(BY_NAME[name]) for name in tables}
    sound = all(set(frame.columns) == set(BY_NAME[name].column_names) for name, frame in tables.items())
    if not sound:
        expected = {name: claims[:1] for name, claims in expected.items()}
    named = {_view(name): frame for name, frame in tables.items()}
    with _named({**views, **named, "published_window": _one_row(spark, window)}):
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        asked = [name for name in tables if not sound or name not in empty]
        batches = {name: _batch(context, name, _judged(spark, name, expected[name])) for name in asked}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = dict(
                zip(asked, pool.map(lambda name: _verdicts(batches[name], expected[name]), asked), strict=True)
            )
        return [verdict for name in tables for verdict in found.get(name) or map(_verdict_on_no_row, expected[name])]


def _view(table: str) -> str:
    return BY_NAME[table].name


@contextmanager
def _named(frames: Mapping[str, DataFrame]) -> Iterator[None]:
    """The frames under these names in SQL, while the block runs."""
    for name, frame in frames.items():
        frame.createOrReplaceTempView(name)
    try:
        yield
    finally:
        for name, frame in frames.items():
            frame.sparkSession.catalog.dropTempView(name)


def _one_row(spark: SparkSession, values: Mapping[str, Any]) -> DataFrame:
    """The values as a frame of one row, which Spark folds into the queries that ask for them.

    Edge case: Delta's parser loses the named parameters of `spark.sql(query, args)`, so values cannot be passed in by
    them.
    """
    return spark.sql("SELECT 1").select(*(functions.lit(value).alias(name) for name, value in values.items()))


def _judged(spark: SparkSession, table: str, expectations: tuple[Expectation, ...]) -> DataFrame:
    """The table with one more column for each law: whether the row keeps it. A null result counts as kept."""
    laws = [f"coalesce({e.predicate}, true) AS {law_column(e)}" for e in expectations if e.kind == "law"]
    return spark.sql(f"SELECT {', '.join(['*', *laws])} FROM {_view(table)}")


def _batch(context: Any, table: str, frame: DataFrame) -> Batch:
    """A batch on an engine of its own: engines remember which batch is the active one, and suites run side by side."""
    source = context.data_sources.add_spark(table, persist=False)
    definition = source.add_dataframe_asset(table).add_batch_definition_whole_dataframe(table)
    return definition.get_batch({"dataframe": frame})


def _verdicts(batch: Batch, expectations: tuple[Expectation, ...]) -> list[Verdict]:
    """The cheap result for the whole suite first, then the failing expectations alone, to count and name rows."""
    results = _results(batch, expectations, {"result_format": "BOOLEAN_ONLY"})
    broken = tuple(e for e in expectations if not results[e.name].success)
    if not broken:
        return [_verdict(e) for e in expectations]
    names = dict.fromkeys(n for e in broken for n in e.names)
    told = _results(
        batch,
        broken,
        {
            "result_format": "SUMMARY",
            "unexpected_index_column_names": list(names),
            "partial_unexpected_count": NAMED_ROWS,
        },
    )
    return [_verdict(e, told.get(e.name)) for e in expectations]


def _results(
    batch: Batch, expectations: tuple[Expectation, ...], result_format: dict[str, Any]
) -> dict[str, ExpectationValidationResult]:
    result = batch.validate(suite_of(expectations[0].table, expectations), result_format=result_format)
    by_name = {r.expectation_config.meta["name"]: r for r in result.results}
    for expectation in expectations:
        if fault := _fault(by_name[expectation.name].exception_info):
            raise RuntimeError(f"{expectation.table}: {expectation.name} could not be checked: {fault}")
    return by_name


def _fault(exception_info: Mapping[str, Any] | None) -> str:
    """What kept GX from checking; empty where nothing did. GX keeps one entry, or one for each measure that failed."""
    info = exception_info or {}
    entries = [info] if "raised_exception" in info else list(info.values())
    return "; ".join(str(e["exception_message"]) for e in entries if e["raised_exception"])


def _verdict_on_no_row(expectation: Expectation) -> Verdict:
    return _verdict(expectation) | {"is_vacuous": expectation.kind != "columns"}


def _verdict(expectation: Expectation, broken: ExpectationValidationResult | None = None) -> Verdict:
    verdict: Verdict = {
        "table": expectation.table,
        "expectation": expectation.name,
        "description": expectation.says,
        "severity": expectation.severity,
        "success": broken is None,
        "is_vacuous": False,
        "observed": None,
        "unexpected_count": None if expectation.kind == "columns" else 0,
        "sentences": None,
    }
    if broken is None:
        return verdict
    found = broken.result
    if expectation.kind == "columns":
        columns = found["observed_value"]
        return verdict | {"observed": ", ".join(columns), "sentences": columns_breach(expectation, columns)}
    count = found["unexpected_count"]
    return verdict | {
        "observed": f"{count} of {found['element_count']} rows",
        "unexpected_count": count,
        "sentences": breach(expectation, count, found["partial_unexpected_index_list"]),
    }
