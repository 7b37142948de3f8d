"""Hours: what became of the records of each log, an hour at a time, so that a run parses what is new or changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.engine.work import Engine, narrow_rows
from kafka_hindsight.lake.arrow_types import INSTANT
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.event_batches import hours_of
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import of_micros
from kafka_hindsight.shared.windows import Window

COLUMN_OF = {fate: "events" if fate == "event" else fate.value for fate in LineFate}
"""The column that counts the lines of each fate."""

_HOUR = timedelta(hours=1)
_COUNTS = pa.schema([("source", pa.string()), ("hour_from", INSTANT), ("records", pa.int64())])
_BEGINNINGS = pa.schema([("source", pa.string()), ("first_at", INSTANT)])

Hour = dict[str, Any]
"""What became of the records of a source in an hour, as quality.parsed_hours counts them."""

Counts = Mapping[tuple[str, datetime], int]
"""How many records there are, by source and hour."""


def edges_of(window: Window, around: Window) -> tuple[datetime, ...]:
    """The instants that cut an hour in two: what a window counts, and what it reads, may begin and end within one."""
    return tuple(sorted({around.start, window.start, window.end, around.end}))


def count_hours(tallies: pa.Table, edges: Sequence[datetime]) -> list[Hour]:
    """What became of the records of each source in each hour, and of those without an instant (hour_from is null).

    Takes: source, origin, fate and tally, as workers count them. Gives: source, hour_from, hour_to, origin, records,
        lines_in and the lines of each fate, first_at, last_at, longest_silence_ms; of its events lowest_broker and
        highest_broker, the least and the greatest broker that one names, and unnamed_events, how many name none; the
        layouts of its records.
    Keeps: lines_in = events + ignored + unparsed + quarantined.
    """
    told = tallies.select(["source", "origin", "fate", "tally"]).flatten()
    held = {name.removeprefix("tally."): told[name] for name in told.column_names}
    instants = held.pop("instants")
    rows = [dict(zip(held, row, strict=True)) for row in zip(*(c.to_pylist() for c in held.values()), strict=True)]
    for row, own in zip(rows, _lists(instants), strict=True):
        row["instants"] = own
    by_hour = grouped(rows, lambda row: (row["source"], row["hour_from"]))
    return [_counted(source, hour, parts, edges) for (source, hour), parts in by_hour.items()]


def _lists(column: pa.ChunkedArray) -> Iterator[Any]:
    for chunk in column.chunks:
        values = chunk.flatten().cast(pa.int64()).to_numpy(zero_copy_only=False)
        yield from np.split(values, np.cumsum(chunk.value_lengths().to_numpy())[:-1])


def _counted(source: str, hour: datetime | None, parts: Sequence[Mapping[str, Any]], edges: Sequence[datetime]) -> Hour:
    at = np.sort(np.concatenate([part["instants"] for part in parts])) if hour else np.array([], np.int64)
    of_fate = {column: sum(p["lines"] for p in parts if p["fate"] == fate) for fate, column in COLUMN_OF.items()}
    named = [p[name] for p in parts for name in ("lowest_broker", "highest_broker") if p[name] is not None]
    return {
        "source": source,
        "hour_from": hour,
        "hour_to": hour and _end(hour, edges),
        "origin": min(p["origin"] for p in parts),
        "records": sum(p["records"] for p in parts),
        "lines_in": sum(p["lines"] for p in parts),
        **of_fate,
        "first_at": of_micros(int(at[0])) if len(at) else None,
        "last_at": of_micros(int(at[-1])) if len(at) else None,
        "longest_silence_ms": int(np.diff(at // 1_000).max()) if len(at) > 1 else None,
        "lowest_broker": min(named, default=None),
        "highest_broker": max(named, default=None),
        "unnamed_events": sum(p["records"] - p["named"] for p in parts if p["fate"] == LineFate.EVENT),
        "layouts": layouts_in(p["layouts"] for p in parts),
    }


def _end(hour: datetime, edges: Sequence[datetime]) -> datetime:
    """Where the hour ends that begins there, or the part of it that comes before an edge."""
    return min([_whole(hour) + _HOUR, *(edge for edge in edges if hour < edge)])


def _whole(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def layouts_in(lists: Iterable[Sequence[str | None]]) -> list[str]:
    """The layouts that lists of some rows hold, each once."""
    return sorted({layout for each in lists for layout in each if layout is not None})


def only_brokers(hours: Iterable[Hour]) -> dict[str, int]:
    """The broker that the lines of a log name as their writer, by source, where they name one alone."""
    names: dict[str, set[int]] = {}
    for hour in hours:
        named = {hour["lowest_broker"], hour["highest_broker"]} - {None}
        names.setdefault(hour["source"], set()).update(named)
    return {source: min(named) for source, named in names.items() if len(named) == 1}


def held_counts(engine: Engine, store: Store, cluster: str, near: Window, edges: Sequence[datetime]) -> Counts:
    """How many records bronze holds of a time, by source and hour."""
    part = Part(cluster, "happened_at", (near.start, near.end))
    columns, narrow = ("source", "happened_at"), partial(_counts_in, edges=tuple(edges))
    found = narrow_rows(engine, store, LOG_RECORDS, part, columns, narrow, _COUNTS)
    counted = found.group_by(["source", "hour_from"], use_threads=False).aggregate([("records", "sum")])
    return {(row["source"], row["hour_from"]): row["records_sum"] for row in counted.to_pylist()}


def _counts_in(batches: Iterable[pa.RecordBatch], edges: Sequence[datetime]) -> Iterator[pa.RecordBatch]:
    for rows in batches:
        hour = hours_of(rows["happened_at"], edges)
        told = pa.table({"source": rows["source"], "hour_from": hour, "records": hour})
        counted = told.group_by(["source", "hour_from"], use_threads=False).aggregate([("records", "count")])
        yield from pa.Table.from_arrays(counted.columns, schema=_COUNTS).to_batches()


def changed(held: Counts, known: Iterable[Hour], edges: Sequence[datetime], parsed_as: str) -> list[datetime]:
    """hour_from of the hours that hold other records than were parsed, or were cut or parsed in another way.

    Takes: how many records bronze holds by source and hour, quality.parsed_hours of the same time.
    """
    now = {(source, hour): (count, _end(hour, edges), parsed_as) for (source, hour), count in held.items()}
    then = {(h["source"], h["hour_from"]): (h["records"], h["hour_to"], h["parsed_as"]) for h in known}
    return [hour for source, hour in {**now, **then} if now.get((source, hour)) != then.get((source, hour))]


def given_others(known: Iterable[Hour], brokers: Mapping[str, int]) -> list[datetime]:
    """hour_from of the hours with events that name no writer and were given another one than `only_brokers` names."""
    return [h["hour_from"] for h in known if h["unnamed_events"] and h["given_broker"] != brokers.get(h["source"])]


def span_of(hours: Sequence[datetime], edges: Sequence[datetime]) -> Window | None:
    """From the first to the last of these hours; None where there is none."""
    if not hours:
        return None
    first, last = min(hours), max(hours)
    start, end = _whole(first), _whole(last + _HOUR)
    return Window(max([start, *(e for e in edges if e <= first)]), min([end, *(e for e in edges if e > last)]))


def beginnings(engine: Engine, store: Store, cluster: str, sources: Iterable[str]) -> dict[str, datetime | None]:
    """The first instant ever of each of some sources."""
    wanted = frozenset(sources)
    if not wanted:
        return {}
    narrow = partial(_firsts_in, sources=wanted)
    found = narrow_rows(engine, store, LOG_RECORDS, Part(cluster), ("source", "happened_at"), narrow, _BEGINNINGS)
    first = found.group_by("source", use_threads=False).aggregate([("first_at", "min")])
    return dict(zip(first["source"].to_pylist(), first["first_at_min"].to_pylist(), strict=True))


def _firsts_in(batches: Iterable[pa.RecordBatch], sources: frozenset[str]) -> Iterator[pa.RecordBatch]:
    for rows in batches:
        first = pa.table(rows).group_by("source", use_threads=False).aggregate([("happened_at", "min")])
        kept = first.filter(pa.array([source in sources for source in first["source"].to_pylist()], pa.bool_()))
        yield from pa.Table.from_arrays(
            kept.select(["source", "happened_at_min"]).columns, schema=_BEGINNINGS
        ).to_batches()
