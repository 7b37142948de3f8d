"""The rows of a report: those of one window, bounded, and the nights before it. Read without a JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any

import duckdb
import pyarrow as pa

from kafka_hindsight.catalog import Table
from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, OFFSET_SNAPSHOTS, PARTITION_SNAPSHOTS, SNAPSHOT_READINGS
from kafka_hindsight.catalog.codes import Harm, Urgency
from kafka_hindsight.catalog.gold import (
    ASSIGNMENT_CHANGES,
    BACKLOGS,
    COORDINATOR_MOVES,
    ISR_CHANGES,
    OWNERSHIP,
    PARTITION_RISKS,
    REBALANCES,
)
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.quality import NIGHTS, PUBLICATIONS, UNPARSED_LINES, VALIDATION_RESULTS, WITHHELD_ROWS
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.measures.unavailability_sums import NOTICED_MS
from kafka_hindsight.report.page_rows import READS, PageRows
from kafka_hindsight.report.risks import WORST_RISK
from kafka_hindsight.shared import plain
from kafka_hindsight.shared.arrow_rows import rows_of
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.arrow_answers import arrow_answer
from kafka_hindsight.sql.duck_types import quoted_name, view_name

MOST_ROWS = 20_000
"""The most rows of one table on a page. The others are counted, and stay in the lake."""

HISTORY = timedelta(days=30)
"""How far back the windows lie that a report shows beside its own."""

MOST_WINDOWS = 240

READ: tuple[Table, ...] = tuple(
    dict.fromkeys((*(kind.TABLE for kind in READS), BROKER_SNAPSHOTS, PUBLICATIONS, NIGHTS))
)
"""The tables that a report is made of."""

ReadGuard = Callable[[str], AbstractContextManager[object]]
"""What surrounds the reading of a table, by its name: it may pass over one that cannot be read."""

_QUOTES = {ISR_CHANGES: 1, COORDINATOR_MOVES: 1, PARTITION_RISKS: 4, ASSIGNMENT_CHANGES: 1, BACKLOGS: 1}
"""Tables of many rows that the page counts and hardly quotes: the rest of their evidence stays in the lake."""

_SHAPES = """
    SELECT template, count(*) AS records, sum(line_count)::BIGINT AS lines,
        arg_min(text, (happened_at, line_id)) AS sample
    FROM {rows} GROUP BY template ORDER BY lines DESC, template"""
_LAG = """
    SELECT snapshot_at, sum(lag)::BIGINT AS lag FROM {rows} GROUP BY snapshot_at HAVING sum(lag) IS NOT NULL
    ORDER BY snapshot_at"""
_LEADERS = """
    WITH whole AS (
        SELECT cluster, snapshot_at FROM bronze.snapshot_readings WHERE missing IS NULL AND error IS NULL
    ), listed AS (
        SELECT p.snapshot_at, p.leader, w.snapshot_at IS NOT NULL AS is_whole,
            count(*) OVER (PARTITION BY p.snapshot_at)::BIGINT AS partitions
        FROM {rows} AS p LEFT JOIN whole AS w ON w.cluster = p.cluster AND w.snapshot_at = p.snapshot_at
    )
    SELECT snapshot_at, leader AS broker, count(*)::BIGINT AS leaders,
        CASE WHEN is_whole THEN partitions END AS partitions
    FROM listed WHERE leader >= 0 GROUP BY ALL ORDER BY ALL"""
_ONE_MORE_LOSS = """
    WITH reading AS (
        SELECT cluster, snapshot_at FROM {rows} WHERE missing IS NULL AND error IS NULL
        ORDER BY snapshot_at DESC LIMIT 1
    ), partitions AS (
        SELECT p.topic, p."partition", p.isr,
            CASE WHEN r.min_insync_replicas IS NOT NULL THEN least(r.min_insync_replicas, len(p.replicas)) END AS needed
        FROM bronze.partition_snapshots AS p
        SEMI JOIN reading ON p.cluster = reading.cluster AND p.snapshot_at = reading.snapshot_at
        LEFT JOIN gold.partition_risks AS r
            ON r.cluster = p.cluster AND r.topic = p.topic AND r."partition" = p."partition"
            AND r.window_from >= $start AND r.window_from < $end
        WHERE p.leader >= 0
    ), in_sync AS (
        SELECT topic, "partition", unnest(isr) AS broker, len(isr) AS replicas, needed FROM partitions
    ), scopes AS (
        SELECT DISTINCT 'broker' AS scope, broker::VARCHAR AS name, broker FROM in_sync
        UNION ALL
        SELECT 'rack', b.rack, b.broker FROM bronze.broker_snapshots AS b
        SEMI JOIN reading ON b.cluster = reading.cluster AND b.snapshot_at = reading.snapshot_at
        WHERE b.rack IS NOT NULL
    ), losses AS (
        SELECT scope, name, topic, "partition", replicas, needed, replicas - count(*) AS remaining
        FROM in_sync JOIN scopes USING (broker) GROUP BY scope, name, topic, "partition", replicas, needed
    ), costs AS (
        SELECT snapshot_at, scope, name, count(*) FILTER (remaining = 0) AS without_replica,
            count(*) FILTER (remaining > 0 AND remaining < needed AND needed <= replicas) AS without_writes
        FROM losses CROSS JOIN reading GROUP BY snapshot_at, scope, name
    )
    SELECT * FROM costs
    QUALIFY row_number() OVER (ORDER BY without_replica DESC, without_writes DESC, scope, name) = 1"""
"""The broker or rack whose loss would cost the most. A loss does not cost what is offline or below its minimum already.

gold.partition_risks has min.insync.replicas, and rows of the partitions that are at it or below. So `without_writes` is
a least number: a rack with several replicas of a partition may cost the writes of more.
"""
_FAILED_COMMITS = f"""
    SELECT group_id, client_id, error, min(happened_at) AS first_at, max(happened_at) AS last_at,
        count(*)::BIGINT AS lines, count(DISTINCT happened_at)::BIGINT AS commits
    FROM {{rows}} WHERE kind = '{Kind.CLIENT_COMMIT_FAILED}' AND group_id IS NOT NULL
    GROUP BY group_id, client_id, error, date_trunc('minute', happened_at)
    ORDER BY first_at, group_id, client_id, error"""
"""A commit that fails with one error is a line, or several of one instant."""
_GROUPED = {
    EVENTS: _FAILED_COMMITS,
    UNPARSED_LINES: _SHAPES,
    OFFSET_SNAPSHOTS: _LAG,
    PARTITION_SNAPSHOTS: _LEADERS,
    SNAPSHOT_READINGS: _ONE_MORE_LOSS,
}
"""Tables of which a page shows sums."""

BUSY_GROUPS = 40
"""The groups whose owners of partitions a report draws: those with the most rebalances."""

_BUSY = f"""group_id IN (
        SELECT group_id FROM gold.rebalances WHERE cluster = $cluster AND started_at >= $start AND started_at < $end
        GROUP BY group_id ORDER BY count(*) DESC, group_id LIMIT {BUSY_GROUPS})"""

_PUBLISHED = """
    SELECT DISTINCT window_from, window_to FROM quality.publications
    WHERE cluster = $cluster AND "table" = $table AND window_to >= $first"""
_BEFORE = "(SELECT unnest($starts::TIMESTAMPTZ[]) AS window_from, unnest($ends::TIMESTAMPTZ[]) AS window_to) AS w"
_NUMBERS = f"""
    SELECT w.window_from, w.window_to, n.state, n.page, coalesce(r.rebalances, 0)::DOUBLE AS rebalances,
        coalesce(r.partition_seconds, 0)::DOUBLE AS partition_seconds,
        coalesce(f.failovers, 0)::DOUBLE AS failovers, coalesce(u.leaderless_ms, 0)::DOUBLE AS leaderless_ms
    FROM {_BEFORE}
    LEFT JOIN quality.nights AS n
        ON n.cluster = $cluster AND n.window_from = w.window_from AND n.window_to = w.window_to
    LEFT JOIN LATERAL (
        SELECT count(*) AS rebalances, sum(partition_seconds) AS partition_seconds FROM gold.rebalances
        WHERE cluster = $cluster AND started_at >= w.window_from AND started_at < w.window_to) AS r ON true
    LEFT JOIN LATERAL (
        SELECT count(*) AS failovers FROM gold.failovers
        WHERE cluster = $cluster AND happened_at >= w.window_from AND happened_at < w.window_to) AS f ON true
    LEFT JOIN LATERAL (
        SELECT sum(coalesce(date_diff('millisecond', started_at, ended_at), low_ms)) AS leaderless_ms
        FROM gold.unavailability
        WHERE cluster = $cluster AND kind = 'no_leader' AND started_at >= w.window_from AND started_at < w.window_to
            AND coalesce(date_diff('millisecond', started_at, ended_at), low_ms) >= $noticed_ms) AS u ON true
    ORDER BY w.window_from"""
_FINDINGS = """
    SELECT * REPLACE ([] AS evidence) FROM gold.findings
    WHERE cluster = $cluster AND first_at >= $start AND first_at < $end"""
_INCIDENTS = f"""
    SELECT recurrence_id, arg_max(headline, started_at) AS headline, list_sort(list(DISTINCT w.window_from)) AS windows,
        min(started_at) AS first_at, max(started_at) AS last_at
    FROM gold.incidents AS i JOIN {_BEFORE} ON i.started_at >= w.window_from AND i.started_at < w.window_to
    WHERE cluster = $cluster AND recurrence_id IS NOT NULL AND NOT list_contains($calm, harm)
    GROUP BY recurrence_id"""
_OF_SUBJECT = """
    SELECT '{kind}' AS kind, {name}::VARCHAR AS name, w.window_from, count(*)::DOUBLE AS events,
        coalesce(sum({seconds}), 0)::DOUBLE AS seconds
    FROM {table} AS t JOIN {before} ON t.{at} >= w.window_from AND t.{at} < w.window_to
    WHERE t.cluster = $cluster AND {name} IN (
        SELECT {name} FROM {table} WHERE cluster = $cluster AND {at} >= $start AND {at} < $end)
    GROUP BY ALL"""
_AWAY = "date_diff('millisecond', {}, coalesce({}, {})) / 1000"
_SUBJECTS = " UNION ALL ".join(
    _OF_SUBJECT.format(kind=kind, name=name, table=table, at=at, seconds=seconds, before=_BEFORE)
    for kind, name, table, at, seconds in (
        ("group", "group_id", "gold.rebalances", "started_at", "partition_seconds"),
        ("topic", "topic", "gold.unavailability", "started_at", _AWAY.format("started_at", "ended_at", "started_at")),
        ("broker", "broker", "gold.broker_outages", "down_at", _AWAY.format("down_at", "up_at", "down_at")),
    )
)
"""The groups, topics and brokers of the window as the windows before have them."""


def page_rows(
    connection: duckdb.DuckDBPyConnection,
    run: Mapping[str, Any],
    group: str | None = None,
    reading: ReadGuard = nullcontext,
) -> tuple[PageRows, bool]:
    """Read what the report of a window shows: its rows, at most `MOST_ROWS` of each table, and the nights before it.

    Args:
        connection: A lake that `open_views` opened with the tables of `READ`.
        run: The columns of PageRun; the validation results are those of its run_id.
        group: The group whose ownership is read; by default the groups that rebalanced the most.
        reading: What surrounds the reading of each table; a table that it passes over has no rows.

    Returns:
        The rows, with a warning for each table that has more; and whether the cluster has no later window.
    """
    cluster, window = run["cluster"], Window(run["window_from"], run["window_to"])
    rows: dict[type[Row], list[Row]] = {}
    warnings = [*run.get("warnings", ())]
    for kind in READS:
        name = kind.TABLE.full_name
        query, values = _query(kind.TABLE, cluster, window, run["run_id"], group)
        table = _table(connection, f"{query} LIMIT {MOST_ROWS + 1}", values, reading(name))
        batches = table.slice(0, MOST_ROWS).combine_chunks().to_batches() if len(table) else ()
        rows[kind] = rows_of(batches, kind, plain.harmless)
        if len(table) > MOST_ROWS:
            warnings.append(f"{name} has more than {MOST_ROWS} rows. The page shows the first ones; the lake has all.")
    history, is_newest = nights_before(connection, cluster, window, reading)
    return PageRows.from_rows(rows, {**run, "history": history, "warnings": warnings}), is_newest


def nights_before(
    connection: duckdb.DuckDBPyConnection, cluster: str, window: Window, reading: ReadGuard = nullcontext
) -> tuple[dict[str, Any], bool]:
    """Read the windows that a report shows beside its own: the columns of `PageRun.history`, empty where there is none.

    These are the windows of the 30 days before, with their numbers, the findings of the last of them, and the incidents
    and subjects that they share with this one. Also returns whether the cluster has no later window.
    """
    length = window.end - window.start
    values = {"cluster": cluster, "table": REBALANCES.full_name, "first": window.start - HISTORY}
    windows = [Window(r["window_from"], r["window_to"]) for r in _rows(connection, _PUBLISHED, values, nullcontext())]
    is_newest = all(w.end <= window.end for w in windows)
    before = without_overlap(w for w in windows if w.end <= window.start)[-MOST_WINDOWS:]
    if not before:
        return {}, is_newest
    all_windows = {"cluster": cluster, "starts": [w.start for w in before], "ends": [w.end for w in before]}
    last_window = {"cluster": cluster, "start": before[-1].start, "end": before[-1].end}
    shared = {**all_windows, "start": window.start, "end": window.end}
    calm = [harm.value for harm in Harm if harm.noun.urgency is Urgency.CALM]
    numbers = _rows(connection, _NUMBERS, {**all_windows, "noticed_ms": NOTICED_MS}, reading(NIGHTS.full_name))
    for row in numbers:
        row["is_comparable"] = abs(row.pop("window_to") - row["window_from"] - length) <= timedelta(seconds=1)
    return {
        "windows": numbers,
        "findings": _rows(connection, _FINDINGS, last_window, reading("gold.findings")),
        "incidents": _rows(connection, _INCIDENTS, {**all_windows, "calm": calm}, reading("gold.incidents")),
        "subjects": _rows(connection, _SUBJECTS, shared, reading("gold.broker_outages")),
    }, is_newest


def without_overlap(windows: Iterable[Window]) -> list[Window]:
    """Windows in order of time without overlaps: of two that share an instant the later one stays."""
    selection: list[Window] = []
    for window in sorted(windows, key=lambda w: (w.end, w.start), reverse=True):
        if not selection or window.end <= selection[-1].start:
            selection.append(window)
    return selection[::-1]


def _query(table: Table, cluster: str, window: Window, run_id: str, group: str | None) -> tuple[str, dict[str, Any]]:
    """The query of the rows that a page shows of a table, ordered because the last ones may be left out."""
    if table in (VALIDATION_RESULTS, WITHHELD_ROWS):
        return f"SELECT * FROM {view_name(table)} WHERE run_id = $run_id ORDER BY ALL", {"run_id": run_id}
    assert table.time_column, table.full_name
    at = quoted_name(table.time_column)
    limit = _QUOTES.get(table)
    columns = f"* REPLACE (evidence[1:{limit}] AS evidence)" if limit else "*"
    rows = f"SELECT {columns} FROM {view_name(table)} WHERE cluster = $cluster AND {at} >= $start AND {at} < $end"
    values: dict[str, Any] = {"cluster": cluster, "start": window.start, "end": window.end}
    if table in (OWNERSHIP, ASSIGNMENT_CHANGES):
        rows += " AND group_id = $group" if group else f" AND {_BUSY}"
        values |= {"group": group} if group else {}
    if grouped := _GROUPED.get(table):
        return grouped.format(rows=f"({rows})"), values
    worst = [f"{quoted_name(column)} DESC NULLS LAST" for column in WORST_RISK if table is PARTITION_RISKS]
    return f"{rows} ORDER BY {', '.join([*worst, at, *map(quoted_name, table.key)])}", values


def _rows(
    connection: duckdb.DuckDBPyConnection, query: str, values: dict[str, Any], reading: AbstractContextManager[object]
) -> list[RowValues]:
    return list(_table(connection, query, values, reading).to_pylist())


def _table(
    connection: duckdb.DuckDBPyConnection, query: str, values: dict[str, Any], reading: AbstractContextManager[object]
) -> pa.Table:
    with reading:
        return arrow_answer(connection, query, values)
    return pa.table({})
