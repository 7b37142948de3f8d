"""Runs Great Expectations over tables. It and suite.py are the only modules that import GX.

GX evaluates each expectation on a frame of the table; DuckDB answers the queries that suites hold.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import great_expectations as gx
import pandas as pd
import pyarrow as pa
from great_expectations.checkpoint import UpdateDataDocsAction
from great_expectations.core import ExpectationValidationResult
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations import (
    Expectation,
    ExpectColumnValuesToBeUnique,
    ExpectCompoundColumnsToBeUnique,
)
from great_expectations.expectations import ExpectColumnValuesToNotBeNull as _Present
from great_expectations.expectations.expectation import ColumnMapExpectation, ColumnPairMapExpectation

from expectations.checked_tables import Docs, Suites, Tables, Verdict, tables_of
from expectations.derive import CHECKED, LANDED
from expectations.laws import LAWS
from expectations.own import own_suites
from expectations.sentences import NAMED_ROWS, Claim, breach, columns_breach, naming_columns, observed_breach
from expectations.suite import QueryRunner, expectations_of, is_of_rows, is_own, name_of, sql_answered
from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.codes import CheckSeverity
from kafka_hindsight.catalog.quality import COVERAGE
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.staging import Staged
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.grouping import sized, split_by
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.duck_types import one_sentence, quoted_name, quoted_text
from kafka_hindsight.sql.predicates import ROW, tables_in_sql
from kafka_hindsight.start.temporary_folders import temporary_folder

Results = Mapping[str, ExpectationValidationResult]

_OF_KEYS = (ExpectColumnValuesToBeUnique, ExpectCompoundColumnsToBeUnique)
_OF_ONE_ROW = (ColumnMapExpectation, ColumnPairMapExpectation)
_LARGE = 20_000
"""Rows from which on a table is judged part by part."""

_PART = 16 * 1024 * 1024
"""Bytes that GX judges at once: it makes Python's objects of nested columns, which take six times as much."""

_BATCH = 5_000
"""Rows by which a part grows."""

_MEMORY = "400MB"
"""The memory of DuckDB. Sorts and joins of larger tables go through the disk."""

_COLUMNS = "columns_match"
_CORRECT = "Correct your suite, or take the file away."
_DETAILS = {"result_format": "COMPLETE", "partial_unexpected_count": 0}
"""The number of each row, and no example: strangers choose names, and Data Docs show examples as they are."""


def validate_lake(
    lake: str, staged: Staged, cluster: str, window: Window, place: str | None
) -> tuple[list[Verdict], Docs]:
    """Check what a run staged, and what it read. See `validate`; `place` is the folder of a user's own suites."""
    store, own = Store(lake), own_suites(place, lake)
    of_window = {"cluster": cluster, "window_from": window.start, "window_to": window.end}
    with tables_of(store, staged, cluster, window, own) as (tables, views):
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
        that break an expectation of ours, but for those of the account of lines, `row_count`, all rows of the table,
        and `is_link`, whether it is a law about several rows or tables. Then the pages of GX's Data Docs by their
        paths, of the tables of which an expectation is broken.

    Raises:
        RuntimeError: An expectation of ours could not be checked: that is a fault, not a breach.
        BadInput: An expectation of a user's could not be checked.
    """
    of_window = {**window, "clusters": [window["cluster"]]}
    verdicts = list[Verdict]()
    with _sql(tables, views, window) as connection, temporary_folder() as docs:
        checked = [_Checked(name, connection) for name in tables]
        is_sound = all(t.has_its_columns for t in checked if BY_NAME[t.name] not in LANDED)
        check = _Check(docs, cache(partial(_answer, connection)), of_window)
        for table in checked:
            claims = expectations_of(table.name, own.get(table.name))
            if not is_sound:
                claims = [e for e in claims if name_of(e) == _COLUMNS]
            judged = claims if table.row_count else [e for e in claims if name_of(e) == _COLUMNS or is_own(e)]
            results = check.results(table, judged) if judged else {}
            verdicts += [_verdict(table, e, results.get(name_of(e))) for e in claims]
        return verdicts, {str(p.relative_to(docs)): p.read_bytes() for p in Path(docs).rglob("*.html")}


def problems(own: Suites) -> list[str]:
    """A sentence for each thing in a user's own suites that cannot be checked, by tables without a row."""
    tables = {t.full_name: arrow_schema(t).empty_table() for t in CHECKED}
    sentences = []
    with _sql(tables, {}, {"cluster": "", "window_from": None, "window_to": None}) as connection:
        answer = partial(_answer, connection)
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
def _sql(tables: Tables, views: Tables, window: Mapping[str, Any]) -> Iterator[duckdb.DuckDBPyConnection]:
    """These tables in SQL while the block runs. What takes much memory goes to the disk."""
    by_name = {BY_NAME[name].name: rows for name, rows in tables.items()}
    of_window = {"published_window": pa.Table.from_pylist([{**window}])}
    with temporary_folder() as spilled, tables_in_sql({**views, **by_name, **of_window}) as connection:
        connection.execute(f"SET temp_directory = {quoted_text(spilled)}")
        connection.execute(f"SET memory_limit = '{_MEMORY}'")
        yield connection


def _answer(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    return connection.sql(query).to_arrow_table()


class _Checked:
    """A table that is checked: its rows are asked for when they are needed, and only with the columns that are."""

    def __init__(self, name: str, connection: duckdb.DuckDBPyConnection) -> None:
        self.name, self._connection = name, connection
        self._from = f"FROM {quoted_name(BY_NAME[name].name)}"
        described = connection.execute(f"SELECT * {self._from} LIMIT 0").description or ()
        self.column_names = [column[0] for column in described if column[0] != ROW]
        self.row_count = int(connection.execute(f"SELECT count(*) {self._from}").fetchall()[0][0])

    @property
    def has_its_columns(self) -> bool:
        """Whether its columns are those that are declared."""
        return {*self.column_names} == {*BY_NAME[self.name].column_names}

    @property
    def is_large(self) -> bool:
        """Whether its rows are judged part by part."""
        return self.row_count > _LARGE

    def columns_of(self, expectations: Iterable[Expectation]) -> list[str]:
        """The columns that expectations need: those that they name, all for one about the columns themselves."""
        words = set[str]()
        for e in expectations:
            if e.configuration.type.startswith("expect_table_column"):
                return self.column_names
            words |= {*re.findall(r"\w+", str(e.configuration.kwargs))}
        return [c for c in self.column_names if c in words] or self.column_names[:1]

    def rows(self, columns: Sequence[str], condition: str = "true") -> pa.Table:
        """Rows in their order, with some columns."""
        names, number = ", ".join(map(quoted_name, columns)), quoted_name(ROW)
        return _answer(self._connection, f"SELECT {names} {self._from} WHERE {condition} ORDER BY {number}")

    def parts(self, columns: Sequence[str]) -> Generator[pa.Table, None, None]:
        """All rows in any order, with some columns, a part of the table at a time."""
        query = f"SELECT {', '.join(map(quoted_name, columns))} {self._from}"
        with self._connection.sql(query).to_arrow_reader(_BATCH) as batches:
            yield from map(pa.Table.from_batches, sized(batches, lambda batch: batch.nbytes, _PART))

    def that_share(self, columns: Sequence[str]) -> pa.Table:
        """The rows that share the hash of these columns with another row: no others can have the same values."""
        value = f"hash({', '.join(map(quoted_name, columns))})"
        several = f"SELECT {value} {self._from} GROUP BY 1 HAVING count(*) > 1"
        return self.rows(columns, f"{value} IN ({several})")


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

    def results(self, table: _Checked, expectations: Sequence[Expectation]) -> Results:
        """Judge a table: no result if all hold, which GX says in half the time; else each, with numbers of rows.

        A large table is judged part by part, by what each row keeps or breaks alone; keys by the rows that may share
        one. It is read whole, with the columns that its suite names, where that does not hold.

        GX takes milliseconds for each expectation, whatever the rows. Arrow knows which columns have no null, and of
        the two checks GX makes only the second one asks that again.
        """
        with sql_answered(lambda query: self._answer(query.format(batch=BY_NAME[table.name].name))):
            with closing(_shares(table, expectations)) as shares:
                if all(self._holds(table.name, rows, judged) for rows, judged in shares):
                    return {}
            batch = _frame(table.rows(table.columns_of(expectations)))
            suite = gx.ExpectationSuite(name=table.name, expectations=[*expectations])
            run = self._checkpoint(suite).run(batch_parameters=batch, expectation_parameters=self._parameters)
        return {r.expectation_config.meta["name"]: r for result in run.run_results.values() for r in result.results}

    def _holds(self, name: str, rows: pa.Table, expectations: Sequence[Expectation]) -> bool:
        doubtful = [e for e in expectations if not (isinstance(e, _Present) and rows[e.column].null_count == 0)]
        if not doubtful:
            return True
        suite = gx.ExpectationSuite(name=name, expectations=doubtful)
        data = self._data.get_batch(_frame(rows))
        judged = data.validate(suite, result_format="BOOLEAN_ONLY", expectation_parameters=self._parameters)
        return bool(judged.success)

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


def _frame(rows: pa.Table) -> dict[str, Any]:
    """Rows as a batch of GX, over Arrow's memory."""
    return {"dataframe": rows.to_pandas(types_mapper=pd.ArrowDtype)}


def _shares(
    table: _Checked, expectations: Sequence[Expectation]
) -> Generator[tuple[pa.Table, Sequence[Expectation]], None, None]:
    """Rows, and the expectations that are judged by them."""
    if not table.is_large:
        yield table.rows(table.columns_of(expectations)), expectations
        return
    of_keys, others = split_by(expectations, lambda e: isinstance(e, _OF_KEYS) and not is_own(e))
    of_one_row, of_all = split_by(others, lambda e: isinstance(e, _OF_ONE_ROW) and not isinstance(e, _OF_KEYS))
    with closing(table.parts(table.columns_of(of_one_row))) as parts:
        for rows in parts:
            yield rows, of_one_row
    for expectation in of_keys:
        rows = table.that_share(table.columns_of([expectation]))
        if len(rows):
            yield rows, [expectation]
    own, ours = split_by(of_all, is_own)
    yield table.rows(table.columns_of(ours), "false"), ours
    if own:
        yield table.rows(table.columns_of(own)), own


def _verdict(table: _Checked, expectation: Expectation, result: ExpectationValidationResult | None) -> Verdict:
    """A row of quality.validation_results. Without a result the expectation holds."""
    name, kwargs, of_rows = name_of(expectation), expectation.configuration.kwargs, is_of_rows(expectation)
    claim = Claim(table.name, name, expectation.description or str(kwargs))
    severity = CheckSeverity.CRITICAL if expectation.severity == "critical" else CheckSeverity.WARNING
    sound = {
        "table": table.name,
        "expectation": name,
        "description": claim.says,
        "severity": str(severity),
        "success": True,
        "is_vacuous": of_rows and not table.row_count,
        "observed": None,
        "unexpected_count": 0 if of_rows else None,
        "sentences": None,
        "row_numbers": (),
        "row_count": table.row_count,
        "is_link": any(law.name == name for law in LAWS.get(table.name, ())),
    }
    if result is None or result.success:
        return sound
    if fault := _fault(result.exception_info):
        if sound["is_vacuous"]:
            return sound
        sentence = f"{table.name}: {name} could not be checked: {one_sentence(Exception(fault))}"
        raise BadInput(f"{sentence}. {_CORRECT}") if is_own(expectation) else RuntimeError(sentence)
    broken = sound | {"success": False, "is_vacuous": False}
    details = result.result
    if not of_rows:
        observed = details.get("observed_value")
        if name == _COLUMNS:
            sentences = columns_breach(claim, observed, BY_NAME[table.name].column_names)
            return broken | {"observed": ", ".join(observed), "sentences": sentences}
        return broken | {"observed": str(observed), "sentences": observed_breach(claim, str(observed))}
    answers = details.get("details", {}).get("unexpected_rows", ())
    numbers = [row[ROW] for row in answers if ROW in row] or details.get("unexpected_index_list", [])
    columns = [c for c in naming_columns(BY_NAME[table.name], str(kwargs)) if c in table.column_names]
    some = ", ".join(map(str, sorted(numbers)[:NAMED_ROWS]))
    examples = table.rows(columns, f"{quoted_name(ROW)} IN ({some})").to_pylist() if some else answers
    return broken | {
        "observed": f"{len(numbers or answers)} of {table.row_count} rows",
        "unexpected_count": len(numbers or answers),
        "sentences": breach(claim, examples, len(numbers or answers)),
        "row_numbers": () if is_own(expectation) or table.name == COVERAGE.full_name else tuple(numbers),
    }


def _fault(exception_info: Mapping[str, Any] | None) -> str:
    """The reason why GX could not check; empty if it could. GX gives one entry, or one for each metric that failed."""
    info = exception_info or {}
    entries = [info] if "raised_exception" in info else list(info.values())
    return "; ".join(str(e["exception_message"]) for e in entries if e["raised_exception"])
