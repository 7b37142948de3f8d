"""One run at a time on a lake: whoever comes second waits a while."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

from spark_jobs.edges import progress
from spark_jobs.shared.config import is_uri, masked
from spark_jobs.shared.exits import BadInput

_LOOK_EVERY = 0.5


class LakeBusy(RuntimeError):
    """Another run works on this lake. It ends by itself, so a retry may succeed."""


@contextmanager
def held(lake: str, name: str, run_id: str, patience: timedelta = timedelta(0)) -> Iterator[None]:
    """Holds a lock of a lake while the block runs. It is free when its process dies; behind a URI a minute later.

    Takes: `patience`, how long to wait for another run to end.
    Raises: LakeBusy, naming the holder; BadInput where the lake cannot be written.
    """
    holder = {
        "run_id": run_id,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if is_uri(lake):
        from spark_jobs.edges import object_lock

        with object_lock.held(lake, name, holder, Waiting(lake, patience)):
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
        _take(file, folder / name, Waiting(lake, patience))
        file.seek(0)
        file.truncate()
        file.write(json.dumps(holder))
        file.flush()
        yield


class Waiting:
    """How long one waits for a lake that another run holds."""

    def __init__(self, lake: str, patience: timedelta) -> None:
        self.lake = lake
        self.patience = patience
        self.began = time.monotonic()
        self.is_told = False

    def goes_on(self, holder: Any) -> None:
        """Takes: what the holder says of itself. Raises: LakeBusy where patience is at its end."""
        said = _who_holds(holder, self.lake)
        if time.monotonic() - self.began >= self.patience.total_seconds():
            raise LakeBusy(f"{said} One run at a time: wait until it ends, or give another LAKE.")
        if not self.is_told:
            progress.say(f"{said} Waiting until it ends")
            self.is_told = True


def _take(file: IO[str], path: Path, waiting: Waiting) -> None:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            waiting.goes_on(_told_in(path))
        time.sleep(_LOOK_EVERY)


def _told_in(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _who_holds(holder: Any, lake: str) -> str:
    try:
        who = f"run {holder['run_id']} (process {holder['pid']} on {holder['host']}, since {holder['since']})"
    except (KeyError, TypeError):
        who = "another run"
    return f"The lake {masked(lake)} is in use by {who}."
