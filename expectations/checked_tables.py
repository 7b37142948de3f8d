"""The tables that a validation reads where they lie: queries over their files. No row of them is handed over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from expectations.derive import LANDED
from expectations.own import suite_text
from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, INCIDENTS
from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.quality import COVERAGE, GENERATION_GAPS, LEADERSHIP_GAPS
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.staging import Staged, row_count, staging_folder
from kafka_hindsight.lake.store import Store, part_of
from kafka_hindsight.lake.table_files import check_file, read_file
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.duck_types import duck_type, quoted_name, quoted_text
from kafka_hindsight.sql.predicates import ROW
from kafka_hindsight.start.temporary_folders import temporary_folder

Tables = Mapping[str, "pa.Table | str"]
"""Rows by the full name of their table: a table of Arrow, or a query of DuckDB that numbers them."""

Suites = Mapping[str, Mapping[str, Any]]
"""A user's own suites, by the full name of their table."""

Verdict = dict[str, Any]
"""Whether one expectation of one table held: the columns of quality.validation_results that depend on the data."""

Docs = dict[str, bytes]
"""Pages of Great Expectations' Data Docs, by their paths."""

_NUMBER = quoted_name(ROW)

_COUNTED = ("source", "line_count")
"""The columns by which a law counts the lines of records."""


@contextmanager
def tables_of(
    store: Store, staged: Staged, cluster: str, window: Window, own: Suites
) -> Iterator[tuple[Tables, Tables]]:
    """The tables to check, by full name, and other tables that laws read, by the name they use.

    DuckDB reads the files of a lake on this machine where they lie, and copies of what is needed of another's.
    """
    words = json.dumps(own)
    with temporary_folder() as copies:
        files = _Files(store, cluster, copies)
        of_window = (COVERAGE, GENERATION_GAPS)
        tables = {
            **{t.full_name: files.staged(t, staged.of(t)) for t in GOLD},
            **{t.full_name: files.rows(t, part_of(t, cluster, window)) for t in of_window},
            **{t.full_name: files.rows(t, part_of(t, cluster, window), _needed_columns(t, words)) for t in LANDED},
        }
        undated = Part(cluster, str(LOG_RECORDS.time_column), timeless=True)
        views = {
            "undated_records": files.rows(LOG_RECORDS, undated, _COUNTED),
            LEADERSHIP_GAPS.name: files.rows(LEADERSHIP_GAPS, part_of(LEADERSHIP_GAPS, cluster, window)),
            **{f"published_{t.name}": files.rows(t, Part(cluster), t.key) for t in (INCIDENTS, BROKER_OUTAGES)},
        }
        yield tables, views


def _needed_columns(table: Table, own: str) -> list[str]:
    """The columns of bronze or silver that its suite, a user's suites or a law names."""
    words = {*re.findall(r"\w+", own + suite_text(table.full_name)), "preferred_leader", *_COUNTED}
    return [name for name in table.column_names if name in words]


class _Files:
    """Queries over the files of tables."""

    def __init__(self, store: Store, cluster: str, copies: str) -> None:
        self._store, self._cluster, self._copies, self._count = store, cluster, copies, 0

    def staged(self, table: Table, files: Sequence[DataFile]) -> str:
        """The query of a staged table, with the columns that its files have."""
        if not files:
            return _empty(table, table.column_names)
        folder, first, queries = staging_folder(self._store.lake, self._cluster, table), 0, list[str]()
        for file in files:
            number = f"file_row_number + {first} AS {_NUMBER}"
            source = f"read_parquet({self._place(folder, file, table)}, file_row_number = true)"
            queries.append(f"SELECT * EXCLUDE (file_row_number), {number} FROM {source}")
            first += row_count(file)
        return " UNION ALL ".join(queries)

    def rows(self, table: Table, part: Part, columns: Sequence[str] | None = None) -> str:
        """The query of a part of a table, with some of its columns; None: with all."""
        names = tuple(table.column_names if columns is None else columns)
        files = self._store.files(table, part) if self._store.has(table) else []
        if not files:
            return _empty(table, names)
        columns_read = tuple(dict.fromkeys((*names, *part.columns)))
        places = ", ".join(self._place(self._store.path(table), file, table, columns_read) for file in files)
        typed = ", ".join(
            f"{quoted_name(name)}::{duck_type(table.column(name).kind)} AS {quoted_name(name)}" for name in names
        )
        rows = f"SELECT {typed} FROM read_parquet([{places}]) WHERE {_condition(part)}"
        return f"SELECT *, row_number() OVER () - 1 AS {_NUMBER} FROM ({rows})"

    def _place(self, folder: str, file: DataFile, table: Table, columns: Sequence[str] | None = None) -> str:
        """The place of a file in SQL; that of a copy on this machine if the lake lies elsewhere."""
        if not is_uri(folder):
            check_file(folder, file, table)
            path = str(Path(folder).expanduser().absolute() / file.path)
            return quoted_text(re.sub(r"([*?\[])", r"[\1]", path))
        self._count += 1
        copy = f"{self._copies}/{self._count}.parquet"
        batches = read_file(folder, file, None, table, columns)
        first = next(batches)
        with pq.ParquetWriter(copy, pa.schema([f.with_nullable(True) for f in first.schema])) as writer:
            for batch in (first, *batches):
                writer.write_batch(batch.cast(writer.schema))
        return quoted_text(copy)


def _condition(part: Part) -> str:
    laws = [] if part.cluster is None else [f"cluster = {quoted_text(part.cluster)}"]
    if part.time and not part.span:
        laws.append(f"{quoted_name(part.time)} IS NULL")
    elif part.span:
        start, end = (f"{quoted_text(at.isoformat())}::TIMESTAMPTZ" for at in part.span)
        laws.append(f"{quoted_name(part.time)} >= {start} AND {quoted_name(part.time)} < {end}")
    return " AND ".join(laws) or "true"


def _empty(table: Table, names: Sequence[str]) -> str:
    nulls = (f"NULL::{duck_type(table.column(name).kind)} AS {quoted_name(name)}" for name in names)
    return f"SELECT {', '.join(nulls)}, NULL::BIGINT AS {_NUMBER} WHERE false"
