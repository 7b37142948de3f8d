"""Log records become events: workers read them and pack the events, and hashes show which are there twice."""

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
from kafka_hindsight.catalog.quality import QUARANTINE, UNPARSED_LINES
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.engine.work import Engine, rows_in, units_of
from kafka_hindsight.intake.hours import Hour, count_hours
from kafka_hindsight.knowledge.layouts import WITHIN, folder_of, is_of_console
from kafka_hindsight.knowledge.version import READING, version_of
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.landing import write_atomically
from kafka_hindsight.lake.parts import DataFile, Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import write_files
from kafka_hindsight.logs.arrays import Ints
from kafka_hindsight.logs.cutting import numbers
from kafka_hindsight.logs.event_batches import PICKED, TALLIES, Packer, Rest, events_of, picked, read_batches
from kafka_hindsight.logs.file_bytes import Bytes, FilePart
from kafka_hindsight.shared.words import counted

_PACKED = 64 * 1024 * 1024
"""Bytes of packed events that a worker has in memory, at most."""


class _PackedFile(NamedTuple):
    """A file of packed events, its size in bytes, and the keys of its events."""

    place: str
    size: int
    keys: Ints


@dataclass(frozen=True)
class Parsed:
    """Parsed records: those without an event, what all became in each hour, and the units and keys of packed events.

    `unparsed` are files of quality.unparsed_lines that no commit names yet: an unknown program may write millions of
    such lines.
    """

    unparsed: Sequence[DataFile]
    quarantined: pa.Table
    hours: Sequence[Hour]
    units: Sequence[FilePart]
    keys: Sequence[Ints]


def parse(engine: Engine, store: Store, part: Part, edges: Sequence[datetime], folder: str) -> Parsed:
    """Give each record of a part of bronze exactly one fate: event, ignored, unparsed or quarantined.

    `edges` cut an hour in two. Packed events wait in `folder` until `write_events`.
    """
    quarantined, tallies, packed = list[pa.RecordBatch](), list[pa.RecordBatch](), list[_PackedFile]()

    def unparsed() -> Iterator[pa.RecordBatch]:
        work = partial(_read_in, part=part, edges=tuple(edges), folder=folder)
        for value in engine.spread(units_of(store, LOG_RECORDS, part), work):
            if isinstance(value, Rest):
                quarantined.append(value.quarantined)
                tallies.append(value.tallies)
                yield value.unparsed
            else:
                packed.append(value)

    store.create(UNPARSED_LINES)
    unparsed_files = write_files(store.path(UNPARSED_LINES), UNPARSED_LINES, unparsed())
    return Parsed(
        unparsed_files,
        pa.Table.from_batches(quarantined, arrow_schema(QUARANTINE)),
        count_hours(pa.Table.from_batches(tallies, TALLIES), edges),
        [FilePart(file.place, (0, file.size), {"unit": n}, is_raw=True) for n, file in enumerate(packed)],
        [file.keys for file in packed],
    )


def _read_in(
    arguments: Mapping[str, Any], _: Bytes, __: Any, part: Part, edges: Sequence[datetime], folder: str
) -> Iterator[Rest | _PackedFile]:
    packer = Packer()
    for rest in read_batches(rows_in(arguments, LOG_RECORDS, part), edges, packer.pack):
        yield rest
        if packer.size >= _PACKED:
            yield _write_packed(packer, folder)
    if packer.size:
        yield _write_packed(packer, folder)


def _write_packed(packer: Packer, folder: str) -> _PackedFile:
    """Write packed events to a file."""
    packed, keys = packer.packed()
    place = f"{folder}/{uuid4()}.arrow"
    write_atomically(place, packed)
    return _PackedFile(place, len(packed), keys)


class Repeats(NamedTuple):
    """The numbers of repeated events, by the units in which they wait; and how many each log has."""

    of_unit: dict[int, Ints]
    of_source: Counter[str]

    def copies(self, hours: Iterable[Hour]) -> list[str]:
        """A sentence about each log that is a copy; `hours` show how many events each log has.

        A console's output repeats the logs of its folder by itself, and is not a copy.
        """
        events = Counter[str]()
        for hour in hours:
            events[hour["source"]] += hour["events"]
        consoles = {folder_of(source) for source in events if is_of_console(source)}
        return [
            f"{source} has {counted(count, 'event')} that another log of the same broker has too: one of them is a"
            " copy. Their events are judged once; the coverage counts the lines of both."
            for source, count in sorted(self.of_source.items())
            if count * 2 > events[source] and folder_of(source) not in consoles
        ]


def find_repeats(engine: Engine, parsed: Parsed, brokers: Mapping[str, int | None]) -> Repeats:
    """Find repeated events: the same text of one broker at one instant is one event, in whichever files it is.

    Of several records the first by source and place stays. `brokers` has, by source, the only broker that its lines
    name, or None where they name several. Where the writer of a line is not known, and another log has the same text
    at that instant, whose writer is known, it is a copy of that.
    """
    duplicates = _duplicate_keys(parsed.keys)
    candidates = [np.flatnonzero(np.isin(keys, duplicates)) for keys in parsed.keys]
    units = [
        replace(unit, numbers=of_unit) for unit, of_unit in zip(parsed.units, candidates, strict=True) if len(of_unit)
    ]
    events = pa.Table.from_batches(engine.spread(units, partial(_picked_in, brokers=brokers)), PICKED)
    return repeats_among(events)


def repeats_among(events: pa.Table) -> Repeats:
    """Find the events, as rows of PICKED, that repeat an earlier one."""
    ordered = events.take(pc.sort_indices(events, [(name, "ascending") for name in ("source", "order")]))
    texts = (column.combine_chunks().dictionary_encode() for column in (_writers(ordered), ordered["origin"]))
    at, likeness = ordered["happened_at"].cast(pa.int64()).to_numpy(), ordered["likeness"].to_numpy()
    is_repeat = numbers((*(text.indices.to_numpy() for text in texts), at, likeness)) > 0
    is_broker = pc.equal(ordered["origin"], "broker").to_numpy(zero_copy_only=False)
    is_named = pc.is_valid(ordered["broker"]).to_numpy(zero_copy_only=False)
    keys = np.ascontiguousarray(np.stack([at, likeness], axis=1)).view("V16").ravel()
    is_repeat |= is_broker & ~is_named & np.isin(keys, keys[is_broker & is_named])
    unit, nth = (ordered[name].to_numpy()[is_repeat] for name in ("unit", "nth"))
    of_source = Counter(ordered["source"].filter(pa.array(is_repeat)).to_pylist())
    return Repeats({n: np.sort(nth[unit == n]) for n in np.unique(unit).tolist()}, of_source)


def _duplicate_keys(keys: Sequence[Ints]) -> Ints:
    """The keys that are there more than once, each once. In a large night they take most of the driver's memory."""
    all_keys = np.concatenate([np.array([], np.int64), *keys])
    all_keys.sort()
    duplicates: Ints = np.unique(all_keys[1:][all_keys[1:] == all_keys[:-1]])
    return duplicates


def _writers(events: pa.Table) -> pa.ChunkedArray:
    """The writer of each event: the broker if it is known, else the folder of its log; for a client the log itself."""
    source, is_broker = events["source"], pc.equal(events["origin"], "broker")
    folder = pc.struct_field(pc.extract_regex(source, r"(?s)^(?P<folder>(?:.*/)?)"), "folder")
    folder = pc.if_else(pc.match_substring(source, WITHIN), source, folder)
    by = pc.coalesce(events["broker"].cast(pa.string()), folder)
    return pc.if_else(is_broker, by, source)


def _picked_in(
    arguments: Mapping[str, Any], content: Bytes, numbers: Ints, brokers: Mapping[str, int | None]
) -> Iterator[pa.RecordBatch]:
    yield from picked(content.between(0, arguments["reads_to"]), arguments["unit"], numbers, brokers)


def write_events(
    engine: Engine, store: Store, parsed: Parsed, brokers: Mapping[str, int | None], repeats_of: Mapping[int, Ints]
) -> list[DataFile]:
    """Write silver.events, without repeats, as files that no commit names yet. `repeats_of` is by unit."""
    no_repeats = np.array([], np.int64)
    units = [replace(unit, numbers=repeats_of.get(n, no_repeats)) for n, unit in enumerate(parsed.units)]
    work = partial(_events_in, brokers=brokers, knowledge_version=version_of(READING))
    return engine.write(store, EVENTS, units, work).files


def _events_in(
    arguments: Mapping[str, Any],
    content: Bytes,
    numbers: Ints,
    brokers: Mapping[str, int | None],
    knowledge_version: str,
) -> Iterator[pa.RecordBatch]:
    yield from events_of(content.between(0, arguments["reads_to"]), numbers, brokers, knowledge_version)
