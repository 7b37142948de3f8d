"""The named queries: files in queries/, each with a sentence that says what it answers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.words import did_you_mean
from kafka_hindsight.sql.known_values import known_values

if TYPE_CHECKING:
    import duckdb

FOLDER = HOME / "queries"
_LOOKS_NAMED = re.compile(r"\w+(\s+\w+=.*)?", re.DOTALL)
"""No statement of SQL is one word, or a word and `name=value`."""


@dataclass(frozen=True)
class NamedQuery:
    """One query: its name, what it answers, the variables it asks for with their meanings, and its SQL.

    A variable that is not set is NULL in the query, which then takes the default that its meaning names.
    """

    name: str
    says: str
    variables: Mapping[str, str]
    sql: str


def named_queries() -> dict[str, NamedQuery]:
    """All named queries, by name."""
    return {p.stem: read_query(p.stem, p.read_text(encoding="utf-8")) for p in sorted(FOLDER.glob("*.sql"))}


def read_query(name: str, text: str) -> NamedQuery:
    """Read a query from its text: a comment with its sentence, then a line `-- variable: meaning` for each variable."""
    lines = text.strip().splitlines()
    comments = []
    while lines and lines[0].startswith("--"):
        comments.append(lines.pop(0).removeprefix("--").strip())
    variables = {m["name"]: m["meaning"] for c in comments if (m := re.fullmatch(r"(?P<name>\w+): (?P<meaning>.+)", c))}
    sentence = " ".join(c for c in comments if c.partition(":")[0] not in variables)
    return NamedQuery(name, sentence, variables, "\n".join(lines).strip().rstrip(";"))


def named_question(text: str, queries: Mapping[str, NamedQuery]) -> tuple[NamedQuery, dict[str, str]] | None:
    """The named query, and the variables set for it, that a text such as `leader_timeline topic=orders` asks for.

    Returns:
        The query and its variables; None where the text does not begin with the name of a query: it must be SQL.

    Raises:
        BadInput: No query has that name, or the query has no such variable.
    """
    call = text.strip().rstrip(";").strip()
    name, _, arguments = call.partition(" ")
    query = queries.get(name)
    if query is None and _LOOKS_NAMED.fullmatch(call):
        raise BadInput(f"There is no query named {name!r}.{did_you_mean(name, queries)} `.queries` lists them.")
    if query is None:
        return None
    try:
        pairs = [token.partition("=") for token in shlex.split(arguments)]
    except ValueError as error:
        raise BadInput(f"The query {name} cannot use {arguments!r}: {error}. Needed: quotes in pairs.") from error
    if any(not equals or variable not in query.variables for variable, equals, _ in pairs):
        names = ", ".join(query.variables) or "nothing"
        unknown = next((variable for variable, _, _ in pairs if variable not in query.variables), "")
        proposal = did_you_mean(unknown, query.variables)
        raise BadInput(
            f"The query {name} cannot use {arguments.strip()!r}. Needed: name=value with names of: {names}.{proposal}"
        )
    return query, {variable: value for variable, _, value in pairs}


@contextmanager
def variables_set(connection: duckdb.DuckDBPyConnection, values: Mapping[str, str]) -> Iterator[None]:
    """Set the variables of a named query while the block runs.

    Raises:
        BadInput: The lake does not know a value.
    """
    values = known_values(connection, values)
    for name, value in values.items():
        connection.execute(f'SET VARIABLE "{name}" = ?', [value])
    try:
        yield
    finally:
        for name in values:
            connection.execute(f'RESET VARIABLE "{name}"')
