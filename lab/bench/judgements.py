"""One huge key of a judgement, as one Python worker gets it: Arrow columns in, rows judged, on one core.

`python -m lab.bench.judgements [groups|brokers|partitions] [sizes ...]` prints seconds and peak memory of each size,
each measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
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

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.rebuild.scope import Scope
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.apply import Judgement, call
from kafka_hindsight.start import launch

AT = datetime(2026, 11, 20, tzinfo=UTC)
CLUSTER = "bench"

STORM = "crm-storm-8"
"""A group of the recorded night: twelve rebalances in a minute and a half, with the lines of its clients."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}(?=[0-9a-f]{4})")


class Made(NamedTuple):
    """The rows of one key, and what else the judgement takes."""

    judgement: Judgement
    rows: Mapping[str, Sequence[Row]]
    values: Mapping[str, Any]


def main() -> None:
    """Measures one judgement, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=MAKERS)
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--here", action="store_true", help="measure in this process")
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measure(MAKERS[given.what](*given.sizes))))
        return
    for what in [given.what] if given.what else MAKERS:
        print(f"{what:12}{'size':>10}{'rows':>12}{'seconds':>10}{'peak MB':>9}{'of it rows, MB':>16}")
        for size in given.sizes or SIZES[what]:
            m = measured(what, size)
            numbers = f"{m['rows']:12,}{m['seconds']:10.1f}{m['peak_mb']:9,.0f}{m['arrow_mb']:16,.0f}"
            print(f"{'':12}{size:10,}{numbers}", flush=True)


def measured(what: str, size: int) -> dict[str, Any]:
    """The measures of one size, taken in a process of its own."""
    command = [sys.executable, "-m", "lab.bench.judgements", what, str(size), "--here"]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(made: Made) -> dict[str, Any]:
    """What one call costs: processor seconds, and the most memory that the process held from the Arrow columns on."""
    import pyarrow

    batches = {n: [pyarrow.RecordBatch.from_struct_array(_structs(rows))] for n, rows in made.rows.items() if rows}
    count = sum(len(rows) for rows in made.rows.values())
    judgement, values = made.judgement, made.values
    del made
    _forget_peak()
    began = time.process_time()
    call(judgement, batches, values)
    return {
        "rows": count,
        "seconds": time.process_time() - began,
        "peak_mb": _peak_mb(),
        "arrow_mb": sum(b.nbytes for own in batches.values() for b in own) / 1e6,
    }


def _structs(rows: Sequence[Row]) -> Any:
    import pyarrow

    return pyarrow.array((row.as_dict() for row in rows), size=len(rows))


def _forget_peak() -> None:
    """Linux counts the most memory from here on."""
    Path("/proc/self/clear_refs").write_text("5")


def _peak_mb() -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def group(rebalances: int) -> Made:
    """One classic group that goes through the recorded storm again and again, with its clients' lines."""
    from kafka_hindsight.spark.judgements.groups import GROUPS

    storm = recorded_storm()
    first, last = storm[0].happened_at, storm[-1].happened_at
    each = sum(e.kind == "rebalance_started" for e in storm)
    length = last - first + timedelta(seconds=5)
    copies = -(-rebalances // each)
    events = [e for n in range(copies) for e in _again(storm, n, AT - first + n * length, n * each)]
    return Made(GROUPS, {"events": events}, _facts(Window(AT, AT + copies * length), ()))


def recorded_storm() -> list[Event]:
    """The events of the recorded storm's group, in order, without the moves of its coordinator hours later."""
    from kafka_hindsight.logs.plain_reader import read_logs

    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(HOME / "samples" / "night-4.1.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        read = [read_logs(Path(folder) / name, origin, CLUSTER)[0] for name, origin in _FOLDERS]
    own = (e for events in read for e in events if e.group_id == STORM and e.kind not in _MOVES)
    return sorted(own, key=lambda e: e.happened_at)


_FOLDERS = (("logs", Origin.BROKER), ("clients", Origin.CLIENT))
_MOVES = ("group_loaded", "group_unloaded")
_NAMING = ("text", "member_id", "old_member_id", "leader_member_id", "members", "reason", "client_reason", "detail")


def _again(storm: Iterable[Event], n: int, later: timedelta, generations: int) -> Iterator[Event]:
    """The storm once more: later, with other member ids, and generations that go on."""
    for e in storm:
        names: dict[str, Any] = {
            c: _UUID.sub(lambda m: f"{m[0][:-8]}{n:08x}", v) for c in _NAMING if (v := getattr(e, c))
        }
        generation = None if e.generation is None else e.generation + generations
        yield replace(e, **names, line_id=f"{e.line_id}-{n}", happened_at=e.happened_at + later, generation=generation)


def _facts(window: Window, events: Sequence[Event]) -> dict[str, Any]:
    """The scope, and the facts of a cluster that had no outage."""
    from kafka_hindsight.catalog.rows import ObservedSpan
    from kafka_hindsight.judgements.rebuild.brokers import gather_facts

    scope = Scope(CLUSTER, window, window)
    observed = ObservedSpan(cluster=CLUSTER, first_at=window.start, last_at=window.end, later_blocks=[])
    return {"scope": scope, "facts": gather_facts(list(events), [], [], [], [observed], [], scope)}


def partitions(count: int, readings: int = 288) -> Made:
    """One block of a topic of so many partitions, read every five minutes; a broker restarts, and leads again."""
    from kafka_hindsight.catalog.rows import PartitionState
    from kafka_hindsight.spark.judgements.partitions import PARTITIONS

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
            kind="leader_started",
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
    states = [state(p, *period) for p in range(count) for period in periods]
    events = [line(p, *change) for p in range(count) for change in changes]
    return Made(PARTITIONS, {"events": events, "states": states}, _facts(Window(AT, end), ()))


def brokers(count: int, hours: int = 50) -> Made:
    """So many brokers that write an event each second, as Spark hands them on; each of them restarts twice."""
    os.environ.update(launch.environment())
    time.tzset()
    from pyspark.sql import functions as F

    from kafka_hindsight.catalog.silver import EVENTS
    from kafka_hindsight.spark import session
    from kafka_hindsight.spark.apply import collect_rows
    from kafka_hindsight.spark.frames.broker_lines import about_brokers
    from kafka_hindsight.spark.judgements.brokers import BROKERS

    spark = session.start("bench", "local[2]")
    second, broker = F.floor(F.col("id") / count), (F.col("id") % count).cast("int")
    into = (second + broker * 60) % (hours * 1800)
    kind = F.when(into == 900, "broker_shutdown_started").when(into == 930, "broker_started").otherwise("isr_updated")
    known = {
        "line_id": F.col("id").cast("string"),
        "cluster": F.lit(CLUSTER),
        "origin": F.lit("broker"),
        "source": F.concat(F.lit("broker-"), broker.cast("string"), F.lit("/server.log")),
        "happened_at": F.timestamp_seconds(F.lit(int(AT.timestamp())) + second),
        "order": F.lit(0),
        "broker": broker,
        "kind": kind,
        "pattern_id": F.lit("bench"),
        "text": F.concat(F.lit("[Partition orders-0] ISR updated to 1,2,3 and version updated to "), F.col("id")),
        "knowledge_version": F.lit(""),
    }
    columns = (known.get(c.name, F.lit(None)).cast(c.type).alias(c.name) for c in EVENTS.columns)
    events = spark.range(count * hours * 3600).select(*columns).where((into <= 900) | (into >= 930))
    rows = collect_rows(about_brokers(events), Event)
    spark.stop()
    window = Window(AT, AT + timedelta(hours=hours))
    return Made(BROKERS, {"events": rows}, {"scope": Scope(CLUSTER, window, window)})


MAKERS: Mapping[str, Callable[..., Made]] = {"groups": group, "brokers": brokers, "partitions": partitions}
SIZES = {"groups": (1_000, 5_000, 20_000, 50_000), "brokers": (3, 30, 100), "partitions": (25, 100)}

if __name__ == "__main__":
    main()
