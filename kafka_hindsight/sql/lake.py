"""A lake as Python reads it: tables, SQL, explanations and reports. No JVM."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import duckdb

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.report.blocks import Page
from kafka_hindsight.report.build import page_of, report_of
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.markdown import Markdown, document
from kafka_hindsight.report.terminal import render_terminal, render_view
from kafka_hindsight.shared.arrow_rows import rows_of
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import did_you_mean, instant
from kafka_hindsight.sql.duck_types import one_sentence, view_name
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries, named_question, variables_set
from kafka_hindsight.sql.report_rows import page_rows
from kafka_hindsight.sql.subjects import Explained, explained

if TYPE_CHECKING:
    import pandas
    import pyarrow

R = TypeVar("R", bound=Row)

_NIGHTS = """
    SELECT cluster, window_from, window_to, arg_max(run_id, run_published_at) AS run_id,
        max(run_published_at) AS published_at
    FROM quality.publications GROUP BY cluster, window_from, window_to ORDER BY window_to DESC, cluster"""


@dataclass(frozen=True)
class Night:
    """One published window of one cluster, and the run that published it last."""

    cluster: str
    window: Window
    run_id: str
    published_at: datetime


@dataclass(frozen=True)
class Explanation:
    """The explanation of one subject, with the lines that prove it."""

    subject: Explained

    def text(self, width: int = 100) -> str:
        """Write it as lines of at most `width` columns; quoted lines may be longer."""
        return render_view(self._page(), width)

    def markdown(self) -> str:
        """Write it as Markdown."""
        page = self._page()
        return Markdown(page).view(page.views[0])

    def data(self) -> dict[str, Any]:
        """Give the answer as dicts and lists."""
        return self.subject.answer.data()

    def __str__(self) -> str:
        return self.text()

    def _page(self) -> Page:
        view = self.subject.answer.view(self.subject.rows)
        if self.subject.instant:
            view = replace(view, title=f"{view.title} around {instant(self.subject.instant, self.subject.rows.day)}")
        return page_of(self.subject.rows, [view])


@dataclass(frozen=True)
class Report:
    """The report of one night."""

    page: Page

    def html(self) -> str:
        """Render the whole page: one file, without anything to fetch."""
        return render_html(self.page)

    def markdown(self) -> str:
        """Render the first view and those of the incidents as Markdown."""
        return document(self.page)

    def text(self, width: int = 100) -> str:
        """Render the summary that a terminal shows, in lines of at most `width` columns."""
        return render_terminal(self.page, width)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()


class Lake:
    """The tables that audits wrote, read-only. `kafka_hindsight.open_lake` opens one; it is a context manager.

    Gold is read as the last whole publication left it when the lake was opened.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._connection = open_views(uri)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. The lake cannot be asked any more."""
        self._connection.close()

    def arrow(self, table: str) -> pyarrow.Table:
        """Read a whole table.

        Args:
            table: Its full name, such as `gold.rebalances`; `kafka_hindsight.TABLES` lists all.

        Returns:
            All rows and columns, in no order. A table that is not published yet has no rows.

        Raises:
            BadInput: There is no table of that name, or it cannot be read.
        """
        with _refusals_as_bad_input():
            return self._all_of(table).to_arrow_table()

    def pandas(self, table: str) -> pandas.DataFrame:
        """Read a whole table as pandas has it; see `arrow`."""
        with _refusals_as_bad_input():
            return self._all_of(table).df()

    def rows(self, row_class: type[R]) -> list[R]:
        """Read a whole table as objects: typed columns, codes as enumerations, instants in UTC.

        Args:
            row_class: A class of `kafka_hindsight.catalog.rows`, such as `Rebalance`.

        Raises:
            BadInput: The table cannot be read.
        """
        return rows_of(self.arrow(row_class.TABLE.full_name).to_batches(), row_class)

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Ask one query in DuckDB's SQL, over views named as the tables are, such as `gold.rebalances`.

        Args:
            query: One SELECT; or the name of a query in `queries/`, with its variables: `partition_owner topic=orders`.

        Returns:
            DuckDB's relation: it prints as a table, and `df()`, `to_arrow_table()` and `fetchall()` read it.

        Raises:
            BadInput: DuckDB refuses the query, no named query has that name or that variable, or the lake does not
                know its value.
        """
        named_call = named_question(query, named_queries())
        with _refusals_as_bad_input():
            if named_call is None:
                return self._connection.sql(query)
            named_query, variables = named_call
            with variables_set(self._connection, variables):
                answer = self._connection.sql(named_query.sql).to_arrow_table()
            return self._connection.from_arrow(answer)

    def explain(self, subject: str, at: str = "") -> Explanation:
        """Explain an incident, a group, a topic, a partition, a broker, a client, or any row by its id.

        Args:
            subject: The id of a row of gold or its first six characters, a group id, a topic, `topic-partition`,
                `broker 1`, a client id, `worst` or `latest`.
            at: An instant of the night, as `01:43` or `2026-11-21T01:43`; empty for the whole night.

        Raises:
            BadInput: The lake holds nothing of that name, or no night that holds the instant.
        """
        with _refusals_as_bad_input():
            return Explanation(explained(self._connection, subject, at))

    @cached_property
    def nights(self) -> list[Night]:
        """The published windows of all clusters, the newest first."""
        return [
            Night(cluster, Window(start, end), run_id, published_at)
            for cluster, start, end, run_id, published_at in self._connection.execute(_NIGHTS).fetchall()
        ]

    def report(self, night: Night | None = None) -> Report:
        """Make the report of a night.

        Args:
            night: One of `nights`; by default the newest.

        Raises:
            BadInput: No night was published, or the lake does not have this one.
        """
        if not self.nights:
            raise BadInput(f"The lake {self.uri} holds no published night. Needed: a finished audit. Run one.")
        night = night or self.nights[0]
        if night not in self.nights:
            raise BadInput(
                f"The lake {self.uri} has no night of {visible(night.cluster)!r} from {night.window.start}."
                " Needed: one of its `nights`."
            )
        window = {"window_from": night.window.start, "window_to": night.window.end}
        run = {"cluster": night.cluster, **window, "run_id": night.run_id, "lake": self.uri}
        return Report(report_of(page_rows(self._connection, run)[0]))

    def _all_of(self, name: str) -> duckdb.DuckDBPyRelation:
        table = BY_NAME.get(name)
        if table is None:
            raise BadInput(
                f"{visible(name)!r} is not a table of the catalog.{visible(did_you_mean(name, BY_NAME))} Needed: a full"
                " name such as gold.rebalances; kafka_hindsight.TABLES lists all."
            )
        return self._connection.sql(f"FROM {view_name(table)}")


@contextmanager
def _refusals_as_bad_input() -> Iterator[None]:
    """While the block runs, a refusal of DuckDB is raised as BadInput, in one sentence."""
    try:
        yield
    except duckdb.Error as problem:
        raise BadInput(one_sentence(problem)) from problem


def open_lake(uri: str) -> Lake:
    """Open a lake to read it.

    Args:
        uri: Its folder, or a URI that delta-rs reads.

    Raises:
        BadInput: There is no lake, or another version of Hindsight wrote it.
    """
    return Lake(str(uri))
