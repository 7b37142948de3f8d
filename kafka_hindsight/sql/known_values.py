"""Whether a lake knows the names that are asked for, such as clusters and groups, and whether instants are ones.

All surfaces ask here: an empty answer about a name with a slip in it would read as an all-clear. A name that the lake
has seen is known, whether or not the window that is asked for has a row of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import duckdb

from kafka_hindsight.catalog.codes import Harm, UnavailabilityKind
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.settings.maintenance import instant_of
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.shared.words import did_you_mean
from kafka_hindsight.sql.duck_types import quoted_name

_COLUMNS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "cluster": ("cluster", ("cluster",)),
    "group_id": ("group", ("group_id", "group_ids")),
    "topic": ("topic", ("topic", "topics")),
    "broker": ("broker", ("broker", "brokers", "leader_from", "leader_to")),
    "partition": ("partition", ("partition",)),
    "run_id": ("run", ("run_id",)),
    "receiver": ("receiver", ("receiver",)),
}
"""By variable: what it names, and the columns of all views that hold such names."""

_CODES: Mapping[str, tuple[str, ...]] = {
    "harm": tuple(map(str, Harm)),
    "kind": tuple(map(str, UnavailabilityKind)),
    "rule_id": tuple(rule.rule_id for rule in RULES),
}
_INSTANTS = ("at", "from", "since")

_LAYERS = ("gold", "quality", "now", "bronze", "silver")
_VIEWS = """
    SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
    WHERE list_contains($1, column_name) AND list_contains($2, table_schema)
    ORDER BY list_position($2, table_schema), table_name, column_name"""


def known_values(connection: duckdb.DuckDBPyConnection, values: Mapping[str, str]) -> dict[str, str]:
    """The values as queries read them: names as they are, instants as DuckDB casts them.

    Args:
        connection: A lake that `open_views` opened.
        values: Values by the variable that they are of. Variables of another kind are passed over.

    Raises:
        BadInput: A sentence for each value that the lake does not know, with the nearest names that exist.
    """
    instants = {name: _instant(connection, value) for name, value in values.items() if name in _INSTANTS}
    problems = [
        *(_no_instant(values[name]) for name, instant in instants.items() if instant is None),
        *(problem for name, value in values.items() if (problem := _problem(connection, name, value))),
    ]
    if problems:
        raise BadInput(*problems)
    return {**values, **{name: instant for name, instant in instants.items() if instant is not None}}


def _instant(connection: duckdb.DuckDBPyConnection, text: str) -> str | None:
    """An instant or a time of a day that DuckDB reads; None for another text. DuckDB wants seconds beside a zone."""
    with suppress(ValueError, OverflowError):  # a time of a day, or one of DuckDB's own forms
        text = instant_of(text).isoformat()
    casts = "coalesce(try_cast($1 AS TIMESTAMPTZ)::VARCHAR, try_cast($1 AS TIME)::VARCHAR)"
    return text if connection.execute(f"SELECT {casts} IS NOT NULL", [text]).fetchone() == (True,) else None


def _no_instant(text: str) -> str:
    return f"{visible(text)!r} is not an instant. Needed: one such as 2026-11-21T01:00Z."


def _problem(connection: duckdb.DuckDBPyConnection, variable: str, value: str) -> str:
    """Why a code or a name is not known; empty if it is, and for variables of another kind."""
    if variable in _CODES:
        choices = _CODES[variable]
        hint = did_you_mean(value, choices) or f" Needed: one of {', '.join(choices)}."
        return "" if value in choices else f"There is no {variable} {visible(value)!r}.{hint}"
    if variable not in _COLUMNS:
        return ""
    noun, columns = _COLUMNS[variable]
    names = set[str]()
    for of_table in _names(connection, columns):
        if value in of_table:
            return ""
        names |= of_table
    hint = visible(did_you_mean(value, names)) if names else " It has none."
    return f"The lake has never seen a {noun} {visible(value)!r}.{hint}"


def _names(connection: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> Iterator[set[str]]:
    """The values of columns of these names, view by view, the smallest layers first."""
    for schema, view, column, kind in connection.execute(_VIEWS, [[*columns], [*_LAYERS]]).fetchall():
        values = f"unnest({quoted_name(column)})" if kind.endswith("[]") else quoted_name(column)
        with suppress(duckdb.Error):  # opening the lake has reported a table that is not whole
            rows = connection.execute(f"SELECT DISTINCT {values} FROM {quoted_name(schema)}.{quoted_name(view)}")
            yield {str(name) for (name,) in rows.fetchall() if name is not None}
