"""The subjects of `hindsight explain`, read from a lake.

An incident, a group, a topic, a partition, a broker, a client or an owner of a published window; the worst and the
latest incident; or any row of gold by its id, with the rows that it names and those that name it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from itertools import chain
from typing import Any

import duckdb

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.catalog.gold import INCIDENTS
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.report.answer import Answer
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects import SUBJECTS
from kafka_hindsight.report.subjects.row_answer import Related, row_answer
from kafka_hindsight.settings.alerts import owners
from kafka_hindsight.settings.changes import declared_changes
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.plain import harmless, visible
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import did_you_mean
from kafka_hindsight.sql.duck_types import CANNOT_BE_READ, one_sentence, view_name
from kafka_hindsight.sql.lake_views import dicts_of
from kafka_hindsight.sql.report_rows import page_rows

WITH_ID = tuple(t for t in TABLES if t.layer == "gold" and len(t.key) == 1)
"""The tables whose rows have an id."""

_ID = re.compile(r"(?:.*[#/])?(?:[a-z_-]+-)?([0-9a-f]{6,32})")
"""The id of a row, or its beginning: the text itself, or the end of an address."""
_BROKER = re.compile(r"broker[ -]?(\d+)")
_OWNER = re.compile(r"(?:owner|team)[ :](.+)")
_ROWS = 10
_AMBIGUOUS = 5

_SUBJECTS: Mapping[str, Sequence[str]] = {
    "group": (
        "SELECT cluster, group_id AS name, started_at AS shown_at FROM gold.rebalances",
        "SELECT cluster, group_id, started_at FROM gold.partition_stalls",
        "SELECT cluster, group_id, first_seen_at FROM gold.member_settings",
        "SELECT cluster, unnest(group_ids), started_at FROM gold.incidents",
        "SELECT cluster, name, first_at FROM gold.night_subjects WHERE kind = 'group'",
    ),
    "topic": (
        "SELECT cluster, topic AS name, happened_at AS shown_at FROM gold.failovers",
        "SELECT cluster, topic, started_at FROM gold.unavailability WHERE topic IS NOT NULL",
        "SELECT cluster, unnest(topics), started_at FROM gold.incidents",
        "SELECT cluster, name, first_at FROM gold.night_subjects WHERE kind = 'topic'",
    ),
    "partition": (
        "SELECT cluster, concat(topic, '-', partition) AS name, happened_at AS shown_at FROM gold.failovers",
        "SELECT cluster, concat(topic, '-', partition), started_at FROM gold.partition_stalls",
        "SELECT cluster, concat(topic, '-', partition), started_at FROM gold.unavailability WHERE topic IS NOT NULL",
    ),
    "client": (
        "SELECT cluster, client_id AS name, started_at AS shown_at FROM gold.rebalances WHERE client_id IS NOT NULL",
        "SELECT cluster, client_id, started_at FROM gold.producer_failures WHERE client_id IS NOT NULL",
        "SELECT cluster, client_id, first_seen_at FROM gold.producer_settings WHERE client_id IS NOT NULL",
    ),
    "broker": (
        "SELECT cluster, concat('broker ', broker) AS name, down_at AS shown_at FROM gold.broker_outages",
        "SELECT cluster, concat('broker ', broker), snapshot_at FROM gold.leader_imbalance",
        "SELECT cluster, concat('broker ', leader_to), happened_at FROM gold.failovers WHERE leader_to >= 0",
        "SELECT cluster, concat('broker ', name), first_at FROM gold.night_subjects WHERE kind = 'broker'",
    ),
}
"""Queries for the names of subjects, with the cluster and an instant of each."""

_WINDOWS = """
    SELECT cluster, window_from, window_to, arg_max(run_id, run_published_at) AS run_id
    FROM quality.publications GROUP BY ALL ORDER BY window_to DESC, cluster"""

_INCIDENT_OF_WORD = {
    "worst": """
        SELECT incident_id FROM gold.incidents AS i
        JOIN (
            SELECT cluster, window_from, window_to FROM quality.publications
            ORDER BY window_to DESC, run_published_at DESC LIMIT 1
        ) AS w ON i.cluster = w.cluster AND i.started_at >= w.window_from AND i.started_at < w.window_to
        ORDER BY is_over IS FALSE DESC, harm_rank NULLS LAST, started_at LIMIT 1""",
    "latest": "SELECT incident_id FROM gold.incidents ORDER BY started_at DESC, harm_rank NULLS LAST LIMIT 1",
}
"""The incident with which the newest night begins its report: the most harmful of those that are not over, then of all;
and the incident that started last."""

_TO_DO = "What to do: `hindsight doctor` with --lake names each table that is not whole."


@dataclass(frozen=True)
class Explained:
    """The answer about a subject, the rows of the window that it lies in, and the instant that was asked for."""

    answer: Answer
    rows: PageRows
    instant: datetime | None = None


def explained(connection: duckdb.DuckDBPyConnection, subject: str, at: str = "") -> Explained:
    """Explain a subject.

    Args:
        connection: A lake that `open_views` opened.
        subject: `worst`, `latest`, a group, a topic, a partition as topic-number, `broker 1`, a client id, `owner crm`,
            or the id of a row of gold or its beginning.
        at: An instant, as `01:43`, `01:43:40` or `2026-11-21T01:43`; empty for the whole window.

    Returns:
        The answer from the newest window that shows the subject, or the one that holds the instant.

    Raises:
        BadInput: The lake has nothing of that name, or no window that holds the instant.
    """
    subject = subject.strip()
    if subject in _INCIDENT_OF_WORD:
        return _row_by_id(connection, _incident_of(connection, subject))
    if owner := _OWNER.fullmatch(subject):
        return _answer_of_owner(connection, owner[1], at)
    if broker := _BROKER.fullmatch(subject):
        subject = f"broker {broker[1]}"
    for kind in _SUBJECTS:
        if last := _last_instants(connection, kind, subject):
            return _answer(connection, kind, subject, last, at)
    if match := _ID.fullmatch(subject):
        return _row_by_id(connection, match[1])
    hint = visible(did_you_mean(subject, _names(connection)))
    raise BadInput(
        f"{visible(subject)!r} is not an id, a group, a topic, a partition, a broker or a client of this lake.{hint}"
        " Needed: the id of a row of gold (32 characters of 0-9 and a-f) or its first six or more, an address in the"
        " report that ends in one, a group id, a topic, topic-partition, `broker 1`, a client id, `owner NAME`, worst"
        " or latest. `hindsight sql` finds ids."
    )


def _last_instants(connection: duckdb.DuckDBPyConnection, kind: str, name: str) -> dict[str, datetime]:
    """The last instant at which each cluster shows a subject."""
    instants: dict[str, datetime] = {}
    for query in _SUBJECTS[kind]:
        with _where_readable(connection, query):
            rows = f"({query}) AS s(cluster, name, shown_at) WHERE name = ?"
            last = connection.execute(f"SELECT cluster, max(shown_at) FROM {rows} GROUP BY cluster", [name])
            for cluster, instant in last.fetchall():
                instants[cluster] = max(instant, instants.get(cluster, instant))
    return instants


def _names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The names of all subjects."""
    names = []
    for query in chain.from_iterable(_SUBJECTS.values()):
        with _where_readable(connection, query):
            names += connection.execute(f"SELECT DISTINCT name FROM ({query}) AS s(cluster, name, shown_at)").fetchall()
    return [name for (name,) in names]


def _answer(
    connection: duckdb.DuckDBPyConnection, kind: str, name: str, last: Mapping[str, datetime], at: str
) -> Explained:
    """The answer about a subject from the window that holds the instant `at`, else from the newest that shows it."""
    for cluster, start, end, run in sorted(_windows(connection, last), key=lambda w: last[w[0]], reverse=True):
        window = Window(start, end)
        instant = _instant(at, window) if at else last[cluster]
        if instant and window.holds(instant):
            rows = _window_rows(connection, cluster, window, run, name if kind == "group" else None)
            rows = rows.around(instant) if at else rows
            answer = SUBJECTS[kind].answer(rows, str(harmless(name)).removeprefix("broker "))
            return Explained(answer, rows, instant if at else None)
    moment = f" that holds {at}" if at else ""
    raise BadInput(f"No published window{moment} shows {visible(name)!r}. `hindsight report --list` lists the windows.")


def _answer_of_owner(connection: duckdb.DuckDBPyConnection, name: str, at: str) -> Explained:
    """The answer about an owner of groups and topics from the window that holds `at`, else from the newest."""
    names = [owner["name"] for owner in owners()]
    if name not in names:
        hint = visible(did_you_mean(name, names))
        raise BadInput(f"{visible(name)!r} is not the name of an owner in [[alerts.owners]] of hindsight.toml.{hint}")
    with _where_readable(connection, _WINDOWS):
        for cluster, start, end, run in connection.execute(_WINDOWS).fetchall():
            instant = _instant(at, Window(start, end)) if at else start
            if instant and start <= instant < end:
                rows = _window_rows(connection, cluster, Window(start, end), run)
                rows = rows.around(instant) if at else rows
                return Explained(SUBJECTS["owner"].answer(rows, name), rows, instant if at else None)
    raise BadInput(f"No published window{f' that holds {at}' if at else ''}. `hindsight report --list` lists them.")


def _windows(connection: duckdb.DuckDBPyConnection, clusters: Collection[str]) -> list[tuple[Any, ...]]:
    """The published windows of clusters with their run, the newest first."""
    with _where_readable(connection, _WINDOWS):
        return [window for window in connection.execute(_WINDOWS).fetchall() if window[0] in clusters]
    return []


def _window_rows(
    connection: duckdb.DuckDBPyConnection, cluster: str, window: Window, run_id: str, group: str | None = None
) -> PageRows:
    run: dict[str, Any] = {"cluster": cluster, "window_from": window.start, "window_to": window.end, "run_id": run_id}
    run |= {"owners": owners(), "changes": declared_changes()}
    return page_rows(connection, run, group, lambda table: _where_readable(connection, f"FROM {table}"))[0]


def _instant(text: str, window: Window) -> datetime | None:
    """The instant that a text names in a window: a whole instant, or a time of one of its days. None if in none.

    Raises:
        BadInput: It is neither.
    """
    try:
        if "T" in text or " " in text.strip():
            moment = datetime.fromisoformat(text.strip())
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        clock = time.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(
            f"{visible(text)!r} is not an instant. Needed: 01:43, 01:43:40 or 2026-11-21T01:43, in UTC."
        ) from None
    days: list[date] = [window.start.astimezone(UTC).date(), window.end.astimezone(UTC).date()]
    instants = (datetime.combine(day, clock, UTC) for day in days)
    return next((instant for instant in instants if window.holds(instant)), None)


def _incident_of(connection: duckdb.DuckDBPyConnection, word: str) -> str:
    row = connection.execute(_INCIDENT_OF_WORD[word]).fetchone()
    if row is None:
        subject = "The newest night" if word == "worst" else "The lake"
        raise BadInput(f"{subject} has no incident, or no night was published. Audit a night, or ask for an id.")
    return str(row[0])


def _row_by_id(connection: duckdb.DuckDBPyConnection, row_id: str) -> Explained:
    """The answer about an incident of a published window, or about any other row of gold."""
    table, row = _row(connection, row_id)
    at = getattr(row, str(table.time_column))
    windows = [(Window(w[1], w[2]), w[3]) for w in _windows(connection, [row.cluster]) if w[1] <= at < w[2]]
    if table is INCIDENTS:
        for window, run in windows:
            rows = _window_rows(connection, row.cluster, window, run)
            if row.incident_id in rows.incidents:
                return Explained(SUBJECTS["incident"].answer(rows, row.incident_id), rows)
    window = windows[0][0] if windows else Window(at, at)
    run_columns = {"cluster": row.cluster, "window_from": window.start, "window_to": window.end}
    related = _related(connection, table, row)
    return Explained(row_answer(table, row, *related), PageRows.from_tables({}, run_columns))


def _row(connection: duckdb.DuckDBPyConnection, row_id: str) -> tuple[Table, Any]:
    """The row of an id, or of the first six or more characters of one, and its table.

    Raises:
        BadInput: No row has the id, or several have.
    """
    matches = [(t, row) for t in WITH_ID for row in _rows_where(connection, t, f"starts_with({t.key[0]}, ?)", [row_id])]
    if not matches:
        raise BadInput(
            f"No row of gold has the id {row_id}. Needed: an id of {', '.join(t.name for t in WITH_ID)}; or name"
            " the lake that holds it with --lake."
        )
    if len(matches) > 1:
        ids = "; ".join(f"{t.name} {getattr(row, t.key[0])}" for t, row in matches[:_AMBIGUOUS])
        raise BadInput(f"{row_id} begins the ids of {len(matches)} rows or more: {ids}. Needed: more of the id.")
    return matches[0]


def _related(connection: duckdb.DuckDBPyConnection, table: Table, row: Row) -> tuple[Related, Related]:
    """The rows that a row names by their ids, and the first rows of each table that name it by its id."""
    owners, parts, own_key = [], [], table.key[0]
    for other in (t for t in WITH_ID if t is not table):
        key, names = other.key[0], {column.name for column in other.columns}
        ids = [i for i in (getattr(row, key, None), *(getattr(row, f"{key}s", None) or ())) if i]
        if ids:
            owners.append((other, _rows_where(connection, other, f"list_contains(?, {key})", [ids])))
        if {own_key, f"{own_key}s"} & names:
            condition = f"{own_key} = ?" if own_key in names else f"list_contains({own_key}s, ?)"
            parts.append((other, _rows_where(connection, other, condition, [getattr(row, own_key)])))
    return owners, parts


@contextmanager
def _where_readable(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[None]:
    """Leave the block where the table of a query cannot be read, and print so.

    Opening the lake reports what the table's log shows. Only reading the rows shows a missing or damaged file.
    """
    try:
        yield
    except duckdb.Error as problem:
        if CANNOT_BE_READ not in str(problem):
            table = query.rpartition("FROM ")[2].split()[0]
            _print_once(connection, f"The table {table}{CANNOT_BE_READ}{one_sentence(problem)}. {_TO_DO}")


@lru_cache(16)
def _print_once(_: duckdb.DuckDBPyConnection, line: str) -> None:
    """Print a line once: several queries read the same file."""
    print(line, file=sys.stderr)


def _rows_where(connection: duckdb.DuckDBPyConnection, table: Table, condition: str, values: Any) -> list[Row]:
    """The first rows of a table, in order of time, for which a condition with these parameters holds."""
    order = ", ".join(filter(None, (table.time_column, table.key[0])))
    rows: list[Row] = []
    with _where_readable(connection, f"FROM {table.full_name}"):
        answer = connection.execute(
            f"SELECT * FROM {view_name(table)} WHERE {condition} ORDER BY {order} LIMIT {_ROWS}", values
        )
        rows += map(table.row_class.of, dicts_of(answer))
    return rows
