"""Two writers of one table, each killed at every step: what was done is there once, what was half done is not seen."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from deltalake import DeltaTable

from kafka_hindsight.lake import delta_log
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.home import HOME
from tests.support.writer import EVENTS, WINDOW, ids

KILLED = -signal.SIGKILL
MANY = 1_000_000


class Writer:
    """A writer, and the next thing that it is to do."""

    def __init__(self, lake: str, name: str, done: Path) -> None:
        self.lake, self.name, self.done, self.number = lake, name, done, 0

    def start(self, last: int, dies_at: int = 0) -> None:
        words = [sys.executable, "-m", "tests.support.writer", self.lake, self.name]
        words += [str(n) for n in (self.number, last, dies_at)]
        with self.done.open("w") as done:
            self.process = subprocess.Popen(words, stdout=done, cwd=HOME)

    def wait_for_one(self) -> None:
        while not self.done.read_text():
            time.sleep(0.01)

    def end(self) -> int:
        ended = self.process.wait(120)
        if lines := self.done.read_text().split():
            self.number = int(lines[-1]) + 1
        return ended


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


def test_no_commit_of_two_writers_that_are_killed_is_lost_or_doubled(tmp_path: Path) -> None:
    store, rng = Store(f"{tmp_path}/lake"), random.Random(39)
    store.create(EVENTS)
    writers = [Writer(store.lake, name, tmp_path / name) for name in ("one", "two")]
    ended, step = [KILLED], 0
    while KILLED in ended:
        step += 1
        for writer in writers:
            writer.start(writer.number, dies_at=step)
        ended = [writer.end() for writer in writers]
        look(store, writers)
    assert (ended, step > 8) == ([0, 0], True)
    for _ in range(5):
        for writer in writers:
            writer.start(MANY)
        for writer in writers:
            writer.wait_for_one()
            time.sleep(rng.uniform(0, 0.15))
            writer.process.kill()
        assert [writer.end() for writer in writers] == [KILLED, KILLED]
        look(store, writers)
    versions = sorted(int(p.stem) for p in Path(store.lake, "silver/events", delta_log.FOLDER).glob("?" * 20 + ".json"))
    assert versions == list(range(store.version(EVENTS) + 1))
    store.put_in_order(EVENTS)
    look(store, writers)
    assert len(DeltaTable(f"{store.lake}/silver/events").to_pyarrow_table()) == len(store.read(EVENTS))
