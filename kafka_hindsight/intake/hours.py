"""Hours: what each log's records became, hour by hour, so that a run parses only what is new or changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.intake.lake_rows import answer, reduced
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import micros_of
from kafka_hindsight.shared.windows import Window

COLUMN_OF = {fate: "events" if fate == "event" else fate.value for fate in LineFate}
"""The column that counts the lines of each fate."""

_HOUR = timedelta(hours=1)

Hour = dict[str, Any]
"""What the records of a source became in an hour, as quality.parsed_hours counts them."""

Counts = Mapping[tuple[str, datetime], int]
"""How many records there are, by source and hour."""


def edges_of(window: Window, around: Window) -> tuple[datetime, ...]:
    """The instants that cut an hour in two: a window, and the time read around it, may begin and end within one."""
    return tuple(sorted({around.start, window.start, window.end, around.end}))


_HOURS = f"""
    WITH hours AS (
        SELECT source, hour_from, least(date_trunc('hour', hour_from) + INTERVAL 1 HOUR,
                list_min(list_filter($edges, lambda e: e > hour_from))) AS hour_to,
            min(origin) AS origin, sum(records)::BIGINT AS records, sum(lines)::BIGINT AS lines_in,
            sum(replaced)::BIGINT AS replaced_lines,
            {", ".join(f"sum(if(fate = '{f}', lines, 0))::BIGINT AS {column}" for f, column in COLUMN_OF.items())},
            list_sort(flatten(list(instants) FILTER (hour_from IS NOT NULL))) AS instants,
            min(lowest_broker) AS lowest_broker, max(highest_broker) AS highest_broker,
            sum(if(fate = '{LineFate.EVENT}', records - named, 0))::BIGINT AS unnamed_events,
            list_sort(list_distinct(flatten(list(layouts)))) AS layouts,
            list_sort(list_distinct(list_filter(flatten(list(loggers)), lambda l: l IS NOT NULL))) AS loggers
        FROM part GROUP BY source, hour_from)
    SELECT * EXCLUDE (instants), instants[1] AS first_at, instants[-1] AS last_at,
        nullif(list_max(list_transform(range(1, len(instants)),
            lambda n: epoch_ms(instants[n + 1]) - epoch_ms(instants[n]))), 0) AS longest_silence_ms
    FROM hours ORDER BY source, hour_from"""


def count_hours(tallies: pa.Table, edges: Sequence[datetime]) -> list[Hour]:
    """Count what the records of each source became in each hour. Records without an instant have hour_from null.

    `tallies` are what workers count. lines_in = events + ignored + unparsed + quarantined. Events name the lowest and
    the highest broker; unnamed_events name none.
    """
    return list(answer(tallies, _HOURS, edges=[*edges]).to_pylist())


def _end(hour: datetime, edges: Sequence[datetime]) -> datetime:
    """The end of the hour that begins there, or the edge that comes first."""
    return min([_whole(hour) + _HOUR, *(edge for edge in edges if hour < edge)])


def _whole(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def only_brokers(hours: Iterable[Hour]) -> dict[str, int | None]:
    """The broker that the lines of a log name as their writer, by source; None where they name several."""
    by_source: dict[str, set[int]] = {}
    for hour in hours:
        brokers = {hour["lowest_broker"], hour["highest_broker"]} - {None}
        by_source.setdefault(hour["source"], set()).update(brokers)
    return {source: min(own) if len(own) == 1 else None for source, own in by_source.items() if own}


def held_counts(store: Store, cluster: str, near: Window, edges: Sequence[datetime]) -> Counts:
    """Count the records in bronze near a time, by source and hour."""
    part = Part(cluster, "happened_at", (near.start, near.end))
    query = """
        SELECT source, count(*) AS records,
            greatest(date_trunc('hour', happened_at), list_max(list_filter($edges, lambda e: e <= happened_at))) AS hour
        FROM part GROUP BY source, hour"""
    rows = reduced(store, LOG_RECORDS, part, ("source", "happened_at"), query, edges=[*edges]).to_pylist()
    return {(row["source"], row["hour"]): row["records"] for row in rows}


def changed(counts: Counts, parsed_hours: Iterable[Hour], edges: Sequence[datetime], parsed_as: str) -> list[datetime]:
    """hour_from of the hours whose records differ from the parsed ones, or that were cut or parsed in another way.

    `counts` are the records in bronze. `parsed_as` is today's version of the knowledge that reads lines.
    """
    now = {(source, hour): (count, _end(hour, edges), parsed_as) for (source, hour), count in counts.items()}
    then = {(h["source"], h["hour_from"]): (h["records"], h["hour_to"], h["parsed_as"]) for h in parsed_hours}
    return [hour for source, hour in {**now, **then} if now.get((source, hour)) != then.get((source, hour))]


def holds_all(counts: Counts, parsed_hours: Iterable[Hour]) -> bool:
    """Whether bronze still has the records of each hour that was parsed: retention removes them by their age."""
    return all(counts.get((hour["source"], hour["hour_from"]), 0) >= hour["records"] for hour in parsed_hours)


def given_others(hours: Iterable[Hour], brokers: Mapping[str, int | None]) -> list[datetime]:
    """hour_from of the hours whose events name no writer and have another one than `only_brokers` names."""
    return [h["hour_from"] for h in hours if h["unnamed_events"] and h["given_broker"] != brokers.get(h["source"])]


def span_of(hours: Sequence[datetime], edges: Sequence[datetime]) -> Window | None:
    """From the first to the last of these hours; None if there is none."""
    if not hours:
        return None
    first, last = min(hours), max(hours)
    start, end = _whole(first), _whole(last + _HOUR)
    return Window(max([start, *(e for e in edges if e <= first)]), min([end, *(e for e in edges if e > last)]))


def first_instants(store: Store, cluster: str, sources: Iterable[str]) -> dict[str, datetime | None]:
    """The first instant of each of some sources, in all of bronze."""
    names = [*sources]
    if not names:
        return {}
    query = "SELECT source, min(happened_at) AS first_at FROM part WHERE list_contains($names, source) GROUP BY source"
    rows = reduced(store, LOG_RECORDS, Part(cluster), ("source", "happened_at"), query, names=names).to_pylist()
    return {row["source"]: row["first_at"] for row in rows}


LINES = ("lines_in", *COLUMN_OF.values())
"""The columns that count lines."""


def cover(
    hours: Iterable[Hour], beginnings: Mapping[str, datetime | None], cluster: str, window: Window
) -> list[dict[str, Any]]:
    """Count the lines of each source in one window, by what they became: rows of quality.coverage.

    lines_in = events + ignored + unparsed + quarantined. Lines without an instant count where their source begins;
    those of a source without any instant count in every window.

    `count_hours` gave the hours, cut at the window's edges. `first_instants` has the first instant of each source with
    records without one.
    """
    inside = [h for h in hours if window.holds(h["hour_from"] or beginnings.get(h["source"]) or window.start)]
    constants = {"cluster": cluster, "window_from": window.start, "window_to": window.end}
    return [
        {**constants, "source": source, **_covered(of_source)}
        for source, of_source in grouped(inside, lambda h: h["source"]).items()
    ]


def _covered(hours: Sequence[Hour]) -> dict[str, Any]:
    dated = sorted((h for h in hours if h["first_at"]), key=lambda h: h["first_at"])
    silences = [h["longest_silence_ms"] for h in dated if h["longest_silence_ms"] is not None]
    silences += [_ms(after["first_at"]) - _ms(before["last_at"]) for before, after in pairwise(dated)]
    return {
        "origin": min(h["origin"] for h in hours),
        **{name: sum(h[name] for h in hours) for name in LINES},
        "replaced_lines": sum(h["replaced_lines"] or 0 for h in hours),
        "first_at": min((h["first_at"] for h in dated), default=None),
        "last_at": max((h["last_at"] for h in dated), default=None),
        "longest_silence_ms": max(silences, default=None),
        "layouts": sorted({layout for h in hours for layout in h["layouts"]}),
    }


def _ms(at: datetime) -> int:
    return micros_of(at) // 1_000
