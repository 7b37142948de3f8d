"""Readings of the cluster become snapshot rows. A file has a reading as JSON in each line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.readings import Reading
from kafka_hindsight.catalog.table_model import RowValues, Scalar, Table
from kafka_hindsight.intake.json_lines import (
    DAMAGED,
    LandedLine,
    columns_of,
    instant_in,
    reader_of,
    refused_lines,
    value_of,
    whole_number,
)
from kafka_hindsight.intake.lake_rows import first_rows, table_of
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.shared.grouping import sized

_PARTS = ("cluster_id", "controller", "brokers", "topics", "end_offsets", "groups")
_OF_READING = ("cluster", "snapshot_id", "snapshot_at")

_NO_JSON = "It is not JSON: perhaps its writer died while it wrote."
_NO_INSTANT = "It lacks `at`, the instant of the reading, as ISO 8601 writes it."

_NO_EPOCH = -1
"""The leader epoch of a commit whose client sent none. Source: OffsetCommitRequest.json."""

_TOGETHER = 16
"""Readings whose rows become columns together."""

_CHUNK = 32_000_000
"""Characters of readings that are written together: as rows they take twenty times as much memory. Measured."""


@dataclass(frozen=True)
class ReadLine:
    """A line of a file of readings: `at` is null if it is not a reading, and `sentence` says why."""

    line: LandedLine
    at: datetime | None
    cluster_id: str | None = None
    has_failed: bool = False
    sentence: str = ""


def read_line(line: LandedLine) -> ReadLine:
    """Read a line as far as all readings need it."""
    if line.is_damaged:
        return ReadLine(line, None, sentence=DAMAGED)
    try:
        value = value_of(line.text)
    except ValueError:
        return ReadLine(line, None, sentence=_NO_JSON)
    reading = value if isinstance(value, dict) else {}
    at, cluster_id = instant_in(reading.get("at")), reader_of(Scalar.STRING)(reading.get("cluster_id"))
    return ReadLine(line, at, cluster_id, reading.get("error") is not None, "" if at else _NO_INSTANT)


def only_of(lines: Iterable[ReadLine], ids: Collection[str]) -> list[ReadLine]:
    """The same lines; one that names a cluster with none of these ids is not a reading."""
    return [
        replace(line, at=None, sentence=f"It is of cluster {line.cluster_id}, and this audit is of another.")
        if line.at and line.cluster_id not in (None, *ids)
        else line
        for line in lines
    ]


def quarantined(lines: Iterable[ReadLine], cluster: str, source: str) -> list[RowValues]:
    """The lines that are not a reading: rows of quality.quarantine."""
    return refused_lines([(line.line.text, line.sentence) for line in lines if line.at is None], cluster, source)


def readings(lines: Iterable[ReadLine]) -> list[ReadLine]:
    """The readings, one for each instant; of two the longer one."""
    fullest: dict[datetime, ReadLine] = {}
    for line in lines:
        if line.at and _fullness(line) < _fullness(fullest.setdefault(line.at, line)):
            fullest[line.at] = line
    return [fullest[at] for at in sorted(fullest)]


def in_chunks(lines: Iterable[ReadLine]) -> Iterator[list[ReadLine]]:
    """The readings in their order, in chunks that fit into memory as rows."""
    return sized(lines, lambda line: len(line.line.text), _CHUNK)


def _fullness(line: ReadLine) -> tuple[int, str]:
    return -len(line.line.text), line.line.text


def tables_of_readings(lines: Sequence[ReadLine], cluster: str) -> dict[Table, pa.Table]:
    """The rows of readings, by table, each once; without rows that lack their key."""
    parts: dict[Table, list[pa.Table]] = {table: [] for table in TABLES}
    for begin in range(0, len(lines), _TOGETHER):
        batch = [_reading_of(line, cluster) for line in lines[begin : begin + _TOGETHER]]
        keys = [{name: reading[name] for name in _OF_READING} for reading in batch]
        for table, rows_of in TABLES.items():
            rows = (row | key for reading, key in zip(batch, keys, strict=True) for row in rows_of(reading))
            own_key = [k for k in table.key if k not in _OF_READING]
            parts[table].append(table_of((row for row in rows if None not in map(row.get, own_key)), table))
    return {t: first_rows(pa.concat_tables([arrow_schema(t).empty_table(), *rows]), t.key) for t, rows in parts.items()}


def _reading_of(line: ReadLine, cluster: str) -> RowValues:
    """The fields of a reading, the key that its rows share, and the offsets and leader epochs of each partition."""
    reading = columns_of(value_of(line.line.text), Reading.COLUMNS)
    key = {"cluster": cluster, "snapshot_id": row_id(cluster, line.at), "snapshot_at": line.at}
    offsets = {"ends": "end_offsets", "starts": "begin_offsets", "stable": "stable_offsets"}
    places = {name: _offsets_by_place(reading[field]) for name, field in offsets.items()}
    return {**reading, **key, "landed_as": line.line.landed_as, **places}


def _offsets_by_place(
    offsets: Iterable[Any] | None,
) -> dict[tuple[str | None, int | None], tuple[int | None, int | None]]:
    """The offset and the leader epoch by topic and partition; null if not known."""
    ends: dict[tuple[str | None, int | None], tuple[int | None, int | None]] = {}
    for topic, partition, offset, epoch in (_parts(each, 4) for each in _each(offsets)):
        place = topic, whole_number(partition, Scalar.INT)
        ends.setdefault(
            place, (_not_negative(whole_number(offset, Scalar.BIGINT)), _not_negative(whole_number(epoch, Scalar.INT)))
        )
    return ends


def _snapshot_readings(reading: RowValues) -> Iterator[RowValues]:
    absent = [part for part in _PARTS if reading[part] is None]
    missing = dict.fromkeys([*absent, *(m["part"] for m in _each(reading["missing"]) if m["part"] is not None)])
    columns = {name: reading[name] for name in ("cluster_id", "controller", "error")}
    yield {
        **columns,
        "missing": [*missing] or None,
        "reasons": reading["missing"],
        "run_landed_as": reading["landed_as"],
    }


def _brokers(reading: RowValues) -> Iterator[RowValues]:
    controller = None if reading["controller"] == -1 else reading["controller"]
    for broker in _each(reading["brokers"]):
        is_controller = None if controller is None else broker["id"] == controller
        yield {**broker, "broker": broker["id"], "is_controller": is_controller}


def _partitions(reading: RowValues) -> Iterator[RowValues]:
    for topic in _each(reading["topics"]):
        for partition in _each(topic["partitions"]):
            offset, epoch = reading["ends"].get((topic["topic"], partition["partition"]), (None, None))
            yield {
                **partition,
                "topic": topic["topic"],
                "is_internal": bool(topic["internal"]),
                "leader": _not_negative(partition["leader"]),
                "preferred_leader": next(iter(partition["replicas"] or ()), None),
                "leader_epoch": epoch,
                "end_offset": offset,
            }


def _groups(reading: RowValues) -> Iterator[RowValues]:
    for group in _each(reading["groups"]):
        has_answered = group["error"] is None and group["members"] is not None
        yield {
            "group_id": group["group"],
            "state": _lower_case(group["state"]),
            "type": _lower_case(group["type"]),
            "assignor": group["assignor"] or None,
            "coordinator": _not_negative(group["coordinator"]),
            "member_count": len(group["members"]) if has_answered else None,
            "error": group["error"],
        }


def _members(reading: RowValues) -> Iterator[RowValues]:
    for group in _each(reading["groups"]):
        for member in _each(group["members"]):
            owned = None if member["assignment"] is None else [_partition(p) for p in member["assignment"]]
            instance = member["instance_id"] or None
            yield {**member, "group_id": group["group"], "assignment": owned, "instance_id": instance}


def _partition(place: Sequence[str | None] | None) -> RowValues:
    topic, partition = _parts(place, 2)
    return {"topic": topic, "partition": whole_number(partition, Scalar.INT)}


def _offsets(reading: RowValues) -> Iterator[RowValues]:
    for group in _each(reading["groups"]):
        epochs = {
            (topic, whole_number(number, Scalar.INT)): _NO_EPOCH if epoch is None else whole_number(epoch, Scalar.INT)
            for topic, number, epoch in (_parts(each, 3) for each in _each(group["committed_epochs"]))
        }
        for topic, number, offset in (_parts(each, 3) for each in _each(group["committed"])):
            partition, committed = whole_number(number, Scalar.INT), _not_negative(whole_number(offset, Scalar.BIGINT))
            place = topic, partition
            end, start, stable = (reading[name].get(place, (None, None))[0] for name in ("ends", "starts", "stable"))
            yield {
                "group_id": group["group"],
                "topic": topic,
                "partition": partition,
                "committed_offset": committed,
                "end_offset": end,
                "lag": None if end is None or committed is None else max(end - committed, 0),
                "log_start": start,
                "last_stable": stable,
                "leader_epoch": epochs.get(place),
            }


def _configs(reading: RowValues) -> Iterator[RowValues]:
    for config in _each(reading["configs"]):
        kind = config["resource_type"]
        yield {**config, "resource_type": kind and kind.lower(), "value_source": config["source"]}


def _each(items: Iterable[Any] | None) -> Iterator[Any]:
    """The items of a list without nulls."""
    return (item for item in items or () if item is not None)


def _parts(parts: Sequence[str | None] | None, count: int) -> list[str | None]:
    """The first items of a list, null beyond its end."""
    return [*(parts or ()), *[None] * count][:count]


def _lower_case(text: str | None) -> str | None:
    return text.lower() if text else None


def _not_negative(number: int | None) -> int | None:
    return None if number is None or number < 0 else number


TABLES: Mapping[Table, Callable[[RowValues], Iterator[RowValues]]] = {
    bronze.SNAPSHOT_READINGS: _snapshot_readings,
    bronze.BROKER_SNAPSHOTS: _brokers,
    bronze.PARTITION_SNAPSHOTS: _partitions,
    bronze.GROUP_SNAPSHOTS: _groups,
    bronze.MEMBER_SNAPSHOTS: _members,
    bronze.OFFSET_SNAPSHOTS: _offsets,
    bronze.CONFIG_SNAPSHOTS: _configs,
}
"""The rows of a reading, by table. The first table lists the readings that are in bronze, so it is written last."""
