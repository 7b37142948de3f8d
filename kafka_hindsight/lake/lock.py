"""Locks of a lake: one holder of a name at a time, and none that is dead.

On this machine the lock is a file, which the system frees when its process dies. A process that stands still keeps it.
In an object store it is the state machine of `lock_states`.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from kafka_hindsight.lake.lock_states import FAILED, FREE, READS, Answer, Contender, Phase
from kafka_hindsight.lake.objects import ObjectFolder, Replaced, compares
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.shared import progress, timings
from kafka_hindsight.shared.exits import FAULT, BadInput
from kafka_hindsight.shared.held_locks import CHECKS

FOLDER = "locks"
"""The folder of a lake that has its locks."""

RENEWED_EVERY = 15.0
"""Seconds between two signs of life of a holder."""

_LOOK_EVERY, _ASK_EVERY = 0.1, 1.0
"""Seconds between two looks at a lock that another run holds: at a file, and at an object."""


_TRIES = 3
"""Requests in a row without an answer after which a store that is asked for a lock counts as out of reach."""


@contextmanager
def hold_lock(
    lake: str,
    name: str,
    run_id: str,
    patience: timedelta = timedelta(0),
    succeed: Callable[[], object] | None = None,
) -> Iterator[None]:
    """Hold a lock of a lake while the block runs.

    A process that dies frees the lock; behind a URI a minute later.

    Args:
        lake: The lake.
        name: The name of the lock.
        run_id: The run, which others name while they wait.
        patience: How long to wait for another run to end.
        succeed: Called before the block in the place of a holder that died; see `lock_states`.

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
    waiting = LockWait(lake, name, patience)
    if compares(lake):
        with _hold_object(lake, name, holder, waiting) as contender:
            if contender.is_successor and succeed:
                succeed()
            yield
    elif is_uri(lake):
        yield
    else:
        with _hold_file(lake, name, holder, waiting):
            yield


@contextmanager
def _hold_file(lake: str, name: str, holder: Mapping[str, Any], waiting: LockWait) -> Iterator[None]:
    place = Path(lake) / FOLDER / name
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        file = open(place, "a+", encoding="utf-8")  # noqa: SIM115 (closed by the with below)
    except OSError as refusal:
        raise BadInput(
            f"The lake {lake} cannot be written: {refusal.strerror}. "
            "Needed: a folder in which this user may create files. Give another LAKE."
        ) from refusal
    with file:
        _take(file, place, waiting)
        waiting.end()
        file.seek(0)
        file.truncate()
        file.write(json.dumps(holder))
        file.flush()
        yield


def _take(file: IO[str], place: Path, waiting: LockWait) -> None:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            waiting.go_on(_holder_in(place))
        time.sleep(_LOOK_EVERY)


def is_held(lake: str) -> bool:
    """Whether a run holds a lock of a lake on this machine."""
    for place in Path(lake, FOLDER).glob("*"):
        with place.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
    return False


def _holder_in(place: Path) -> Any:
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


class LakeBusy(RuntimeError):
    """Another run works on this lake. It ends by itself, so a retry may succeed."""


class LockWait:
    """A wait for a lock that another run holds, as long as patience lasts."""

    def __init__(self, lake: str, name: str, patience: timedelta) -> None:
        self.lake, self.name, self.patience = lake, name, patience
        self.began = time.monotonic()
        self.is_reported = False

    def go_on(self, holder: Any) -> None:
        """Report the holder once. Raises: LakeBusy if patience is at its end."""
        sentence = _who_holds(holder, self.lake, self.name)
        if time.monotonic() - self.began >= self.patience.total_seconds():
            raise LakeBusy(f"{sentence} One run at a time: wait until it ends, or give another LAKE.")
        if not self.is_reported:
            progress.say(f"{sentence} Waiting until it ends")
            self.is_reported = True

    def end(self) -> None:
        """Keep how long it took, if there was anything to wait for."""
        if self.is_reported:
            waited_s = round(time.monotonic() - self.began, 3)
            timings.keep_longest(timings.WAIT, timings.Timing(waited_s, f"the lock {self.name}"))


def _who_holds(holder: Any, lake: str, name: str) -> str:
    try:
        who = f"run {holder['run_id']} (process {holder['pid']} on {holder['host']}, since {holder['since']})"
    except (KeyError, TypeError):
        who = "another run"
    return f"The lake {masked(lake)} ({name}) is in use by {who}."


@contextmanager
def _hold_object(lake: str, name: str, holder: Mapping[str, Any], waiting: LockWait) -> Iterator[Contender]:
    try:
        lock = _ObjectLock(ObjectFolder(f"{lake.rstrip('/')}/{FOLDER}"), name, holder)
        contender = lock.take(waiting)
        waiting.end()
    except OSError as refusal:
        raise BadInput(
            f"The lake {masked(lake)} cannot be written: {masked(str(refusal)).splitlines()[0]}. Needed: a store that "
            "this machine reaches, and the right to write there. Check LAKE and the credentials in the environment."
        ) from refusal
    stop = threading.Event()
    renewal = threading.Thread(target=lock.keep_alive, args=(stop,), daemon=True)
    renewal.start()
    CHECKS[contender.token] = lock.check
    end = FAILED
    try:
        yield contender
        end = FREE
    finally:
        del CHECKS[contender.token]
        stop.set()
        renewal.join()
        lock.leave(end)


class _ObjectLock:
    """Asks the store what the state machine says."""

    def __init__(self, objects: ObjectFolder, name: str, holder: Mapping[str, Any]) -> None:
        self._objects, self._name, self._signs = objects, name, 0
        self._state = Contender(uuid4().hex)
        self._holder = {**holder, "token": self._state.token}
        self._turn = threading.Lock()

    def take(self, waiting: LockWait) -> Contender:
        """Wait until the lock is ours. Raises: LakeBusy if a holder lives and patience is at its end."""
        failures = 0
        while self._state.phase is not Phase.HOLDING:
            try:
                self._ask()
                failures = 0
            except OSError:
                failures += 1
                if failures == _TRIES:
                    raise
            if self._state.answer is Answer.ALIVE:
                waiting.go_on(self._state.holder)
            if self._state.answer in (Answer.ALIVE, Answer.QUIET, Answer.NONE):
                time.sleep(_ASK_EVERY)
        return self._state

    def keep_alive(self, stop: threading.Event) -> None:
        """Give signs of life until the block has ended."""
        while not stop.wait(RENEWED_EVERY):
            with suppress(OSError), self._turn:
                self._ask_while_in_doubt()
                self._ask()
                self._ask_while_in_doubt()

    def check(self) -> None:
        """End this process if the lock is not ours. Raises: OSError if the store does not answer."""
        with self._turn:
            self._state = self._state.in_doubt()
            self._ask_while_in_doubt()

    def leave(self, end: Mapping[str, Any]) -> None:
        """Give the lock back. If the store does not answer, others wait until we count as dead."""
        if self._state.phase is Phase.LOST:
            return
        with suppress(OSError, Replaced):
            self._objects.replace(self._name, json.dumps(end).encode(), self._state.version)

    def _ask_while_in_doubt(self) -> None:
        while self._state.phase is Phase.DOUBTING:
            self._ask()
        if self._state.phase is Phase.LOST:
            _give_up(self._name)

    def _ask(self) -> None:
        """Do what the state asks for: read the object, or write it. Raises: OSError, after the state."""
        try:
            if self._state.phase in READS:
                asked_at = time.monotonic()
                content, version = self._objects.read(self._name)
                self._state = self._state.after_read(_holder_of(content), version, asked_at, time.monotonic())
            else:
                self._signs += 1
                sign = json.dumps({**self._holder, "signs": self._signs}).encode()
                self._state = self._state.after_write(self._objects.replace(self._name, sign, self._state.version))
        except Replaced:
            self._state = self._state.after_refusal()
        except OSError:
            self._state = self._state.after_silence()
            raise


def _holder_of(content: bytes | None) -> Mapping[str, Any]:
    try:
        return FREE if content is None else json.loads(content)
    except ValueError:
        return {"run_id": None}


def _give_up(name: str) -> None:
    print(f"Another run has taken the lock {name}: this one ends.", file=sys.stderr, flush=True)
    os._exit(FAULT)
