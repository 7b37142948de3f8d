"""Hours: what each log's records became, hour by hour, so that a run parses only what is new or changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.intake.lake_rows import reduced
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import micros_of, of_micros
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


def count_hours(tallies: pa.Table, edges: Sequence[datetime]) -> list[Hour]:
    """Count what the records of each source became in each hour. Records without an instant have hour_from null.

    `tallies` have source, origin, fate and tally, as workers count them. lines_in = events + ignored + unparsed +
    quarantined. Events name the lowest and the highest broker; unnamed_events name none.
    """
    flat = tallies.select(["source", "origin", "fate", "tally"]).flatten()
    tally = {name.removeprefix("tally."): flat[name] for name in flat.column_names}
    instants = tally.pop("instants")
    rows = [dict(zip(tally, row, strict=True)) for row in zip(*(c.to_pylist() for c in tally.values()), strict=True)]
    for row, row_instants in zip(rows, _lists(instants), strict=True):
        row["instants"] = row_instants
    by_hour = grouped(rows, lambda row: (row["source"], row["hour_from"]))
    return [_hour_of(source, hour, parts, edges) for (source, hour), parts in by_hour.items()]


def _lists(column: pa.ChunkedArray) -> Iterator[Any]:
    for chunk in column.chunks:
        values = chunk.flatten().cast(pa.int64()).to_numpy(zero_copy_only=False)
        yield from np.split(values, np.cumsum(chunk.value_lengths().to_numpy())[:-1])


def _hour_of(source: str, hour: datetime | None, parts: Sequence[Mapping[str, Any]], edges: Sequence[datetime]) -> Hour:
    at = np.sort(np.concatenate([part["instants"] for part in parts])) if hour else np.array([], np.int64)
    by_fate = {column: sum(p["lines"] for p in parts if p["fate"] == fate) for fate, column in COLUMN_OF.items()}
    brokers = [p[name] for p in parts for name in ("lowest_broker", "highest_broker") if p[name] is not None]
    return {
        "source": source,
        "hour_from": hour,
        "hour_to": hour and _end(hour, edges),
        "origin": min(p["origin"] for p in parts),
        "records": sum(p["records"] for p in parts),
        "lines_in": sum(p["lines"] for p in parts),
        **by_fate,
        "first_at": of_micros(int(at[0])) if len(at) else None,
        "last_at": of_micros(int(at[-1])) if len(at) else None,
        "longest_silence_ms": int(np.diff(at // 1_000).max()) if len(at) > 1 else None,
        "lowest_broker": min(brokers, default=None),
        "highest_broker": max(brokers, default=None),
        "unnamed_events": sum(p["records"] - p["named"] for p in parts if p["fate"] == LineFate.EVENT),
        "layouts": layouts_in(p["layouts"] for p in parts),
    }


def _end(hour: datetime, edges: Sequence[datetime]) -> datetime:
    """The end of the hour that begins there, or the edge that comes first."""
    return min([_whole(hour) + _HOUR, *(edge for edge in edges if hour < edge)])


def _whole(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def layouts_in(lists: Iterable[Sequence[str | None]]) -> list[str]:
    """The layouts in the lists of some rows, each once."""
    return sorted({layout for each in lists for layout in each if layout is not None})


def only_brokers(hours: Iterable[Hour]) -> dict[str, int]:
    """The broker that the lines of a log name as their writer, by source, if they name only one."""
    by_source: dict[str, set[int]] = {}
    for hour in hours:
        brokers = {hour["lowest_broker"], hour["highest_broker"]} - {None}
        by_source.setdefault(hour["source"], set()).update(brokers)
    return {source: min(brokers) for source, brokers in by_source.items() if len(brokers) == 1}


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


def given_others(hours: Iterable[Hour], brokers: Mapping[str, int]) -> list[datetime]:
    """hour_from of the hours whose events name no writer and have another one than `only_brokers` names."""
    return [h["hour_from"] for h in hours if h["unnamed_events"] and h["given_broker"] != brokers.get(h["source"])]


def span_of(hours: Sequence[datetime], edges: Sequence[datetime]) -> Window | None:
    """From the first to the last of these hours; None if there is none."""
    if not hours:
        return None
    first, last = min(hours), max(hours)
    start, end = _whole(first), _whole(last + _HOUR)
    return Window(max([start, *(e for e in edges if e <= first)]), min([end, *(e for e in edges if e > last)]))


def beginnings(store: Store, cluster: str, sources: Iterable[str]) -> dict[str, datetime | None]:
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

    `count_hours` gave the hours, cut at the window's edges. `beginnings` has the first instant of each source with
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
        "first_at": min((h["first_at"] for h in dated), default=None),
        "last_at": max((h["last_at"] for h in dated), default=None),
        "longest_silence_ms": max(silences, default=None),
        "layouts": layouts_in(h["layouts"] for h in hours),
    }


def _ms(at: datetime) -> int:
    return micros_of(at) // 1_000
