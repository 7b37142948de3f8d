"""Log records become events: workers read them and keep the events packed, and hashes show which stand twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.catalog.model import Table
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.engine.work import Engine, rows_in, units_of
from kafka_hindsight.intake.hours import Hour, count_hours
from kafka_hindsight.knowledge.layouts import WITHIN, folder_of
from kafka_hindsight.knowledge.version import READING, version_of
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.landing import write_atomically
from kafka_hindsight.lake.parts import File, Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.arrays import Ints
from kafka_hindsight.logs.event_batches import SCHEMA, read_batches
from kafka_hindsight.logs.file_bytes import Bytes
from kafka_hindsight.logs.packed_events import PICKED, Packer, events_of, picked
from kafka_hindsight.logs.work import Unit
from kafka_hindsight.shared.words import counted

_FOUND = pa.schema([*SCHEMA, ("place", pa.string()), ("size", pa.int64()), ("keys", pa.binary())])
"""What a worker finds in a file of bronze: rows of SCHEMA; and rows with the place of a file of packed events, its
bytes, and their keys."""

_CONSOLE = ".out"
"""How the name of a file ends in which a process's console was kept."""

_PACKED = 64 * 1024 * 1024
"""Bytes of packed events that a worker holds."""


@dataclass(frozen=True)
class Parsed:
    """What some records say: those without an event; what became of all of them in each hour; where the events wait,
    and their keys.
    """

    others: pa.Table
    hours: Sequence[Hour]
    units: Sequence[Unit]
    keys: Sequence[Ints]

    def of_fate(self, fate: LineFate, table: Table) -> pa.Table:
        """The records of a fate, as rows of the table that it leads to."""
        rows = self.others.filter(pc.equal(self.others["fate"], fate))
        return rows.select(table.column_names).cast(arrow_schema(table))


def parse(engine: Engine, store: Store, part: Part, edges: Sequence[datetime], folder: str) -> Parsed:
    """Gives each record of a part of bronze to exactly one fate: event, ignored, unparsed or quarantined.

    Takes: the edges that cut an hour in two; the folder in which the events wait.
    """
    rows, waiting, keys = [], list[Unit](), list[Ints]()
    work = partial(_read_in, part=part, edges=tuple(edges), folder=folder)
    for batch in engine.spread(units_of(store, LOG_RECORDS, part), work, _FOUND):
        rows.append(batch.select(SCHEMA.names))
        for place, size, packed in zip(*(batch[name].to_pylist() for name in ("place", "size", "keys")), strict=True):
            if place is not None:
                waiting.append(Unit(place, (0, size), {"unit": len(waiting)}, is_raw=True))
                keys.append(np.frombuffer(packed, np.int64))
    found = pa.Table.from_batches(rows, SCHEMA)
    is_tally, is_other = pc.is_valid(found["tally"]), pc.is_valid(found["line_id"])
    return Parsed(found.filter(is_other), count_hours(found.filter(is_tally), edges), waiting, keys)


def _read_in(
    told: Mapping[str, Any], _: Bytes, __: Any, part: Part, edges: Sequence[datetime], folder: str
) -> Iterator[pa.RecordBatch]:
    packer = Packer()
    for rows in read_batches(rows_in(told, LOG_RECORDS, part), edges, packer.pack):
        columns = [*rows.columns, *(pa.nulls(len(rows), f.type) for f in list(_FOUND)[len(SCHEMA) :])]
        yield pa.record_batch(columns, _FOUND)
        if packer.size >= _PACKED:
            yield _kept(packer, folder)
    if packer.size:
        yield _kept(packer, folder)


def _kept(packer: Packer, folder: str) -> pa.RecordBatch:
    """The row of a file of packed events, once it is in its place."""
    packed, keys = packer.packed()
    place = f"{folder}/{uuid4()}.arrow"
    write_atomically(place, packed)
    return pa.RecordBatch.from_pylist([{"place": place, "size": len(packed), "keys": keys.tobytes()}], _FOUND)


class Repeats(NamedTuple):
    """The numbers of the events for which others stand, by the units in which they wait; and how many each log has."""

    of_unit: dict[int, Ints]
    of_source: Counter[str]

    def copies(self, hours: Iterable[Hour]) -> list[str]:
        """A sentence about each log that is a copy. Takes: what became of the lines of the logs.

        Edge case: a console that was kept, as kafkaServer.out, repeats the logs of its folder by itself.
        """
        events = Counter[str]()
        for hour in hours:
            events[hour["source"]] += hour["events"]
        consoles = {folder_of(source) for source in events if source.endswith(_CONSOLE)}
        return [
            f"{source} holds {counted(count, 'event')} that another log of the same broker holds too: one of them is a"
            " copy. They are judged once; the coverage counts the lines of both."
            for source, count in sorted(self.of_source.items())
            if count * 2 > events[source] and folder_of(source) not in consoles
        ]


def repeated(engine: Engine, parsed: Parsed, brokers: Mapping[str, int]) -> Repeats:
    """The events for which others stand: the same words of one broker at one instant are one event, whichever files
    hold them.

    Takes: the only broker that the lines of a log name, by source.
    Order: of several records of one event the first by source and place stands for it.
    """
    twice = _twice(parsed.keys)
    twins = [np.flatnonzero(np.isin(keys, twice)) for keys in parsed.keys]
    units = [replace(unit, numbers=own) for unit, own in zip(parsed.units, twins, strict=True) if len(own)]
    found = pa.Table.from_batches(engine.spread(units, partial(_picked_in, brokers=brokers), PICKED), PICKED)
    return repeats_among(found)


def repeats_among(events: pa.Table) -> Repeats:
    """Those of some events that an earlier one stands for. Takes: rows of PICKED."""
    stand = events.take(pc.sort_indices(events, [(name, "ascending") for name in ("source", "order")]))
    is_repeat = _are_repeats(stand)
    unit, nth = (stand[name].to_numpy()[is_repeat] for name in ("unit", "nth"))
    of_source = Counter(stand["source"].filter(pa.array(is_repeat)).to_pylist())
    return Repeats({n: np.sort(nth[unit == n]) for n in np.unique(unit).tolist()}, of_source)


def _twice(keys: Sequence[Ints]) -> Ints:
    """The keys that are there more than once, each once. Of a large night they are most of what the driver holds."""
    every = np.concatenate([np.array([], np.int64), *keys])
    every.sort()
    found: Ints = np.unique(every[1:][every[1:] == every[:-1]])
    return found


def _are_repeats(events: pa.Table) -> Any:
    """Which events say what an earlier one of their writer says. Takes: events in the order in which they count."""
    likeness, at = events["likeness"].to_numpy(), events["happened_at"].cast(pa.int64()).to_numpy()
    by = (likeness, at, *(_codes(texts) for texts in (_writers(events), events["origin"])))
    order = np.lexsort(by)
    is_like_before = np.zeros(len(order), bool)
    is_like_before[1:] = np.logical_and.reduce([np.diff(key[order]) == 0 for key in by])
    found = np.zeros(len(order), bool)
    found[order] = is_like_before
    return found


def _writers(events: pa.Table) -> pa.ChunkedArray:
    """Who wrote each event: the broker where one is known, else the folder of its log; of a client the log itself."""
    source, is_broker = events["source"], pc.equal(events["origin"], "broker")
    folder = pc.struct_field(pc.extract_regex(source, r"(?s)^(?P<folder>(?:.*/)?)"), "folder")
    folder = pc.if_else(pc.match_substring(source, WITHIN), source, folder)
    by = pc.coalesce(events["broker"].cast(pa.string()), folder)
    return pc.if_else(is_broker, by, source)


def _codes(texts: pa.ChunkedArray) -> Ints:
    codes: Ints = texts.combine_chunks().dictionary_encode().indices.to_numpy()
    return codes


def _picked_in(
    told: Mapping[str, Any], held: Bytes, numbers: Ints, brokers: Mapping[str, int]
) -> Iterator[pa.RecordBatch]:
    yield from picked(held.between(0, told["reads_to"]), told["unit"], numbers, brokers)


def write_events(
    engine: Engine, store: Store, parsed: Parsed, brokers: Mapping[str, int], repeats_of: Mapping[int, Ints]
) -> list[File]:
    """Writes silver.events, each event once, as files that no commit names yet. Takes: what `repeated` gives."""
    none = np.array([], np.int64)
    units = [replace(unit, numbers=repeats_of.get(n, none)) for n, unit in enumerate(parsed.units)]
    work = partial(_events_in, brokers=brokers, knowledge_version=version_of(READING))
    return engine.write(store, EVENTS, units, work)


def _events_in(
    told: Mapping[str, Any], held: Bytes, numbers: Ints, brokers: Mapping[str, int], knowledge_version: str
) -> Iterator[pa.RecordBatch]:
    yield from events_of(held.between(0, told["reads_to"]), numbers, brokers, knowledge_version)
