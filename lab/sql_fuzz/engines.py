"""The prompt and the Thrift server, asked statement by statement while a watch looks."""

from __future__ import annotations

import io
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from kafka_hindsight.sql.prompt import Session
from lab.sql_fuzz.mutate import Statements
from lab.sql_fuzz.watch import Watch, watching
from tests.support import duck_statements, thrift_statements

_LONGEST_S = 3
_SETTLES_S = 0.3
"""How long something that a statement began may take until the watch sees it."""

ANSWERED, REFUSED, FAILED = "answered", "refused", "failed"


@dataclass
class Result:
    """How many statements ended how, and those during which something happened: number, text, what."""

    outcomes: Counter[str] = field(default_factory=Counter)
    happened: list[tuple[int, str, list[str]]] = field(default_factory=list)


def ask_all(statements: Statements, numbers: Iterable[int], ask: Callable[[str], str], watch: Watch) -> Result:
    """Asks statements in order."""
    result, number, text = Result(), 0, ""
    for number in numbers:
        text = statements[number]
        result.outcomes[ask(text)] += 1
        if what := watch.happened():
            result.happened.append((number, text, what))
    time.sleep(_SETTLES_S)
    if late := watch.happened():
        result.happened.append((number, text, ["late: " + what for what in late]))
    return result


def places(lake: Path, outside: Path, url: str) -> Mapping[str, str]:
    """What stands in the statements for a folder or an address, within quotation marks of SQL."""
    return {"lake": str(lake).replace("'", "''"), "outside": str(outside).replace("'", "''"), "url": url}


def arguments(named: Mapping[str, str]) -> Sequence[str]:
    """Arguments by which a function may reach a file, a network or a log."""
    return (
        "'{outside}/secret'", "'{outside}/*'", "'{outside}'", "'{lake}/gold/rebalances'", "'{lake}/x'", "'{url}/x'",
        "'file://{outside}/secret'", "'QueryLog'", "'x'", "'x'::BLOB", "1", "NULL", "['{outside}/secret']", "true",
        "'SELECT 1'", "storage = 'file'", "path = '{outside}/x'", "gold.rebalances", "'gold.rebalances'", "*",
    )  # fmt: skip


def ask_duckdb(folder: Path, seed: int, numbers: Iterable[int]) -> Result:
    """Asks the SQL prompt."""
    from tests.support.asked_lake import LAKE
    from tests.support.lake import write_lake

    lake, outside = write_lake(folder / "lake", LAKE), folder / "outside"
    outside.mkdir()
    (outside / "secret").write_text("not in the lake\n")
    connection = open_views(str(lake))
    session = Session(connection, named_queries(), "json")
    with watching((outside,), (lake, folder)) as watch:
        statements = duckdb_statements(connection, seed, places(lake, outside, watch.url))
        return ask_all(statements, numbers, lambda text: _ask_duckdb(session, text), watch)


def duckdb_statements(connection: duckdb.DuckDBPyConnection, seed: int, named: Mapping[str, str]) -> Statements:
    """Statements with every function that DuckDB has."""
    functions = connection.execute("SELECT DISTINCT function_name FROM duckdb_functions() ORDER BY 1").fetchall()
    queries = tuple(q.sql for q in named_queries().values())
    corpus = (*(s.format(**named) for s in (*duck_statements.READS, *duck_statements.REFUSED)), *queries)
    return Statements(seed, corpus, [name for (name,) in functions], [a.format(**named) for a in arguments(named)])


def _ask_duckdb(session: Session, text: str) -> str:
    late = threading.Timer(_LONGEST_S, session.connection.interrupt)
    late.start()
    try:
        with redirect_stdout(io.StringIO()):
            session.ask(text)
    except BadInput:
        return REFUSED
    except (duckdb.Error, RuntimeError):
        return FAILED
    finally:
        late.cancel()
    return ANSWERED


def ask_thrift(folder: Path, seed: int, numbers: Iterable[int]) -> Result:
    """Asks a Thrift server that is started for it."""
    from kafka_hindsight.spark import session
    from tests.support.thrift_served import serving

    with serving(session.start("sql_fuzz", "local[1]"), folder) as served:
        return ask_served(served, seed, numbers)


def ask_served(served: Any, seed: int, numbers: Iterable[int]) -> Result:
    """Asks a Thrift server that runs."""
    with watching((served.outside,), (served.lake,)) as watch:
        named = places(served.lake, served.outside, watch.url)
        refused = (s.format(**named).replace("http://127.0.0.1:1", watch.url) for s in thrift_statements.REFUSED)
        functions = [name for (name,) in served.ask("SHOW FUNCTIONS")]
        hidden = re.findall(r"\b(\w+)\(", " ".join(thrift_statements.REFUSED))
        statements = Statements(
            seed,
            (*thrift_statements.READS, *refused),
            sorted({*functions, *hidden}),
            [a.format(**named) for a in arguments(named)],
        )
        return ask_all(statements, numbers, lambda text: _ask_thrift(served, text), watch)


def _ask_thrift(served: Any, text: str) -> str:
    from py4j.protocol import Py4JJavaError

    statement = served.connection.createStatement()
    try:
        statement.setQueryTimeout(_LONGEST_S)
        statement.execute(text)
    except Py4JJavaError as error:
        return REFUSED if "The lake is only read here" in str(error.java_exception) else FAILED
    finally:
        statement.close()
    return ANSWERED


ENGINES = {"duckdb": ask_duckdb, "thrift": ask_thrift}
