"""SQL over the lake: a prompt, or one answer. Read-only."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from kafka_hindsight.catalog import BY_NAME, TABLES
from kafka_hindsight.lake.half_done import LAYERS
from kafka_hindsight.settings.config import masked
from kafka_hindsight.settings.home import KEPT
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, BadInput
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.shared.words import did_you_mean
from kafka_hindsight.sql import bridge_views, now_views
from kafka_hindsight.sql.answers import FORMATS, write_answer
from kafka_hindsight.sql.duck_rules import statements
from kafka_hindsight.sql.duck_types import one_sentence
from kafka_hindsight.sql.lake_views import DAMAGED, open_views
from kafka_hindsight.sql.line_editor import Words, line_editor
from kafka_hindsight.sql.named_queries import NamedQuery, named_queries, named_question, variables_set

_VIEWS: Mapping[str, now_views.NowView | bridge_views.BridgeView] = {
    **now_views.VIEW_BY_NAME,
    **bridge_views.VIEW_BY_NAME,
}
"""The views that are not tables of the lake."""

_UNKNOWN_TABLE = re.compile(r"Table with name (\S+) does not exist!")

HISTORY = KEPT / "sql_history.jsonl"

HELP = """\
  SELECT ... ;                  any query; it ends with a semicolon and may span lines
  .tables                       the tables of the lake: rows, newest instant, and what one row is
  .describe gold.rebalances     a table's columns and their meanings (DESCRIBE shows types in full)
  .queries                      the named queries and what they answer
  .run leader_timeline topic=orders partition=0
                                a named query; its variables are set behind its name
  SET VARIABLE topic = 'orders';
                                sets a variable for every query that follows
  .format csv                   how answers are printed: table, csv or json
  \\q                            leaves; quit, exit, help and SHOW TABLES are understood too
  Tab completes tables, columns, named queries with their variables, and commands; the arrow keys
  bring back whole statements."""


SYNONYMS = {"help": ".help", "?": ".help", "quit": ".quit", "exit": ".quit", "show tables": ".tables"}
"""What people say at other prompts."""


def main(lake: str, query: str | None = None, format: str = "table") -> int:  # noqa: A002 - as the option is called
    """Answer one query, or open a prompt.

    Takes: the lake's folder or URI; SQL, the name of a named query (with `variable=value` behind it) or a command
    of the prompt; how answers are printed.
    Gives: 0, or 2 where a single query, or one of those read from a pipe, could not be answered.
    Raises: BadInput where there is no lake, or no such format.
    """
    if format not in FORMATS:
        raise BadInput(f"The format {format!r} is not known. Needed: one of {', '.join(FORMATS)}.")
    session = Session(open_views(lake), named_queries(), format)
    if query is not None:
        return DONE if _told(session, query) else BAD_INPUT
    return _prompt(session, lake) if sys.stdin.isatty() else _pipe(session)


def _told(session: Session, text: str) -> bool:
    try:
        session.tell(text)
    except BadInput as problem:
        print("\n".join(problem.sentences), file=sys.stderr)
        return False
    return True


def _pipe(session: Session) -> int:
    """Answer what a pipe or a file asks, up to the first problem."""
    waiting = ""
    for line in sys.stdin:
        waiting, ready = gathered(waiting, line)
        if ready and not _told(session, ready):
            return BAD_INPUT
        if not session.is_open:
            return DONE
    return DONE if not waiting.strip() or _told(session, waiting) else BAD_INPUT


def _prompt(session: Session, lake: str) -> int:
    print(f"SQL over {visible(masked(lake))}, read-only. A query ends with a semicolon; .help shows more, \\q leaves.")
    waiting = ""
    with line_editor(words_of(session.queries), HISTORY) as editor:
        while session.is_open:
            try:
                waiting, ready = gathered(waiting, editor.read(waiting))
                if ready:
                    editor.keep(ready)
                    _told(session, ready)
            except KeyboardInterrupt:
                waiting = ""
                print()
            except EOFError:
                print()
                break
    return DONE


def gathered(waiting: str, line: str) -> tuple[str, str]:
    """A line put behind those that wait for a semicolon: what waits now, what is ready. A command is so at once."""
    if not waiting and (line.lstrip().startswith((".", "\\")) or _plain(line) in SYNONYMS):
        return "", line
    text = waiting + line if waiting or line.strip() else ""
    return ("", text) if text.rstrip().endswith(";") else (text, "")


def _plain(text: str) -> str:
    return " ".join(text.lower().rstrip("; \n").split())


def words_of(queries: Mapping[str, NamedQuery]) -> Words:
    """What can be said at the prompt."""
    columns = {t.full_name: t.column_names for t in TABLES}
    columns |= {v.full_name: tuple(c.name for c in v.columns) for v in _VIEWS.values()}
    arguments = {".describe": columns, ".run": queries, ".format": FORMATS}
    return Words(
        commands={command: tuple(arguments.get(command, ())) for command in _COMMANDS},
        tables=columns,
        queries={query.name: tuple(query.variables) for query in queries.values()},
    )


@dataclass
class Session:
    """One person asking: the lake, the named queries, and how answers are printed."""

    connection: duckdb.DuckDBPyConnection
    queries: Mapping[str, NamedQuery]
    format: str = "table"
    is_open: bool = True

    def tell(self, text: str) -> None:
        """Print what a command, a named query or SQL answers.

        Raises: BadInput, in one sentence, for whatever cannot be answered; KeyboardInterrupt.
        """
        text = SYNONYMS.get(_plain(text), text.strip())
        try:
            if text.startswith((".", "\\")):
                self._command(text)
            elif asked := named_question(text, self.queries):
                self.run(*asked)
            else:
                self.ask(text)
        except duckdb.Error as error:
            raise BadInput(self._said(error)) from error
        except RuntimeError as error:
            # DuckDB wraps a Ctrl-C that came while a query ran, and its threads go on with the query until told.
            if isinstance(error.__cause__, KeyboardInterrupt):
                self.connection.interrupt()
                raise error.__cause__ from None
            raise

    def _said(self, error: duckdb.Error) -> str:
        """What DuckDB refuses. Edge case: of a table that does not exist it proposes one of its own."""
        unknown = _UNKNOWN_TABLE.search(str(error))
        if not unknown:
            return one_sentence(error)
        near = did_you_mean(unknown[1], [*BY_NAME, *_VIEWS, *self.queries])
        listed = "`.tables` lists the tables, `.queries` the named queries."
        return f"The table {visible(unknown[1])} does not exist.{near} {listed}"

    def show(self, sql: str, values: Sequence[object] = ()) -> None:
        """Print what one query of our own answers."""
        write_answer(self.connection.execute(sql, list(values)), self.format, sys.stdout)

    def ask(self, sql: str) -> None:
        """Print what each statement answers. Raises: BadInput for a statement that does not only read."""
        for statement, is_query in statements(self.connection, sql):
            answer = self.connection.execute(statement)
            if is_query:
                write_answer(answer, self.format, sys.stdout)

    def run(self, query: NamedQuery, variables: Mapping[str, str]) -> None:
        """Print what a named query answers with these variables set."""
        with variables_set(self.connection, variables):
            self.ask(query.sql)

    def _command(self, text: str) -> None:
        word, _, rest = text.rstrip(";").partition(" ")
        if word not in _COMMANDS:
            near = did_you_mean(word, _COMMANDS)
            raise BadInput(f"{visible(word)} is not a command. Needed: one of {', '.join(_COMMANDS)}.{near}")
        _COMMANDS[word](self, rest.strip())


def _tables(session: Session, _: str) -> None:
    views = session.connection.execute("SELECT schema_name || '.' || view_name, comment FROM duckdb_views()").fetchall()
    broken = {name for name, comment in views if (comment or "").endswith(DAMAGED)}
    counted = " UNION ALL ".join(
        f'SELECT \'{t.full_name}\' AS "table", count(*) AS "rows",'
        f" {f'max({t.time_column})' if t.time_column else 'NULL'} AS newest FROM {t.full_name}"
        for t in TABLES
        if t.full_name not in broken
    )
    session.show(
        f"WITH counted AS ({counted}) SELECT v.schema_name || '.' || v.view_name AS \"table\", c.rows, c.newest,"
        " v.comment AS meaning FROM duckdb_views() AS v"
        " LEFT JOIN counted AS c ON c.table = v.schema_name || '.' || v.view_name"
        " WHERE v.schema_name = ANY(?) AND v.comment IS NOT NULL ORDER BY v.schema_name = ?, 1",
        [[*LAYERS, now_views.SCHEMA, bridge_views.SCHEMA], bridge_views.SCHEMA],
    )


def _describe(session: Session, table: str) -> None:
    layer, _, name = table.partition(".")
    if table not in BY_NAME and table not in _VIEWS:
        near = did_you_mean(table, [*BY_NAME, *_VIEWS])
        raise BadInput(f"There is no table {visible(table)!r}. Needed: layer.table as .tables lists them.{near}")
    session.show(
        "SELECT column_name AS \"column\", regexp_replace(data_type, '[(].*[)]', '(…)') AS type, comment AS meaning"
        " FROM duckdb_columns()"
        " WHERE schema_name = ? AND table_name = ? ORDER BY column_index",
        [layer, name],
    )


def _queries(session: Session, _: str) -> None:
    for query in session.queries.values():
        print(f"{query.name}\n    {query.says}")
        for name, meaning in query.variables.items():
            print(f"    {name}: {meaning}")


def _run(session: Session, text: str) -> None:
    asked = named_question(text, session.queries)
    if asked is None:
        near = did_you_mean(text.partition(" ")[0], session.queries)
        raise BadInput(f"There is no query named {visible(text)!r}. Needed: one of {', '.join(session.queries)}.{near}")
    session.run(*asked)


def _format(session: Session, name: str) -> None:
    if name not in FORMATS:
        raise BadInput(f"The format {visible(name)!r} is not known. Needed: one of {', '.join(FORMATS)}.")
    session.format = name


def _help(session: Session, _: str) -> None:
    print(HELP)


def _quit(session: Session, _: str) -> None:
    session.is_open = False


_COMMANDS: Mapping[str, Callable[[Session, str], None]] = {
    ".tables": _tables,
    ".describe": _describe,
    ".queries": _queries,
    ".run": _run,
    ".format": _format,
    ".help": _help,
    ".quit": _quit,
    "\\q": _quit,
}
