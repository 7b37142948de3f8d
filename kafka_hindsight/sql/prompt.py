"""SQL over the lake: a prompt, or one answer. Read-only."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain

import duckdb

from kafka_hindsight.catalog import BY_NAME, TABLES, derived_views
from kafka_hindsight.settings.config import masked
from kafka_hindsight.settings.home import KEPT
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, BadInput
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.shared.words import did_you_mean
from kafka_hindsight.sql import now_views
from kafka_hindsight.sql.answers import FORMATS, answer_rows, write_rows
from kafka_hindsight.sql.duck_types import duck_type, one_sentence, view_name
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import NamedQuery, named_queries, named_question, variables_set

VIEWS = (*derived_views.VIEWS, *now_views.VIEWS, derived_views.OWNERS)
VIEW_BY_NAME = {view.full_name: view for view in VIEWS}

HISTORY = KEPT / "sql_history"

_UNKNOWN_TABLE = re.compile(r"Table with name (\S+) does not exist!")
_DELIMITERS = " \t\n()[]{},;=<>+-*/|'\"!:"
"""The characters that end a word. The dot is not among them: `gold.rebalances` and `.tables` are words."""

HELP = """\
  SELECT ... ;                  any query; it ends with a semicolon and may span lines
  leader_timeline topic=orders partition=0
                                a named query, with its variables
  .queries                      the named queries and what they answer
  .tables                       the tables of the lake: rows, newest instant, and what one row is
  .describe gold.rebalances     a table's columns and their meanings (DESCRIBE shows types in full)
  .quit                         leaves
  Tab completes tables, columns, named queries with their variables, and commands."""

_COMMANDS = (".tables", ".describe", ".queries", ".help", ".quit")
SYNONYMS = {"help": ".help", "quit": ".quit", "exit": ".quit", "\\q": ".quit", "show tables": ".tables"}
"""Commands of other prompts."""


def main(lake: str, query: str | None = None, format: str = "table") -> int:  # noqa: A002 - as the option is called
    """Answer one query, or open a prompt.

    Args:
        lake: The lake's folder or URI.
        query: SQL, the name of a named query with `variable=value` behind it, or a command of the prompt.
        format: The format of answers.

    Returns:
        0, or 2 where a single query, or one of those read from a pipe, could not be answered.

    Raises:
        BadInput: There is no lake, or no such format.
    """
    if format not in FORMATS:
        raise BadInput(f"The format {format!r} is not known. Needed: one of {', '.join(FORMATS)}.")
    with open_views(lake) as connection:
        return _answer(Session(connection, named_queries(), format), lake, query)


def _answer(session: Session, lake: str, query: str | None) -> int:
    """The exit code of one query, of a prompt, or of the queries in a pipe."""
    if query is not None:
        return DONE if _is_answered(session, query) else BAD_INPUT
    if sys.stdin.isatty():
        return _prompt(session, lake)
    pending = ""
    for line in chain(sys.stdin, ";"):  # the last query of a file needs no semicolon
        pending, ready = gather(pending, line)
        if ready.strip("; \n") and not _is_answered(session, ready):
            return BAD_INPUT
        if not session.is_open:
            break
    return DONE


def _is_answered(session: Session, text: str) -> bool:
    try:
        session.tell(text)
    except BadInput as problem:
        print("\n".join(problem.sentences), file=sys.stderr)
        return False
    return True


def _prompt(session: Session, lake: str) -> int:
    print(f"SQL over {visible(masked(lake))}, read-only. A query ends with a semicolon; .help shows more, \\q leaves.")
    pending = ""
    with _line_editing(session.queries):
        while session.is_open:
            try:
                pending, ready = gather(pending, input("      ...> " if pending else "hindsight> ") + "\n")
                if ready:
                    _is_answered(session, ready)
            except KeyboardInterrupt:
                pending = ""
                print()
            except EOFError:
                print()
                break
    return DONE


def gather(pending: str, line: str) -> tuple[str, str]:
    """Add a line to text that waits for a semicolon: the pending and the ready text. A command is ready at once."""
    if not pending and (line.lstrip().startswith(".") or _plain(line) in SYNONYMS):
        return "", line
    text = pending + line if pending or line.strip() else ""
    return ("", text) if text.rstrip().endswith(";") else (text, "")


def _plain(text: str) -> str:
    return " ".join(text.lower().rstrip("; \n").split())


@contextmanager
def _line_editing(queries: Mapping[str, NamedQuery]) -> Iterator[None]:
    """Complete words by Tab, and keep the lines that were typed."""
    try:
        import readline
    except ImportError:  # a Python built without it has neither completion nor history
        yield
        return
    words = words_of(queries)
    with suppress(OSError):
        readline.read_history_file(HISTORY)
    readline.set_completer_delims(_DELIMITERS)
    readline.set_completer(lambda word, number: [*completions(word, words), None][number])
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)
        with suppress(OSError):
            HISTORY.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(HISTORY)


def words_of(queries: Mapping[str, NamedQuery]) -> list[str]:
    """List what Tab offers: commands, tables, columns, named queries and their variables."""
    names = {c.name for columns in (*(t.columns for t in TABLES), *(v.columns for v in VIEWS)) for c in columns}
    variables = {f"{variable}=" for query in queries.values() for variable in query.variables}
    return sorted({*_COMMANDS, *BY_NAME, *VIEW_BY_NAME, *names, *queries, *variables})


def completions(word: str, words: list[str]) -> list[str]:
    """Give the words that begin as this one does."""
    return [w for w in words if w.startswith(word.lower())]


@dataclass
class Session:
    """The session of one user: the lake, the named queries, and the format of answers."""

    connection: duckdb.DuckDBPyConnection
    queries: Mapping[str, NamedQuery]
    format: str = "table"
    is_open: bool = True

    def tell(self, text: str) -> None:
        """Print what a command, a named query or SQL answers.

        Raises:
            BadInput: It cannot be answered; the reason is one sentence.
            KeyboardInterrupt: The user pressed Ctrl-C.
        """
        text = SYNONYMS.get(_plain(text), text.strip())
        try:
            if text.startswith("."):
                self._command(text)
            elif named_call := named_question(text, self.queries):
                query, variables = named_call
                with variables_set(self.connection, variables):
                    self.ask(query.sql)
            else:
                self.ask(text)
        except duckdb.Error as error:
            raise BadInput(self._sentence(error)) from error

    def _sentence(self, error: duckdb.Error) -> str:
        """An error in one sentence. For a table that does not exist, DuckDB would propose one of its own schemas."""
        unknown = _UNKNOWN_TABLE.search(str(error))
        if not unknown:
            return one_sentence(error)
        proposal = did_you_mean(unknown[1], [*BY_NAME, *VIEW_BY_NAME, *self.queries])
        hint = "`.tables` lists the tables, `.queries` the named queries."
        return f"The table {visible(unknown[1])} does not exist.{proposal} {hint}"

    def ask(self, sql: str) -> None:
        """Print what each query of a text answers; other statements answer nothing."""
        for statement in self.connection.extract_statements(sql):
            answer = self._execute(statement)
            if statement.expected_result_type == [duckdb.ExpectedResultType.QUERY_RESULT]:
                names = [column[0] for column in answer.description or ()]
                write_rows(names, answer_rows(answer), self.format)

    def _execute(self, statement: duckdb.Statement) -> duckdb.DuckDBPyConnection:
        """Execute a statement in another thread, so that Ctrl-C ends it: DuckDB's own wait may lose one."""
        with ThreadPoolExecutor(1) as worker:
            execution = worker.submit(self.connection.execute, statement)
            try:
                return execution.result()
            except KeyboardInterrupt:
                self.connection.interrupt()
                raise

    def _command(self, text: str) -> None:
        command, _, argument = text.rstrip(";").partition(" ")
        if command == ".tables":
            self._tables()
        elif command == ".describe":
            self._describe(argument.strip())
        elif command == ".queries":
            for query in self.queries.values():
                variables = (f"{name}: {meaning}" for name, meaning in query.variables.items())
                print("\n    ".join([query.name, query.says, *variables]))
        elif command == ".help":
            print(HELP)
        elif command == ".quit":
            self.is_open = False
        else:
            proposal = did_you_mean(command, _COMMANDS)
            raise BadInput(f"{visible(command)} is not a command. Needed: one of {', '.join(_COMMANDS)}.{proposal}")

    def _tables(self) -> None:
        rows = []
        for table in TABLES:
            newest = f"max({table.time_column})" if table.time_column else "NULL"
            try:
                count = self.connection.execute(f"SELECT count(*), {newest} FROM {view_name(table)}").fetchone()
            except duckdb.Error:  # the reason was printed as the lake was opened
                count = None
            rows.append((table.full_name, *(count or (None, None)), table.grain))
        rows += [(view.full_name, None, None, view.grain) for view in VIEWS]
        write_rows(("table", "rows", "newest", "meaning"), rows, self.format)

    def _describe(self, name: str) -> None:
        table = BY_NAME.get(name) or VIEW_BY_NAME.get(name)
        if table is None:
            proposal = did_you_mean(name, [*BY_NAME, *VIEW_BY_NAME])
            raise BadInput(f"There is no table {visible(name)!r}. Needed: layer.table as .tables lists them.{proposal}")
        rows = [(c.name, re.sub(r"\(.*\)", "(…)", duck_type(c.kind)), c.described) for c in table.columns]
        write_rows(("column", "type", "meaning"), rows, self.format)
