"""The lock of a lake in an object store: an object that is replaced by who saw its last version alone.

Stores compare an object's ETag when they write (If-Match, If-None-Match), so of two that take a lock one gets it. The
holder writes its object again and again. Where that ends the holder is dead, and whoever waits takes its place.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from kafka_hindsight.lake.waiting import Waiting
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import FAULT, BadInput

RENEWED_EVERY = 15.0
"""Seconds between two signs of life of a holder."""

DEAD_AFTER = 60.0
"""Seconds without a sign of life after which a holder is dead, by the clock of whoever waits."""

_SCHEMES = ("s3://", "s3a://", "gs://", "abfs://", "abfss://")
"""Stores that compare when they write. HDFS has no ETags: there one Airflow with one active run guards a lake."""

_FREE: Mapping[str, Any] = {}
_LOOK_EVERY = 2.0
_RETRIES: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=20)}
_TAKEN = (AlreadyExistsError, PreconditionError)


@contextmanager
def held(lake: str, name: str, holder: Mapping[str, Any], waiting: Waiting) -> Iterator[None]:
    """Holds a lock while the block runs.

    Takes: what the object says of its holder; how long to wait for another one.
    Raises: LakeBusy; BadInput where the store cannot be written.
    Edge case: a process that stood still may find that another one has the lock. Then it ends at once, as a kill would
        end it.
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
    ended = threading.Event()
    alive = threading.Thread(target=lock.live, args=(ended,), daemon=True)
    alive.start()
    try:
        yield
    finally:
        ended.set()
        alive.join()
        lock.free()


class _Lock:
    """An object that says who holds the lock, and the version of it that was seen last."""

    def __init__(self, store: Any, name: str, holder: Mapping[str, Any]) -> None:
        self.store, self.name, self.holder = store, name, {**holder}
        self.version: str | None = None
        self.signs = 0

    def take(self, waiting: Waiting) -> None:
        """Waits until the lock is ours. Raises: LakeBusy where a holder lives and patience is at its end."""
        while True:
            self._see_free(waiting)
            with suppress(*_TAKEN):
                self._sign()
                return

    def live(self, ended: threading.Event) -> None:
        """Gives signs of life until the block has ended."""
        signed = time.monotonic()
        while not ended.wait(RENEWED_EVERY):
            try:
                self._sign()
                signed = time.monotonic()
            except _TAKEN:
                if not self._is_ours():
                    self._give_up()
            except (BaseError, OSError):
                if time.monotonic() - signed >= DEAD_AFTER - RENEWED_EVERY:
                    self._give_up()

    def free(self) -> None:
        """Leaves the lock to others. Edge case: where the store does not answer, they wait until we count as dead."""
        with suppress(BaseError, OSError):
            self._write(_FREE)

    def _see_free(self, waiting: Waiting) -> None:
        """Returns when the lock is free, or when its holder has given no sign of life for long enough."""
        told, self.version = self._read()
        seen_at, lives = time.monotonic(), False
        while told != _FREE and time.monotonic() - seen_at < DEAD_AFTER:
            if lives:
                waiting.goes_on(told)
            time.sleep(_LOOK_EVERY)
            told, version = self._read()
            if version != self.version:
                self.version, seen_at, lives = version, time.monotonic(), True

    def _sign(self) -> None:
        self.signs += 1
        self._write({**self.holder, "signs": self.signs})

    def _is_ours(self) -> bool:
        """Whether the object is our own, as when the answer to our last write was lost."""
        told, version = self._read()
        if {**told, "signs": None} != {**self.holder, "signs": None}:
            return False
        self.version = version
        return True

    def _give_up(self) -> None:
        print(f"Another run has taken the lock {self.name}: this one ends.", file=sys.stderr, flush=True)
        os._exit(FAULT)

    def _read(self) -> tuple[Mapping[str, Any], str | None]:
        try:
            found = obstore.get(self.store, self.name)
        except FileNotFoundError:
            return _FREE, None
        try:
            return json.loads(bytes(found.bytes())), found.meta["e_tag"]
        except ValueError:
            return {"run_id": None}, found.meta["e_tag"]

    def _write(self, told: Mapping[str, Any]) -> None:
        mode: Any = {"e_tag": self.version} if self.version else "create"
        self.version = obstore.put(self.store, self.name, json.dumps(told).encode(), mode=mode)["e_tag"]
