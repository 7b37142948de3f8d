"""One of several writers of a table, in a process that can be killed: `writer LAKE NAME FIRST LAST DIES_AT`.

It does one thing after another, and prints the number of each that is done. Whoever starts it again names the first
thing that is not known to be done.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog import silver
from kafka_hindsight.lake import store as store_module
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.transactions import TableChanged
from kafka_hindsight.shared.windows import Window
from tests.support.rows import AT, values

EVENTS = silver.EVENTS
WINDOW = Window(AT, AT + timedelta(hours=1))


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

    for place, name in ((os, "fsync"), (Path, "replace"), (store_module, "commit")):
        setattr(place, name, watched(getattr(place, name)))


def _die(is_time: bool) -> None:
    if is_time:
        os.kill(os.getpid(), signal.SIGKILL)


def main(lake: str, name: str, first: int, last: int, dies_at: int) -> None:
    """Does the things from the first to the last."""
    store = Store(lake)
    _dies_at(dies_at)
    for number in range(first, last + 1):
        write(store, name, number)
        print(number, flush=True)


if __name__ == "__main__":
    lake, name, first, last, dies_at = sys.argv[1:]
    main(lake, name, int(first), int(last), int(dies_at))
    os._exit(0)
