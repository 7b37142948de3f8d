"""Readings of the cluster become snapshot rows: JSON lines, one reading each, as a cron job or a drill writes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.model import Scalar, Table
from kafka_hindsight.catalog.readings import Reading
from kafka_hindsight.intake.json_lines import Line, fields_of, instant_in, reader_of, refused, value_of, whole_number
from kafka_hindsight.intake.lake_rows import once, table_of
from kafka_hindsight.lake.arrow_types import arrow_schema

_PARTS = ("cluster_id", "controller", "brokers", "topics", "end_offsets", "groups")
_OF_READING = ("cluster", "snapshot_id", "snapshot_at")

_NO_JSON = "It is not JSON: perhaps its writer died while it wrote."
_NO_INSTANT = "It lacks `at`, the instant of the reading, as ISO 8601 writes it."

_TOGETHER = 16
"""Readings whose rows become columns together."""

_CHUNK = 32_000_000
"""Characters of readings that are written together: as rows they take twenty times as much memory. Measured."""

Row = dict[str, Any]


@dataclass(frozen=True)
class ReadLine:
    """A line of a file of readings: `at` is null where it is not a reading, and `sentence` says why."""

    line: Line
    at: datetime | None
    cluster_id: str | None = None
    has_failed: bool = False
    sentence: str = ""


def read_line(line: Line) -> ReadLine:
    """What a line is."""
    try:
        held = value_of(line.text)
    except ValueError:
        return ReadLine(line, None, sentence=_NO_JSON)
    said = held if isinstance(held, dict) else {}
    at, cluster_id = instant_in(said.get("at")), reader_of(Scalar.STRING)(said.get("cluster_id"))
    return ReadLine(line, at, cluster_id, said.get("error") is not None, "" if at else _NO_INSTANT)


def only_of(lines: Iterable[ReadLine], ids: Collection[str]) -> list[ReadLine]:
    """The same lines, of which those that name another cluster are not readings of this one. Takes: its ids."""
    return [_foreign(line) if line.at and line.cluster_id not in (None, *ids) else line for line in lines]


def _foreign(line: ReadLine) -> ReadLine:
    return replace(line, at=None, sentence=f"It is of cluster {line.cluster_id}, and this audit is of another.")


def quarantined(lines: Iterable[ReadLine], cluster: str, source: str) -> list[Row]:
    """The lines that are not a reading: rows of quality.quarantine."""
    return refused([(read.line.text, read.sentence) for read in lines if read.at is None], cluster, source)


def readings(lines: Iterable[ReadLine]) -> list[ReadLine]:
    """The readings, one for each instant; of two the one that holds more."""
    fullest: dict[datetime, ReadLine] = {}
    for read in lines:
        if read.at and _fullness(read) < _fullness(fullest.setdefault(read.at, read)):
            fullest[read.at] = read
    return [fullest[at] for at in sorted(fullest)]


def in_chunks(lines: Iterable[ReadLine]) -> Iterator[list[ReadLine]]:
    """The readings in their order, in chunks that fit into memory as rows."""
    chunk, size = list[ReadLine](), 0
    for line in lines:
        chunk.append(line)
        size += len(line.line.text)
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _fullness(read: ReadLine) -> tuple[int, str]:
    return -len(read.line.text), read.line.text


def tables_of(lines: Sequence[ReadLine], cluster: str) -> dict[Table, pa.Table]:
    """The rows of readings, by table, each once; what has no key is left out."""
    parts: dict[Table, list[pa.Table]] = {table: [] for table in TABLES}
    for begin in range(0, len(lines), _TOGETHER):
        held = [_said(read, cluster) for read in lines[begin : begin + _TOGETHER]]
        known = [{name: said[name] for name in _OF_READING} for said in held]
        for table, rows_of in TABLES.items():
            rows = (row | of_all for said, of_all in zip(held, known, strict=True) for row in rows_of(said))
            own_key = [k for k in table.key if k not in _OF_READING]
            parts[table].append(table_of((row for row in rows if None not in map(row.get, own_key)), table))
    return {t: once(pa.concat_tables([arrow_schema(t).empty_table(), *rows]), t.key) for t, rows in parts.items()}


def _said(read: ReadLine, cluster: str) -> Row:
    """What a reading holds, what its rows have in common, and the end offset and leader epoch of each partition."""
    said = fields_of(value_of(read.line.text), Reading.COLUMNS)
    known = {"cluster": cluster, "snapshot_id": row_id(cluster, read.at), "snapshot_at": read.at}
    return {**said, **known, "landed_as": read.line.landed_as, "ends": _ends(said)}


def _ends(said: Row) -> dict[tuple[str | None, int | None], tuple[int | None, int | None]]:
    """The end offset and the leader epoch by topic and partition; null what is not known."""
    found: dict[tuple[str | None, int | None], tuple[int | None, int | None]] = {}
    for topic, partition, offset, epoch in (_parts(each, 4) for each in _each(said["end_offsets"])):
        place = topic, whole_number(partition, Scalar.INT)
        found.setdefault(place, (_known(whole_number(offset, Scalar.BIGINT)), _known(whole_number(epoch, Scalar.INT))))
    return found


def _snapshot_readings(said: Row) -> Iterator[Row]:
    absent = [part for part in _PARTS if said[part] is None]
    missing = dict.fromkeys([*absent, *(m["part"] for m in _each(said["missing"]) if m["part"] is not None)])
    own = {name: said[name] for name in ("cluster_id", "controller", "error")}
    yield {**own, "missing": [*missing] or None, "reasons": said["missing"], "run_landed_as": said["landed_as"]}


def _brokers(said: Row) -> Iterator[Row]:
    controller = None if said["controller"] == -1 else said["controller"]
    for broker in _each(said["brokers"]):
        is_controller = None if controller is None else broker["id"] == controller
        yield {**broker, "broker": broker["id"], "is_controller": is_controller}


def _partitions(said: Row) -> Iterator[Row]:
    for topic in _each(said["topics"]):
        for partition in _each(topic["partitions"]):
            offset, epoch = said["ends"].get((topic["topic"], partition["partition"]), (None, None))
            yield {
                **partition,
                "topic": topic["topic"],
                "is_internal": bool(topic["internal"]),
                "leader": _known(partition["leader"]),
                "preferred_leader": next(iter(partition["replicas"] or ()), None),
                "leader_epoch": epoch,
                "end_offset": offset,
            }


def _groups(said: Row) -> Iterator[Row]:
    for group in _each(said["groups"]):
        has_answered = group["error"] is None and group["members"] is not None
        yield {
            "group_id": group["group"],
            "state": _word(group["state"]),
            "type": _word(group["type"]),
            "assignor": group["assignor"] or None,
            "coordinator": _known(group["coordinator"]),
            "member_count": len(group["members"]) if has_answered else None,
            "error": group["error"],
        }


def _members(said: Row) -> Iterator[Row]:
    for group in _each(said["groups"]):
        for member in _each(group["members"]):
            owned = None if member["assignment"] is None else [_partition(p) for p in member["assignment"]]
            instance = member["instance_id"] or None
            yield {**member, "group_id": group["group"], "assignment": owned, "instance_id": instance}


def _partition(place: Sequence[str | None] | None) -> Row:
    topic, partition = _parts(place, 2)
    return {"topic": topic, "partition": whole_number(partition, Scalar.INT)}


def _offsets(said: Row) -> Iterator[Row]:
    for group in _each(said["groups"]):
        for topic, number, offset in (_parts(each, 3) for each in _each(group["committed"])):
            partition, committed = whole_number(number, Scalar.INT), _known(whole_number(offset, Scalar.BIGINT))
            end, _ = said["ends"].get((topic, partition), (None, None))
            yield {
                "group_id": group["group"],
                "topic": topic,
                "partition": partition,
                "committed_offset": committed,
                "end_offset": end,
                "lag": None if end is None or committed is None else max(end - committed, 0),
            }


def _configs(said: Row) -> Iterator[Row]:
    for config in _each(said["configs"]):
        kind = config["resource_type"]
        yield {**config, "resource_type": kind and kind.lower(), "value_source": config["source"]}


def _each(items: Iterable[Any] | None) -> Iterator[Any]:
    """What a list holds, without what is null in it."""
    return (item for item in items or () if item is not None)


def _parts(parts: Sequence[str | None] | None, count: int) -> list[str | None]:
    """The first parts of a list, null those that it does not have."""
    return [*(parts or ()), *[None] * count][:count]


def _word(text: str | None) -> str | None:
    return text.lower() if text else None


def _known(number: int | None) -> int | None:
    return None if number is None or number < 0 else number


TABLES: Mapping[Table, Callable[[Row], Iterator[Row]]] = {
    bronze.SNAPSHOT_READINGS: _snapshot_readings,
    bronze.BROKER_SNAPSHOTS: _brokers,
    bronze.PARTITION_SNAPSHOTS: _partitions,
    bronze.GROUP_SNAPSHOTS: _groups,
    bronze.MEMBER_SNAPSHOTS: _members,
    bronze.OFFSET_SNAPSHOTS: _offsets,
    bronze.CONFIG_SNAPSHOTS: _configs,
}
"""What a reading becomes, by table. The first one says which readings were taken, so it is written last."""
