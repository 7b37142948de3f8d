"""Runs Great Expectations over tables. It and suite.py are the only modules that import GX.

GX evaluates each expectation on a frame of the table; DuckDB answers the queries that suites hold.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import great_expectations as gx
import pandas as pd
import pyarrow as pa
from great_expectations.checkpoint import UpdateDataDocsAction
from great_expectations.core import ExpectationValidationResult
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations import Expectation
from great_expectations.expectations import ExpectColumnValuesToNotBeNull as _Present

from expectations.checked_tables import Docs, Suites, Tables, Verdict, tables_of
from expectations.derive import CHECKED, LANDED
from expectations.laws import LAWS
from expectations.own import own_suites
from expectations.sentences import Claim, breach, columns_breach, naming_columns, observed_breach
from expectations.suite import QueryRunner, expectations_of, is_of_rows, is_own, name_of, sql_answered
from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.codes import CheckSeverity
from kafka_hindsight.catalog.quality import COVERAGE
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.duck_types import one_sentence
from kafka_hindsight.sql.predicates import ROW, tables_in_sql

Results = Mapping[str, ExpectationValidationResult]

_COLUMNS = "columns_match"
_CORRECT = "Correct your suite, or take the file away."
_DETAILS = {"result_format": "COMPLETE", "partial_unexpected_count": 0}
"""The number of each row, and no example: strangers choose names, and Data Docs show examples as they are."""


def validate_lake(lake: str, cluster: str, window: Window, place: str | None) -> tuple[list[Verdict], Docs]:
    """Check what a run staged, and what it read. See `validate`; `place` is the folder of a user's own suites."""
    store, own = Store(lake), own_suites(place, lake)
    tables, views = tables_of(store, cluster, window, own)
    of_window = {"cluster": cluster, "window_from": window.start, "window_to": window.end}
    return validate(tables, views, of_window, own)


def require_sound(place: str | None, lake: str) -> None:
    """Check a user's own suites. Raises: BadInput with a sentence for each expectation that cannot be checked."""
    if sentences := problems(own_suites(place, lake)):
        raise BadInput(*sentences)


def validate(tables: Tables, views: Tables, window: Mapping[str, Any], own: Suites) -> tuple[list[Verdict], Docs]:
    """Check every table against its suites.

    If the columns of any table are wrong, only columns are judged: laws cannot be evaluated. Of a table without a row,
    expectations that judge rows are vacuous.

    Args:
        tables: Rows by the full name of their table.
        views: Other tables that laws read, by the name they use.
        window: `cluster`, `window_from` and `window_to`.
        own: A user's own suites, by the full name of their table.

    Returns:
        For each expectation of each table, in order, columns of quality.validation_results: table, expectation,
        description, severity, success, is_vacuous, observed, unexpected_count, sentences; and `row_numbers`, the rows
        that break an expectation of ours, but for those of the account of lines, and `is_link`, whether it is a law
        about several rows or tables. Then the pages of GX's Data Docs by their paths, of the tables of which an
        expectation is broken.

    Raises:
        RuntimeError: An expectation of ours could not be checked: that is a fault, not a breach.
        BadInput: An expectation of a user's could not be checked.
    """
    is_sound = all(
        set(rows.column_names) == set(BY_NAME[name].column_names)
        for name, rows in tables.items()
        if BY_NAME[name] not in LANDED
    )
    of_window = {**window, "clusters": [window["cluster"]]}
    verdicts = list[Verdict]()
    with _sql(tables, views, window) as answer, tempfile.TemporaryDirectory() as docs:
        check = _Check(docs, answer, of_window)
        for name, rows in tables.items():
            claims = expectations_of(name, own.get(name))
            if not is_sound:
                claims = [e for e in claims if name_of(e) == _COLUMNS]
            judged = claims if len(rows) else [e for e in claims if name_of(e) == _COLUMNS or is_own(e)]
            results = check.results(name, rows, judged) if judged else {}
            verdicts += [_verdict(name, e, results.get(name_of(e)), rows) for e in claims]
        return verdicts, {str(p.relative_to(docs)): p.read_bytes() for p in Path(docs).rglob("*.html")}


def problems(own: Suites) -> list[str]:
    """A sentence for each thing in a user's own suites that cannot be checked, by tables without a row."""
    tables = {t.full_name: arrow_schema(t).empty_table() for t in CHECKED}
    sentences = []
    with _sql(tables, {}, {"cluster": "", "window_from": None, "window_to": None}) as answer:
        for name, suite in own.items():
            try:
                expectations = [e for e in expectations_of(name, suite) if is_own(e)]
            except Exception as refusal:  # GX has several classes of them
                sentences.append(f"{name}.json: {one_sentence(refusal)}. {_CORRECT}")
                continue
            for expectation in expectations:
                if reason := _refusal(name, expectation, answer):
                    sentences.append(f"{name}.json: {name_of(expectation)}: {reason}. {_CORRECT}")
    return sentences


def _refusal(table: str, expectation: Expectation, answer: QueryRunner) -> str:
    """Why an expectation cannot be checked; empty if it can."""
    kwargs = expectation.configuration.kwargs
    columns = [kwargs[key] for key in ("column", "column_A", "column_B") if key in kwargs]
    strange = {*columns, *kwargs.get("column_list", ())} - {*BY_NAME[table].column_names}
    if strange:
        return f"{table} has no column {', '.join(sorted(strange))}. Needed: a column of docs/tables.md"
    try:
        if "unexpected_rows_query" in kwargs:
            answer(kwargs["unexpected_rows_query"].format(batch=BY_NAME[table].name))
    except (duckdb.Error, KeyError, IndexError) as refusal:
        return one_sentence(refusal)
    return ""


@contextmanager
def _sql(tables: Tables, views: Tables, window: Mapping[str, Any]) -> Iterator[QueryRunner]:
    """Answer queries over these tables while the block runs, each once."""
    by_name = {BY_NAME[name].name: rows for name, rows in tables.items()}
    of_window = {"published_window": pa.Table.from_pylist([{**window}])}
    with tables_in_sql({**views, **by_name, **of_window}) as connection:
        yield cache(lambda query: connection.execute(query).to_arrow_table())


class _Check:
    """A context of GX with one frame at a time as its data, and Data Docs in a folder."""

    def __init__(self, docs: str, answer: QueryRunner, parameters: Mapping[str, Any]) -> None:
        self._context = gx.get_context(mode="ephemeral")
        self._context.variables.progress_bars = ProgressBarsConfig(globally=False)
        site = {
            "class_name": "SiteBuilder",
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
            "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": docs},
        }
        self._context.update_data_docs_site("local_site", site)
        asset = self._context.data_sources.add_pandas("staged").add_dataframe_asset("table")
        self._data = asset.add_batch_definition_whole_dataframe("all")
        self._answer, self._parameters = answer, {**parameters}

    def results(self, name: str, rows: pa.Table, expectations: Sequence[Expectation]) -> Results:
        """Judge a table: no result if all hold, which GX says in half the time; else each, with numbers of rows.

        GX takes milliseconds for each expectation, whatever the rows. Arrow knows which columns have no null, and of
        the two checks GX makes only the second one asks that again.
        """
        batch = {"dataframe": rows.to_pandas(types_mapper=pd.ArrowDtype)}
        doubtful = [e for e in expectations if not (isinstance(e, _Present) and rows[e.column].null_count == 0)]
        first = gx.ExpectationSuite(name=name, expectations=doubtful)
        with sql_answered(lambda query: self._answer(query.format(batch=BY_NAME[name].name))):
            data = self._data.get_batch(batch)
            if data.validate(first, result_format="BOOLEAN_ONLY", expectation_parameters=self._parameters).success:
                return {}
            suite = gx.ExpectationSuite(name=name, expectations=[*expectations])
            run = self._checkpoint(suite).run(batch_parameters=batch, expectation_parameters=self._parameters)
        return {r.expectation_config.meta["name"]: r for result in run.run_results.values() for r in result.results}

    def _checkpoint(self, suite: gx.ExpectationSuite) -> gx.Checkpoint:
        """A checkpoint that judges a suite with all details, and renews Data Docs."""
        context = self._context
        validation = gx.ValidationDefinition(name=suite.name, data=self._data, suite=context.suites.add(suite))
        checkpoint = gx.Checkpoint(
            name=suite.name,
            validation_definitions=[context.validation_definitions.add(validation)],
            actions=[UpdateDataDocsAction(name="data_docs")],
            result_format=_DETAILS,
        )
        return context.checkpoints.add(checkpoint)


def _verdict(
    table: str, expectation: Expectation, result: ExpectationValidationResult | None, rows: pa.Table
) -> Verdict:
    """A row of quality.validation_results. Without a result the expectation holds."""
    name, kwargs, of_rows = name_of(expectation), expectation.configuration.kwargs, is_of_rows(expectation)
    claim = Claim(table, name, expectation.description or str(kwargs))
    severity = CheckSeverity.CRITICAL if expectation.severity == "critical" else CheckSeverity.WARNING
    sound = {
        "table": table,
        "expectation": name,
        "description": claim.says,
        "severity": str(severity),
        "success": True,
        "is_vacuous": of_rows and not len(rows),
        "observed": None,
        "unexpected_count": 0 if of_rows else None,
        "sentences": None,
        "row_numbers": (),
        "is_link": any(law.name == name for law in LAWS.get(table, ())),
    }
    if result is None or result.success:
        return sound
    if fault := _fault(result.exception_info):
        if sound["is_vacuous"]:
            return sound
        sentence = f"{table}: {name} could not be checked: {one_sentence(Exception(fault))}"
        raise BadInput(f"{sentence}. {_CORRECT}") if is_own(expectation) else RuntimeError(sentence)
    broken = sound | {"success": False, "is_vacuous": False}
    details = result.result
    if not of_rows:
        observed = details.get("observed_value")
        if name == _COLUMNS:
            sentences = columns_breach(claim, observed, BY_NAME[table].column_names)
            return broken | {"observed": ", ".join(observed), "sentences": sentences}
        return broken | {"observed": str(observed), "sentences": observed_breach(claim, str(observed))}
    answers = details.get("details", {}).get("unexpected_rows", ())
    numbers = [row[ROW] for row in answers if ROW in row] or details.get("unexpected_index_list", [])
    columns = naming_columns(BY_NAME[table], str(kwargs))
    breaking = (
        rows.take(pa.array(numbers, pa.int64())).select([c for c in columns if c in rows.column_names]).to_pylist()
    )
    return broken | {
        "observed": f"{len(numbers or answers)} of {len(rows)} rows",
        "unexpected_count": len(numbers or answers),
        "sentences": breach(claim, breaking or answers),
        "row_numbers": () if is_own(expectation) or table == COVERAGE.full_name else tuple(numbers),
    }


def _fault(exception_info: Mapping[str, Any] | None) -> str:
    """The reason why GX could not check; empty if it could. GX gives one entry, or one for each metric that failed."""
    info = exception_info or {}
    entries = [info] if "raised_exception" in info else list(info.values())
    return "; ".join(str(e["exception_message"]) for e in entries if e["raised_exception"])
