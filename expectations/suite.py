"""Suites as Great Expectations has them: ours, a user's own, and how SQL in them is answered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pyarrow as pa
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations import Expectation, UnexpectedRowsExpectation
from great_expectations.expectations.expectation import (
    ColumnMapExpectation,
    ColumnPairMapExpectation,
    MulticolumnMapExpectation,
)
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.query_metric_provider import QueryMetricProvider

from expectations.own import suite_text
from kafka_hindsight.catalog.quality import OF_USER

_OF_ROWS = (ColumnMapExpectation, ColumnPairMapExpectation, MulticolumnMapExpectation, UnexpectedRowsExpectation)

QueryRunner = Callable[[str], pa.Table]
_ANSWER: ContextVar[QueryRunner] = ContextVar("answer")


def expectations_of(table: str, own: Mapping[str, Any] | None = None) -> list[Expectation]:
    """The expectations of our suite of a table, and behind them those of a user's own suite.

    The `meta` of each expectation names it. A user's is named by its own meta, or by its type, with `user.` before it
    and a number behind it if it is not the first.

    Raises:
        Exception: GX refuses an expectation; it says so by several classes. A suite of GX would pass over some.
    """
    ours, theirs = (
        [ExpectationConfiguration(**e).to_domain_obj() for e in suite["expectations"]]
        for suite in (json.loads(suite_text(table)), own or {"expectations": ()})
    )
    numbers = Counter[str]()
    for expectation in theirs:
        name = f"{OF_USER}{(expectation.meta or {}).get('name') or expectation.configuration.type}"
        numbers[name] += 1
        expectation.meta = {"name": name if numbers[name] == 1 else f"{name}.{numbers[name]}"}
    return [*ours, *theirs]


def name_of(expectation: Expectation) -> str:
    """The name of an expectation in its table."""
    return str(expectation.meta["name"])


def is_own(expectation: Expectation) -> bool:
    """Whether it comes from a user's own suite."""
    return name_of(expectation).startswith(OF_USER)


def is_of_rows(expectation: Expectation) -> bool:
    """Whether each row keeps it or breaks it, so that it says nothing of a table without a row."""
    return isinstance(expectation, _OF_ROWS)


@contextmanager
def sql_answered(answer: QueryRunner) -> Iterator[None]:
    """Answer the queries of UnexpectedRowsExpectation while the block runs."""
    token = _ANSWER.set(answer)
    try:
        yield
    finally:
        _ANSWER.reset(token)


class _UnexpectedRows(QueryMetricProvider):
    """GX answers such queries by SQLAlchemy and Spark only. Here its pandas engine asks DuckDB."""

    metric_name = "unexpected_rows_query.table"
    value_keys = ("unexpected_rows_query",)

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, *, metric_value_kwargs: Mapping[str, Any], **_: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = _ANSWER.get()(metric_value_kwargs["unexpected_rows_query"]).to_pylist()
        return rows


class _UnexpectedRowCount(QueryMetricProvider):
    metric_name = "unexpected_rows_query.row_count"
    value_keys = ("unexpected_rows_query",)

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, *, metric_value_kwargs: Mapping[str, Any], **_: Any) -> int:
        return len(_ANSWER.get()(metric_value_kwargs["unexpected_rows_query"]))
