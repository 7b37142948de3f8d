"""Two runs at once on an object store, with faults between each of them and the store, and runs that stand still.

Before the store stands a proxy for each run. It loses requests and answers, keeps answers back, and is cut off for a
while. Holders of locks count as dead after four seconds in place of sixty, and a run stands still for longer.
`python -m lab.chaos.locks LAKE CLUSTER RUN` is one small run: it takes the lock, and writes.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog.quality import LATE_WINDOWS, PUBLICATIONS
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.claims import hold_cluster, hold_publication
from kafka_hindsight.lake.publishing import list_newest
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.home import HOME
from lab.chaos.kills import KillCount
from lab.chaos.lakes import contents, others
from lab.chaos.stores import BUCKET, CHUNK, ENDPOINT, proxy, store
from lab.chaos.worker import DEAD_AFTER, Worker, hasten_locks

DEAD_AFTER_S, _STANDS_STILL_S = 4.0, 5.0
_AT_LOCK, _ELSEWHERE, _IN_WHOLE = 0.1, 0.01, 0.001
"""The share of requests that meet a fault: at a lock, elsewhere, and elsewhere in a whole night of thousands."""
_LATE_S = (0.5, 3.0)

_WRITES = 4
"""Commits of a small run, by turns to two tables."""
_TABLES = (PUBLICATIONS, LATE_WINDOWS)
_FILLED: Mapping[Table, Mapping[str, Any]] = {PUBLICATIONS: {"row_count": 0}, LATE_WINDOWS: {"sources": []}}
_STEPS = ("ingest", "rebuild", "validate", "publish", "report")
_NUMBERS = ("version", "records")
_AT = datetime(2026, 11, 21, tzinfo=UTC)
_TRIES = 40
_AT_ONCE = 8
"""Small schedules that are played at once: they wait most of the time."""

_DISTURBED_S = 20
"""Seconds in which runs are cut off and stand still. Requests and answers are lost to the end."""
_RUNS = ("one", "two")


@dataclass
class Way:
    """The way of one run to the store."""

    rng: random.Random
    elsewhere: float
    is_cut: bool = False
    faults: dict[str, int] = field(default_factory=dict)

    def meets(self, fault: str, share: float) -> bool:
        """Whether the next bytes meet a fault."""
        is_met = self.is_cut or self.rng.random() < share
        self.faults[fault] = self.faults.get(fault, 0) + is_met
        return is_met

    async def join(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on one connection, until a request or an answer is lost."""
        with closing(writer), suppress(OSError):
            answers, asks = await asyncio.open_connection("127.0.0.1", port)
            with closing(asks):
                share = [self.elsewhere]
                back = asyncio.create_task(self._answer(answers, writer, share))
                while data := await reader.read(CHUNK):
                    share[0] = _AT_LOCK if b"/locks/" in data[:300] else self.elsewhere
                    if self.meets("lost requests", share[0] / 2):
                        break
                    asks.write(data)
                back.cancel()

    async def _answer(self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter, share: list[float]) -> None:
        while data := await answers.read(CHUNK):
            if self.meets("lost answers", share[0]):
                break
            if self.meets("late answers", share[0]):
                await asyncio.sleep(self.rng.uniform(*_LATE_S))
            writer.write(data)
        writer.close()


@contextmanager
def _ways(rng: random.Random, port: int, elsewhere: float) -> Iterator[list[tuple[Way, str]]]:
    """A way with faults for each run, and its address."""
    ways = [Way(random.Random(rng.random()), elsewhere) for _ in _RUNS]
    with ExitStack() as proxies:
        yield [(w, proxies.enter_context(proxy(port, partial(w.join, port)))) for w in ways]


def locks(rng: random.Random, folder: Path, settings: Mapping[str, Any], small: int, whole: int) -> Iterator[KillCount]:
    """Schedules of two runs that only take and write, then of two whole nights."""
    with store(folder) as port:
        outcome = KillCount("two runs that take a lock and write, with faults at the lock", small)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            schedules = [
                pool.submit(_small, random.Random(rng.random()), port, f"s3a://{BUCKET}/small-{number}", outcome)
                for number in range(small)
            ]
            outcome.equal = outcome.whole = sum(schedule.result() for schedule in schedules)
        yield outcome
        outcome = KillCount("two whole nights of a cluster at once, with faults at the lock", whole)
        expected = _one_after_the_other(folder, settings)
        for number in range(whole):
            _whole(rng, folder / f"whole-{number}", port, f"s3a://{BUCKET}/whole-{number}", settings, expected, outcome)
        yield outcome


def _small(rng: random.Random, port: int, lake: str, outcome: KillCount) -> bool:
    """Two small runs, of one cluster or two: each is started again until it has written what it has to.

    Returns:
        Whether each row is there once, and no two runs of a cluster wrote by turns.
    """
    clusters = rng.choice([("prod", "prod"), ("prod", "prod"), ("prod", "test")])
    began = time.monotonic()
    with _ways(rng, port, _ELSEWHERE) as ways:
        runs = [_SmallRun(lake, c, n, address) for c, n, (_, address) in zip(clusters, _RUNS, ways, strict=True)]
        disturber = _Disturber(rng, [way for way, _ in ways])
        while sum(run.is_done() for run in runs) < len(runs):
            disturber.look([run.suspend for run in runs])
            time.sleep(0.2)
    problems = list(problems_of(Store(lake), dict(zip(_RUNS, clusters, strict=True))))
    faults = {
        name: sum(w.faults.get(name, 0) for w, _ in ways) for name in ("lost requests", "lost answers", "late answers")
    }
    outcome.note(
        f"{lake.rpartition('/')[2]}, {' and '.join(clusters)}: {time.monotonic() - began:.0f} s, {faults},"
        f" {disturber.count} times cut off or still, started {[r.starts for r in runs]} times; {problems or 'equal'}"
    )
    return not problems


def problems_of(lake: Store, clusters: Mapping[str, str]) -> Iterator[str]:
    """What shows that a row of small runs was lost or doubled, or that two runs of a cluster wrote by turns.

    Args:
        lake: The lake.
        clusters: The cluster of each run.
    """
    rows = [
        row
        for table in _TABLES
        for row in lake.read(table, columns=("cluster", "run_id", _number_of(table))).to_pylist()
    ]
    for cluster in {*clusters.values()}:
        own = sorted(
            (next(v for k, v in r.items() if k in _NUMBERS), r["run_id"]) for r in rows if r["cluster"] == cluster
        )
        runs = [name for name, c in clusters.items() if c == cluster]
        if [number for number, _ in own] != [*range(_WRITES * len(runs))]:
            yield f"{cluster} has the numbers {own}"
        takes = [take for _, take in own]
        if sum(a != b for a, b in pairwise(takes)) != len({*takes}) - 1:
            yield f"{cluster} was written by turns: {takes}"


def _number_of(table: Table) -> str:
    return next(name for name in table.column_names if name in _NUMBERS)


def small_run(lake: str, cluster: str, name: str, start: int, address: str | None = None) -> subprocess.Popen[str]:
    """Start a small run. It prints a line of JSON when it has a lock. `address`: where it finds the store."""
    return subprocess.Popen(
        [sys.executable, "-m", "lab.chaos.locks", lake, cluster, name, str(start)],
        env={**os.environ, "PYTHONPATH": str(HOME), **({ENDPOINT: address} if address else {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


class _SmallRun:
    """A small run, started again where it ends without having written all."""

    def __init__(self, lake: str, cluster: str, name: str, address: str) -> None:
        self._start_one = partial(small_run, lake, cluster, name, address=address)
        self.starts, self._still_until = 0, 0.0
        self._start()

    def _start(self) -> None:
        self.starts += 1
        self._process = self._start_one(self.starts)

    def suspend(self) -> None:
        """Let it stand still for longer than a holder may."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGSTOP)
            self._still_until = time.monotonic() + _STANDS_STILL_S

    def is_done(self) -> bool:
        """Look once. Raises: RuntimeError if it never ends well."""
        if self._still_until and time.monotonic() > self._still_until:
            self._process.send_signal(signal.SIGCONT)
            self._still_until = 0.0
        code = self._process.poll()
        if code:
            if self.starts >= _TRIES:
                raise RuntimeError(f"{self._process.args!r} was started {self.starts} times and never ended well.")
            self._start()
        return code == 0


class _Disturber:
    """Cuts off one run, or lets it stand still, every some seconds, for a while."""

    def __init__(self, rng: random.Random, ways: Sequence[Way]) -> None:
        self._rng, self._ways, self.count = rng, ways, 0
        self._next, self._cut_until = time.monotonic() + rng.uniform(2, 6), 0.0
        self._end = time.monotonic() + _DISTURBED_S

    def look(self, suspend: Sequence[Callable[[], None]]) -> None:
        """Do what is due."""
        now = time.monotonic()
        if now > self._cut_until:
            for way in self._ways:
                way.is_cut = False
        if self._next < now < self._end:
            self.count += 1
            n = self._rng.randrange(len(_RUNS))
            if self._rng.random() < 0.5:
                self._ways[n].is_cut, self._cut_until = True, now + _STANDS_STILL_S
            else:
                suspend[n]()
            self._next = now + _STANDS_STILL_S + self._rng.uniform(1, 8)


def _one_after_the_other(folder: Path, settings: Mapping[str, Any]) -> Mapping[str, str]:
    lake = folder / "one-after-the-other"
    with closing(Worker(folder / "alone")) as worker:
        for name in _RUNS:
            for step in _STEPS:
                worker.do(step, {**settings, "lake": str(lake), "run_id": name})
    return contents(lake)


def _whole(
    rng: random.Random,
    folder: Path,
    port: int,
    lake: str,
    settings: Mapping[str, Any],
    expected: Mapping[str, str],
    outcome: KillCount,
) -> None:
    """Two whole nights at once: each step is tried again until it ends well."""
    began, tries = time.monotonic(), dict.fromkeys(_RUNS, 0)
    with _ways(rng, port, _IN_WHOLE) as ways, ExitStack() as open_workers:
        workers = [
            open_workers.enter_context(
                closing(Worker(folder / name, also={ENDPOINT: a, DEAD_AFTER: str(DEAD_AFTER_S)}))
            )
            for name, (_, a) in zip(_RUNS, ways, strict=True)
        ]

        def audit(name: str, worker: Worker) -> None:
            for step in _STEPS:
                for _ in range(_TRIES):
                    tries[name] += 1
                    if not worker.run(step, {**settings, "lake": lake, "run_id": name}).sentences:
                        break
                else:
                    raise RuntimeError(f"{step} of {name} never ended well.")

        with ThreadPoolExecutor(len(_RUNS)) as pool:
            audits = [pool.submit(audit, name, worker) for name, worker in zip(_RUNS, workers, strict=True)]
            disturber = _Disturber(rng, [way for way, _ in ways])
            while not all(a.done() for a in audits):
                disturber.look([partial(_suspend, worker) for worker in workers])
                time.sleep(0.2)
            for audited in audits:
                audited.result()
    differing = others(contents(lake), dict(expected))
    outcome.equal += not differing
    outcome.whole += not differing
    outcome.note(
        f"{lake.rpartition('/')[2]}: {time.monotonic() - began:.0f} s, {disturber.count} times cut off or still, steps"
        f" tried {tries}; {f'other rows in {differing}' if differing else 'equal'}"
    )


def _suspend(worker: Worker) -> None:
    """Let a whole run stand still for longer than a holder may."""
    with worker.suspended():
        time.sleep(_STANDS_STILL_S)


def main(lake: str, cluster: str, run: str, start: str) -> None:
    """Take the cluster, write the rows that are missing, and publish. Each row has the number of rows before it.

    The seconds that each lock was waited for are printed.
    """
    hasten_locks(DEAD_AFTER_S)
    lake_tables = Store(lake)
    lake_tables.create(*_TABLES)
    began = time.monotonic()
    with hold_cluster(lake, cluster, run):
        _print_wait("cluster", began)
        take = f"{run}-{start}"
        while True:
            rows = [r for t in _TABLES for r in lake_tables.read(t, columns=("cluster", "run_id")).to_pylist()]
            own = [row["run_id"] for row in rows if row["cluster"] == cluster]
            written = sum(name.startswith(f"{run}-") for name in own)
            if written >= _WRITES:
                break
            table = _TABLES[len(own) % 2]
            lake_tables.append(table, pa.Table.from_pylist([_row(table, cluster, take, len(own))], arrow_schema(table)))
        began = time.monotonic()
        with hold_publication(lake, run):
            _print_wait("publication", began)
            list_newest(lake)


def _print_wait(lock: str, began: float) -> None:
    print(json.dumps({lock: round(time.monotonic() - began, 2)}), flush=True)


def _row(table: Table, cluster: str, take: str, number: int) -> dict[str, Any]:
    values = {"cluster": cluster, "run_id": take, _number_of(table): number, "table": f"number {number}"}
    stamps = {name: _AT for name in table.column_names if name.endswith(("_at", "_from", "_to"))}
    return {**stamps, **{n: v for n, v in values.items() if n in table.column_names}, **_FILLED.get(table, {})}


if __name__ == "__main__":
    main(*sys.argv[1:])
