"""Logs that are rotated in every way while they are collected: is each line in bronze once, and none lost?

`python -m lab.bench.rotation [--lines 1000000] [--collects 10]` prints what was written, how often it was rotated and
read, and whether bronze holds what one reading of the unrotated logs gives. Exit code 1 where it does not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_hindsight.start import launch

if TYPE_CHECKING:
    from kafka_hindsight.settings.models import Settings
    from kafka_hindsight.steps.collect import Collected

START = datetime(2026, 11, 20, tzinfo=UTC)
RESTED = timedelta(minutes=11)
FLUSH = 8192
"""Writers hand over their buffer when it is full: mostly in the middle of a line."""

_TRACE = (
    "java.io.IOException: Connection to 127.0.0.1:23602 (id: 2 rack: null) failed.\n"
    "\tat kafka.server.ReplicaFetcherThread.fetchFromLeader(ReplicaFetcherThread.scala:213)\n"
    "\tat kafka.server.AbstractFetcherThread.processFetchRequest(AbstractFetcherThread.scala:331)\n"
)


def records(broker: int, seed: int) -> Iterator[str]:
    """The endless log of a broker: some lines twice in one millisecond, some late, some with a trace."""
    luck = random.Random(seed)
    clock, record = 0, ""
    while True:
        if not record or luck.random() > 0.1:
            clock += luck.randrange(3)
            at = START + timedelta(milliseconds=clock - luck.randrange(4))
            trace = _TRACE if luck.random() < 0.03 else ""
            record = (
                f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}] INFO [GroupCoordinator {broker}]: "
                f"Resigned as the group coordinator for partition {luck.randrange(3)} in epoch Some(0) "
                f"(kafka.coordinator.group.GroupCoordinator)\n{trace}"
            )
        yield record


@dataclass
class LiveLog:
    """A log that is written and rotated in one way; `whole` keeps everything that was ever written to it."""

    way: str
    path: Path
    whole: Path
    records: Iterator[str]
    lines: int = 0
    rotations: int = 0
    late: bytes = b""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, lines: int) -> None:
        """Write so many lines, or a few more, as full buffers; the rest stays behind."""
        text, upto = [], self.lines + lines
        while self.lines < upto:
            text.append(next(self.records))
            self.lines += text[-1].count("\n")
        with self.whole.open("a") as whole:
            whole.write("".join(text))
        self.late += "".join(text).encode()
        full = len(self.late) // FLUSH * FLUSH
        self._hand_over(full)

    def flush(self) -> None:
        """Write what stayed behind."""
        self._hand_over(len(self.late))

    def rotate(self) -> None:
        """Rotates between two records, as loggers do."""
        self.flush()
        with self.lock:
            self.rotations += 1
            WAYS[self.way](self)

    @property
    def source(self) -> str:
        """Its name as seen from the root of all logs."""
        return f"{self.path.parent.name}/{self.path.name}"

    def rotated(self) -> list[Path]:
        """The older parts."""
        return [path for path in self.path.parent.iterdir() if path != self.path]

    def heads(self) -> set[bytes]:
        """By what the older parts are known whatever their names."""
        with self.lock:
            return {_head(path) for path in self.rotated()}

    def delete(self, heads: set[bytes]) -> None:
        """Take those of the older parts away."""
        with self.lock:
            for path in self.rotated():
                if _head(path) in heads:
                    path.unlink()

    def beside(self, suffix: str) -> Path:
        """The path of an older part."""
        return self.path.with_name(self.path.name + suffix)

    def shift(self) -> None:
        """Make room for a newest part: each moves on by one."""
        for n in range(self.rotations, 0, -1):
            if (old := self.beside(f".{n}")).exists():
                old.rename(self.beside(f".{n + 1}"))

    def _hand_over(self, size: int) -> None:
        with self.path.open("ab", buffering=0) as file:
            for at in range(0, size, FLUSH):
                file.write(self.late[at : min(at + FLUSH, size)])
        self.late = self.late[size:]


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(FLUSH)


def _renamed(log: LiveLog) -> None:
    log.shift()
    log.path.rename(log.beside(".1"))


def _dated(log: LiveLog) -> None:
    hour = START + timedelta(hours=log.rotations)
    log.path.rename(log.beside(f".{hour:%Y-%m-%d-%H}"))


def _numbered(log: LiveLog) -> None:
    log.path.rename(log.beside(f".{log.rotations}"))


def _copied(log: LiveLog) -> None:
    log.shift()
    with log.path.open("rb") as source, log.beside(".1").open("wb", buffering=0) as copy:
        while part := source.read(10_000):
            copy.write(part)
            time.sleep(0.002)
    os.truncate(log.path, 0)


def _packed(log: LiveLog) -> None:
    part = log.beside(f".{log.rotations}")
    log.path.rename(part)
    packed = gzip.compress(part.read_bytes(), compresslevel=1)
    with log.beside(f".{log.rotations}.gz").open("wb", buffering=0) as file:
        for at in range(0, len(packed), 10_000):
            file.write(packed[at : at + 10_000])
            time.sleep(0.01)
    part.unlink()


WAYS: dict[str, Callable[[LiveLog], None]] = {
    "by name": _renamed,
    "by date": _dated,
    "by number": _numbered,
    "copied and truncated": _copied,
    "packed": _packed,
    "deleted once read": _renamed,
}


class RotatingWriter(threading.Thread):
    """Writes and rotates all logs, so many batches for each permit, while others read them."""

    def __init__(self, root: Path, batches: int, lines: int, every: int) -> None:
        super().__init__(daemon=True)
        self.live, self.whole = root / "live", root / "whole"
        self.batches, self.lines, self.every = batches, lines, every
        self.permits = threading.Semaphore(0)
        self.failure: BaseException | None = None
        self.logs = [self._log(n, way) for n, way in enumerate(WAYS, start=1)]

    def _log(self, n: int, way: str) -> LiveLog:
        folders = [place / f"broker-{n}" for place in (self.live, self.whole)]
        for folder in folders:
            folder.mkdir(parents=True)
        path, whole = (folder / "server.log" for folder in folders)
        log = LiveLog(way, path, whole, records(n, seed=n))
        log.write(self.lines)
        log.flush()
        return log

    def run(self) -> None:
        """Works off one batch for each permit."""
        try:
            for batch in range(1, self.batches + 1):
                self.permits.acquire()
                for n, log in enumerate(self.logs):
                    log.write(self.lines)
                    if (batch + n) % self.every == 0:
                        log.rotate()
                    time.sleep(0.005)
            for log in self.logs:
                log.flush()
        except BaseException as failure:
            self.failure = failure


def are_parts_read(source: str, collected: Collected) -> bool:
    """Whether the lake has every record of a log's older parts.

    The last record of the newest part waits as long as the log itself has no record.
    """
    are_held_back = any(name.startswith(f"{source}.") for name in collected.held_back)
    return source not in collected.unsettled and not are_held_back


@dataclass
class RotationCount:
    """The number of acts, and the rows of bronze at the end."""

    lines: int
    rotations: dict[str, int]
    unsettled: int
    held_back: int
    seconds: list[float]
    lines_kept: int
    same: bool


def play(root: Path, *, batches: int, lines: int, every: int, collects: int) -> RotationCount:
    """Collects while a writer writes and rotates, then once more when all has rested, then the unrotated logs."""
    import pyarrow.compute as pc

    from kafka_hindsight.catalog.bronze import LOG_RECORDS
    from kafka_hindsight.engine.local import LocalEngine
    from kafka_hindsight.lake.store import Store, content_of
    from kafka_hindsight.steps.collect import collect, list_input

    engine = LocalEngine()

    def collected(settings: Settings) -> Collected:
        return collect(engine, Store(settings.lake), settings, list_input(engine, settings))

    writer = RotatingWriter(root, batches, lines, every)
    writer.start()
    seconds, unsettled, held_back = [], 0, 0
    last = next(log for log in writer.logs if log.way == "deleted once read")
    for _ in range(collects):
        before = last.heads()
        writer.permits.release(-(-batches // collects))
        began = time.monotonic()
        summary = collected(_settings(root / "lake", writer.live, datetime.now(UTC)))
        seconds.append(time.monotonic() - began)
        unsettled += len(summary.unsettled)
        held_back += len(summary.held_back)
        if are_parts_read(last.source, summary):
            last.delete(before)
    writer.join()
    if writer.failure:
        raise writer.failure
    collected(_settings(root / "lake", writer.live, datetime.now(UTC) + RESTED))
    collected(_settings(root / "other", writer.whole, datetime.now(UTC) + RESTED))
    in_steps, in_one_go = (Store(str(root / lake)).read(LOG_RECORDS) for lake in ("lake", "other"))
    return RotationCount(
        lines=sum(log.lines for log in writer.logs),
        rotations={log.way: log.rotations for log in writer.logs},
        unsettled=unsettled,
        held_back=held_back,
        seconds=seconds,
        lines_kept=pc.sum(in_steps["line_count"]).as_py(),
        same=content_of(in_steps, LOG_RECORDS).equals(content_of(in_one_go, LOG_RECORDS)),
    )


def _settings(lake: Path, logs: Path, run_at: datetime) -> Settings:
    from kafka_hindsight.settings.models import Settings

    return Settings.of({"lake": lake, "logs": logs, "run_at": run_at, "run_id": "rotation", "cluster": "live"})


def main() -> None:
    """Play it and print the outcome."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000, help="how many lines are written at least")
    parser.add_argument("--collects", type=int, default=10, help="how often they are collected meanwhile")
    options = parser.parse_args()
    os.environ.update(launch.spark_variables())
    time.tzset()
    batches = options.collects * 12
    folder = Path(tempfile.mkdtemp(prefix="hindsight-rotation-"))
    try:
        lines = -(-options.lines // (len(WAYS) * (batches + 1)))
        outcome = play(folder, batches=batches, lines=lines, every=5, collects=options.collects)
    finally:
        shutil.rmtree(folder)
    print(json.dumps(outcome.__dict__, indent=1, default=str))
    sys.exit(not (outcome.same and outcome.lines == outcome.lines_kept))


if __name__ == "__main__":
    main()
