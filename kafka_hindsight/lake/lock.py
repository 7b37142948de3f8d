"""One run at a time on a lake: a second one waits a while.

In an object store the lock is an object that only a writer who knows its newest version may replace. A store compares
an object's ETag when it writes (If-Match, If-None-Match), so only one of two takers gets the lock. The holder writes
its object again and again. A holder that stops doing so is dead, and the next run takes its place.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import FAULT, BadInput

_LOOK_EVERY = 0.5


@contextmanager
def hold_lock(lake: str, name: str, run_id: str, patience: timedelta = timedelta(0)) -> Iterator[None]:
    """Hold a lock of a lake while the block runs; `patience` is how long to wait for another run to end.

    A process that dies frees the lock; behind a URI a minute later.

    Raises:
        LakeBusy: Another run, which is named, has not ended in time.
        BadInput: The lake cannot be written.
    """
    holder = {
        "run_id": run_id,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if is_uri(lake):
        with hold_object(lake, name, holder, LockWait(lake, patience)):
            yield
        return
    folder = Path(lake) / "locks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(folder / name, "a+", encoding="utf-8")  # noqa: SIM115 (closed by the with below)
    except OSError as refusal:
        raise BadInput(
            f"The lake {lake} cannot be written: {refusal.strerror}. "
            "Needed: a folder in which this user may create files. Give another LAKE."
        ) from refusal
    with file:
        _take(file, folder / name, LockWait(lake, patience))
        file.seek(0)
        file.truncate()
        file.write(json.dumps(holder))
        file.flush()
        yield


def _take(file: IO[str], path: Path, waiting: LockWait) -> None:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            waiting.go_on(_holder_in(path))
        time.sleep(_LOOK_EVERY)


def _holder_in(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


class LakeBusy(RuntimeError):
    """Another run works on this lake. It ends by itself, so a retry may succeed."""


class LockWait:
    """A wait for a lake that another run holds, as long as patience lasts."""

    def __init__(self, lake: str, patience: timedelta) -> None:
        self.lake = lake
        self.patience = patience
        self.began = time.monotonic()
        self.is_reported = False

    def go_on(self, holder: Any) -> None:
        """Report the holder once. Raises: LakeBusy if patience is at its end."""
        sentence = _who_holds(holder, self.lake)
        if time.monotonic() - self.began >= self.patience.total_seconds():
            raise LakeBusy(f"{sentence} One run at a time: wait until it ends, or give another LAKE.")
        if not self.is_reported:
            progress.say(f"{sentence} Waiting until it ends")
            self.is_reported = True


def _who_holds(holder: Any, lake: str) -> str:
    try:
        who = f"run {holder['run_id']} (process {holder['pid']} on {holder['host']}, since {holder['since']})"
    except (KeyError, TypeError):
        who = "another run"
    return f"The lake {masked(lake)} is in use by {who}."


RENEWED_EVERY = 15.0
"""Seconds between two signs of life of a holder."""

DEAD_AFTER = 60.0
"""Seconds without a sign of life after which a holder is dead, by the clock of the run that waits."""

_SCHEMES = ("s3://", "s3a://", "gs://", "abfs://", "abfss://")
"""Stores that compare when they write. HDFS has no ETags: there one Airflow with one active run guards a lake."""

_FREE: Mapping[str, Any] = {}
_ASK_EVERY = 2.0
_RETRIES: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=20)}
_TAKEN = (AlreadyExistsError, PreconditionError)


@contextmanager
def hold_object(lake: str, name: str, holder: Mapping[str, Any], waiting: LockWait) -> Iterator[None]:
    """Hold a lock while the block runs.

    A process that stood still may find that another one has the lock. Then it ends at once, as a kill would end it.

    Raises:
        LakeBusy: Another run has not ended in time.
        BadInput: The store cannot be written.
    """
    if not lake.startswith(_SCHEMES):
        yield
        return
    try:
        store = from_url(f"{lake.rstrip('/')}/locks", retry_config=_RETRIES)
        lock = _Lock(store, name, holder)
        lock.take(waiting)
    except (BaseError, OSError) as refusal:
        raise BadInput(
            f"The lake {masked(lake)} cannot be written: {masked(str(refusal)).splitlines()[0]}. Needed: a store that "
            "this machine reaches, and the right to write there. Check LAKE and the credentials in the environment."
        ) from refusal
    stop = threading.Event()
    renewal = threading.Thread(target=lock.keep_alive, args=(stop,), daemon=True)
    renewal.start()
    try:
        yield
    finally:
        stop.set()
        renewal.join()
        lock.free()


class _Lock:
    """An object that names the holder of the lock, and the newest version of it that was read."""

    def __init__(self, store: Any, name: str, holder: Mapping[str, Any]) -> None:
        self.store, self.name, self.holder = store, name, {**holder}
        self.version: str | None = None
        self.signs = 0

    def take(self, waiting: LockWait) -> None:
        """Wait until the lock is ours. Raises: LakeBusy if a holder lives and patience is at its end."""
        while True:
            self._wait_until_free(waiting)
            with suppress(*_TAKEN):
                self._sign()
                return

    def keep_alive(self, stop: threading.Event) -> None:
        """Give signs of life until the block has ended."""
        signed_at = time.monotonic()
        while not stop.wait(RENEWED_EVERY):
            try:
                self._sign()
                signed_at = time.monotonic()
            except _TAKEN:
                if not self._is_ours():
                    self._give_up()
            except (BaseError, OSError):
                if time.monotonic() - signed_at >= DEAD_AFTER - RENEWED_EVERY:
                    self._give_up()

    def free(self) -> None:
        """Free the lock. If the store does not answer, others wait until we count as dead."""
        with suppress(BaseError, OSError):
            self._write(_FREE)

    def _wait_until_free(self, waiting: LockWait) -> None:
        """Wait until the lock is free, or its holder counts as dead."""
        holder, self.version = self._read_holder()
        seen_at, lives = time.monotonic(), False
        while holder != _FREE and time.monotonic() - seen_at < DEAD_AFTER:
            if lives:
                waiting.go_on(holder)
            time.sleep(_ASK_EVERY)
            holder, version = self._read_holder()
            if version != self.version:
                self.version, seen_at, lives = version, time.monotonic(), True

    def _sign(self) -> None:
        self.signs += 1
        self._write({**self.holder, "signs": self.signs})

    def _is_ours(self) -> bool:
        """Whether the object is our own, as it is when the answer to our last write was lost."""
        holder, version = self._read_holder()
        if {**holder, "signs": None} != {**self.holder, "signs": None}:
            return False
        self.version = version
        return True

    def _give_up(self) -> None:
        print(f"Another run has taken the lock {self.name}: this one ends.", file=sys.stderr, flush=True)
        os._exit(FAULT)

    def _read_holder(self) -> tuple[Mapping[str, Any], str | None]:
        try:
            answer = obstore.get(self.store, self.name)
        except FileNotFoundError:
            return _FREE, None
        try:
            return json.loads(bytes(answer.bytes())), answer.meta["e_tag"]
        except ValueError:
            return {"run_id": None}, answer.meta["e_tag"]

    def _write(self, holder: Mapping[str, Any]) -> None:
        mode: Any = {"e_tag": self.version} if self.version else "create"
        self.version = obstore.put(self.store, self.name, json.dumps(holder).encode(), mode=mode)["e_tag"]
