"""Several writers of a table, each in a process that can be killed.

A writer does one thing after another, and writes down the number of each that is done. Whoever starts it again names
the first thing that is not known to be done.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa

from kafka_hindsight.catalog import silver
from kafka_hindsight.lake import store as store_module
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.transactions import TableChanged
from kafka_hindsight.shared.windows import Window
from tests.support.rows import AT, values

EVENTS = silver.EVENTS
KILLED = -signal.SIGKILL
MANY = 1_000_000
WINDOW = Window(AT, AT + timedelta(hours=1))
FORKED = multiprocessing.get_context("forkserver")
"""A writer begins as a copy of a process that has imported what writers need: dozens of them begin and die."""
FORKED.set_forkserver_preload([__name__])


def ids(name: str, number: int) -> list[str]:
    """The rows that a writer writes in one step."""
    return [f"{name}-{number}-{n}" for n in range(3)]


def write(store: Store, name: str, number: int) -> None:
    """Adds rows of the writer's cluster, and replaces a window of another cluster, in a commit each."""
    added, replaced = (
        pa.Table.from_pylist(
            [values(EVENTS, line_id=i, cluster=cluster, happened_at=AT) for i in ids(name, number)],
            arrow_schema(EVENTS),
        )
        for cluster in (name, f"{name}'s window")
    )
    _until_done(lambda: store.append_new(EVENTS, added))
    _until_done(lambda: store.replace_window(EVENTS, replaced, f"{name}'s window", WINDOW))


def write_all(lake: str, name: str, done: Path, first: int, last: int, dies_at: int) -> None:
    """Does the things from the first to the last."""
    store = Store(lake)
    _dies_at(dies_at)
    with done.open("a") as lines:
        for number in range(first, last + 1):
            write(store, name, number)
            print(number, file=lines, flush=True)


def _until_done(act: Callable[[], object]) -> None:
    while True:
        try:
            act()
            return
        except TableChanged:
            continue


def _dies_at(step: int) -> None:
    """Kills the process at its step of that number: before and after a file lies in its place, and a commit."""
    steps = count(1)

    def watched(act: Any) -> Any:
        def watch(*args: Any, **kwargs: Any) -> Any:
            _die(next(steps) == step)
            done = act(*args, **kwargs)
            _die(next(steps) == step)
            return done

        return watch

    for place, name in ((os, "fsync"), (Path, "replace"), (obstore, "put"), (store_module, "commit")):
        setattr(place, name, watched(getattr(place, name)))


def _die(is_time: bool) -> None:
    if is_time:
        os.kill(os.getpid(), signal.SIGKILL)


class Writer:
    """A writer, and the next thing that it is to do."""

    def __init__(self, lake: str, name: str, done: Path) -> None:
        self.lake, self.name, self.done, self.number = lake, name, done, 0

    def start(self, last: int, dies_at: int = 0) -> None:
        self.done.write_text("")
        arguments = (self.lake, self.name, self.done, self.number, last, dies_at)
        self.process = FORKED.Process(target=write_all, args=arguments)
        self.process.start()

    def wait_for_one(self) -> None:
        while not self.done.read_text():
            time.sleep(0.01)

    def end(self) -> int | None:
        self.process.join(120)
        if lines := self.done.read_text().split():
            self.number = int(lines[-1]) + 1
        return self.process.exitcode


def look(store: Store, writers: list[Writer]) -> None:
    """What was done is there once. Of what was not known to be done at most one thing is there, whole."""
    read = store.read(EVENTS, columns=["cluster", "line_id"]).to_pydict()
    rows = Counter(zip(read["cluster"], read["line_id"]))
    assert set(rows.values()) <= {1}
    for writer in writers:
        added = {line_id for cluster, line_id in rows if cluster == writer.name}
        done = {i for n in range(writer.number) for i in ids(writer.name, n)}
        assert added in (done, done | set(ids(writer.name, writer.number)))
        window = f"{writer.name}'s window"
        replaced = sorted(line_id for cluster, line_id in rows if cluster == window)
        assert replaced in (
            ids(writer.name, writer.number - 1) if writer.number else [],
            ids(writer.name, writer.number),
        )
        assert len(store.read_window(EVENTS, window, WINDOW)) == len(replaced)


def kill_writers(lake: str, folder: Path) -> int:
    """Two writers of one table, each killed at every step, then at any time: no commit is lost or doubled.

    Args:
        lake: A lake without the table.
        folder: A folder on this machine.

    Returns:
        At how many steps they were killed.
    """
    store, rng = Store(lake), random.Random(39)
    store.create(EVENTS)
    writers = [Writer(store.lake, name, folder / name) for name in ("one", "two")]
    ended: list[int | None] = [KILLED]
    step = 0
    while KILLED in ended:
        step += 1
        for writer in writers:
            writer.start(writer.number, dies_at=step)
        ended = [writer.end() for writer in writers]
        look(store, writers)
    assert ended == [0, 0]
    for _ in range(5):
        for writer in writers:
            writer.start(MANY)
        for writer in writers:
            writer.wait_for_one()
            time.sleep(rng.uniform(0, 0.15))
            writer.process.kill()
        assert [writer.end() for writer in writers] == [KILLED, KILLED]
        look(store, writers)
    store.put_in_order(EVENTS)
    look(store, writers)
    return step - 1
