"""One huge key of a judgement, as one process or worker gets it: Arrow columns in, rows judged, on one core.

`python -m lab.bench.judgements [groups|brokers|partitions] [sizes ...]` prints seconds and peak memory of each size,
each measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import Event, PartitionState
from kafka_hindsight.engine.reduce import evaluate, judged_tables, narrow
from kafka_hindsight.judgements.groups.balance import TopicPartitions
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.brokers import BROKERS, FACTS
from kafka_hindsight.judgements.rebuild.events import EVENTS
from kafka_hindsight.judgements.rebuild.groups import GROUPS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS
from kafka_hindsight.judgements.rebuild.sources import Judgement
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.arrow_rows import array_of
from kafka_hindsight.shared.arrow_tables import completed, with_columns
from kafka_hindsight.shared.windows import Window

AT = datetime(2026, 11, 20, tzinfo=UTC)
CLUSTER = "bench"

STORM = "crm-storm-8"
"""A group of the recorded night: twelve rebalances in a minute and a half, with the lines of its clients."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}(?=[0-9a-f]{4})")
_FOLDERS = (("logs", Origin.BROKER), ("clients", Origin.CLIENT))
_MOVES = (Kind.GROUP_LOADED, Kind.GROUP_UNLOADED)
_NAMING = ("text", "member_id", "old_member_id", "leader_member_id", "members", "reason", "client_reason", "detail")
SIZES = {"groups": (1_000, 5_000, 20_000, 50_000), "brokers": (3, 30, 100), "partitions": (25, 100)}


class Made(NamedTuple):
    """The rows of one key in parts, as they are narrowed, and what else the judgement takes."""

    judgement: Judgement
    parts: Mapping[str, Sequence[pa.Table]]
    values: Mapping[str, Any]


def main() -> None:
    """Measure one judgement, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=MAKERS)
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--here", action="store_true", help="measure in this process")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(MAKERS[options.what](*options.sizes))))
        return
    for what in [options.what] if options.what else MAKERS:
        print(f"{what:12}{'size':>10}{'rows':>12}{'seconds':>10}{'peak MB':>9}{'of it rows, MB':>16}")
        for size in options.sizes or SIZES[what]:
            m = measured(what, size)
            numbers = f"{m['rows']:12,}{m['seconds']:10.1f}{m['peak_mb']:9,.0f}{m['arrow_mb']:16,.0f}"
            print(f"{'':12}{size:10,}{numbers}", flush=True)


def measured(what: str, size: int) -> dict[str, Any]:
    """The measures of one size, taken in a process of its own."""
    command = [sys.executable, "-m", "lab.bench.judgements", what, str(size), "--here"]
    process = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(process.stderr[-2000:])
    return dict(json.loads(process.stdout.splitlines()[-1]))


def measure(case: Made) -> dict[str, Any]:
    """The cost of one key: processor seconds, and the most memory that the process held from the Arrow columns on."""
    tables = [table for own in case.parts.values() for table in own]
    _forget_peak()
    began = time.process_time()
    judged_tables(case.judgement, case.parts, case.values)
    return {
        "rows": sum(table.num_rows for table in tables),
        "seconds": time.process_time() - began,
        "peak_mb": _peak_mb(),
        "arrow_mb": sum(table.nbytes for table in tables) / 1e6,
    }


def _as_table(rows: Sequence[Row]) -> pa.Table:
    schema = pa.schema([field.with_nullable(True) for field in arrow_schema(type(rows[0]).TABLE)])
    return pa.Table.from_arrays(array_of(rows, pa.struct(list(schema))).flatten(), schema=schema)


def _forget_peak() -> None:
    """Linux counts the most memory from here on."""
    Path("/proc/self/clear_refs").write_text("5")


def _peak_mb() -> float:
    match = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(match[1]) / 1024 if match else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def group(rebalances: int) -> Made:
    """One classic group that goes through the recorded storm again and again, with its clients' lines."""
    storm = recorded_storm()
    first, last = storm[0].happened_at, storm[-1].happened_at
    each = sum(e.kind == Kind.REBALANCE_STARTED for e in storm)
    length = last - first + timedelta(seconds=5)
    copies = -(-rebalances // each)
    events = [e for n in range(copies) for e in _again(storm, n, AT - first + n * length, n * each)]
    return Made(GROUPS, {"events": [_as_table(events)]}, _facts(Window(AT, AT + copies * length)))


def recorded_storm() -> list[Event]:
    """The events of the recorded storm's group, in order, without the moves of its coordinator hours later."""
    from tools.plain_reader import read_logs

    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(HOME / "samples" / "night-4.1.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        events_of_folders = [read_logs(Path(folder) / name, origin, CLUSTER)[0] for name, origin in _FOLDERS]
    own = (e for events in events_of_folders for e in events if e.group_id == STORM and e.kind not in _MOVES)
    return sorted(own, key=lambda e: e.happened_at)


def _again(storm: Iterable[Event], n: int, later: timedelta, generations: int) -> Iterator[Event]:
    """The storm once more: later, with other member ids, and generations that go on."""
    for e in storm:
        names: dict[str, Any] = {
            c: _UUID.sub(lambda m: f"{m[0][:-8]}{n:08x}", v) for c in _NAMING if (v := getattr(e, c))
        }
        generation = None if e.generation is None else e.generation + generations
        yield replace(e, **names, line_id=f"{e.line_id}-{n}", happened_at=e.happened_at + later, generation=generation)


def _facts(window: Window) -> dict[str, Any]:
    """The scope, and the facts of a cluster that had no outage."""
    scope = {"scope": Scope(CLUSTER, window, window)}
    return {**scope, "facts": evaluate(FACTS, {}, scope), "topic_partitions": TopicPartitions()}


def partitions(count: int, readings: int = 288) -> Made:
    """One block of a topic of so many partitions, read every five minutes; a broker restarts, and leads again."""
    ats = [AT + n * timedelta(minutes=5) for n in range(readings)]
    ids, end = [f"reading-{n:032}" for n in range(readings)], AT + timedelta(days=1)
    away, back = readings // 3, readings // 3 + 2

    def state(partition: int, first: int, last: int, isr: list[int], epoch: int) -> PartitionState:
        return PartitionState(
            cluster=CLUSTER,
            topic="wide",
            partition=partition,
            is_internal=False,
            leader=isr[0],
            leader_epoch=epoch,
            replicas=[1, 2, 3],
            isr=isr,
            preferred_leader=1,
            snapshot_ats=ats[first:last],
            snapshot_ids=ids[first:last],
            end_offsets=[1_000 * n + partition for n in range(first, last)],
        )

    def line(partition: int, n: int, leader: int, isr: str, epoch: int) -> Event:
        at = ats[n] + timedelta(seconds=30, milliseconds=partition)
        text = f"Leader wide-{partition} starts at leader epoch {epoch} from offset {1_000 * n} with ISR [{isr}]"
        return Event(
            line_id=f"{partition}-{epoch}",
            cluster=CLUSTER,
            origin=Origin.BROKER,
            source=f"broker-{leader}/state-change.log",
            happened_at=at,
            order=partition,
            broker=leader,
            kind=Kind.LEADER_STARTED,
            pattern_id="bench",
            text=text,
            topic="wide",
            partition=partition,
            leader_epoch=epoch,
            previous_leader_epoch=epoch - 1,
            partition_epoch=epoch,
            isr=isr,
            replicas="1,2,3",
            log_offset=1_000 * n,
        )

    periods = ((0, away, [1, 2, 3], 0), (away, back, [2, 3], 1), (back, readings, [1, 2, 3], 2))
    changes = ((0, 1, "1,2,3", 0), (away, 2, "2,3", 1), (back, 1, "1,2,3", 2))
    rows: dict[str, Sequence[Row]] = {
        "states": [state(p, *period) for p in range(count) for period in periods],
        "events": [line(p, *change) for p in range(count) for change in changes],
    }
    parts = {name: [_in_one_block(_as_table(own))] for name, own in rows.items()}
    return Made(PARTITIONS, parts, _facts(Window(AT, end)))


def _in_one_block(rows: pa.Table) -> pa.Table:
    return with_columns(rows, block=pa.array([0] * rows.num_rows, pa.int32()))


def brokers(count: int, hours: int = 50) -> Made:
    """So many brokers that write an event each second, narrowed as the rebuild does it; each restarts twice."""
    window = Window(AT, AT + timedelta(hours=hours))
    values: dict[str, Any] = {"scope": Scope(CLUSTER, window, window)}
    for judgement in (*BROKERS.needs, BROKERS):
        parts = {name: list[pa.Table]() for name in judgement.reads}
        for hour in range(hours):
            events = _hour_of_events(count, hour, hours * 1800)
            for name, source in judgement.reads.items():
                for leaf, functions in source.leaves():
                    if leaf is EVENTS.sources[0]:
                        parts[name].append(narrow(functions, events, values))
        if judgement is not BROKERS:
            values[judgement.name] = evaluate(judgement, parts, values)
    return Made(BROKERS, parts, values)


def _hour_of_events(count: int, hour: int, life: int) -> pa.Table:
    """The events of some brokers in an hour. Each restarts once in so many seconds, a minute after the one before."""
    numbers = np.arange(hour * 3600 * count, (hour + 1) * 3600 * count)
    second, broker = numbers // count, numbers % count
    into = (second + broker * 60) % life
    is_up = (into <= 900) | (into >= 930)
    numbers, second, broker, into = numbers[is_up], second[is_up], broker[is_up], into[is_up]
    kinds = np.select([into == 900, into == 930], [Kind.BROKER_SHUTDOWN_STARTED, Kind.BROKER_STARTED], Kind.ISR_UPDATED)
    ids, brokers = pa.array(numbers).cast(pa.string()), pa.array(broker, pa.int32())
    begin = "[Partition orders-0] ISR updated to 1,2,3 and version updated to"
    events = pa.table(
        {
            "line_id": ids,
            "source": pc.binary_join_element_wise("broker-", brokers.cast(pa.string()), "/server.log", ""),
            "happened_at": pa.array((int(AT.timestamp()) + second) * 1_000_000).cast(pa.timestamp("us", "UTC")),
            "order": pa.array(np.zeros(len(numbers)), pa.int64()),
            "broker": brokers,
            "kind": pa.array(kinds, pa.string()),
            "text": pc.binary_join_element_wise(begin, ids, " "),
            **{
                name: pa.array([value] * len(numbers), pa.string())
                for name, value in (("cluster", CLUSTER), ("origin", "broker"), ("pattern_id", "bench"))
            },
        }
    )
    return completed(events, arrow_schema(Event.TABLE))


MAKERS: Mapping[str, Callable[..., Made]] = {"groups": group, "brokers": brokers, "partitions": partitions}

if __name__ == "__main__":
    main()
