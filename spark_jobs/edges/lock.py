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
from typing import IO

from spark_jobs.edges import progress
from spark_jobs.shared.config import is_uri
from spark_jobs.shared.exits import BadInput

_LOOK_EVERY = 0.5


class LakeBusy(RuntimeError):
    """Another run works on this lake. It ends by itself, so a retry may succeed."""


@contextmanager
def held(lake: str, name: str, run_id: str, patience: timedelta = timedelta(0)) -> Iterator[None]:
    """Holds a lock of a local lake while the block runs; the system frees it when its process dies.

    Takes: `patience`, how long to wait for another run to end.
    Raises: LakeBusy, naming the holder; BadInput where the lake cannot be written.
    Edge case: a lake behind a URI has no such lock; there the schedule's one active run is all that guards it.
    """
    if is_uri(lake):
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
        _take(file, folder / name, lake, patience)
        holder = {
            "run_id": run_id,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        file.seek(0)
        file.truncate()
        file.write(json.dumps(holder))
        file.flush()
        yield


def _take(file: IO[str], path: Path, lake: str, patience: timedelta) -> None:
    began = time.monotonic()
    is_told = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as refusal:
            if time.monotonic() - began >= patience.total_seconds():
                raise LakeBusy(
                    f"{_who_holds(path, lake)} One run at a time: wait until it ends, or give another LAKE."
                ) from refusal
        if not is_told:
            progress.say(f"{_who_holds(path, lake)} Waiting until it ends")
            is_told = True
        time.sleep(_LOOK_EVERY)


def _who_holds(path: Path, lake: str) -> str:
    try:
        h = json.loads(path.read_text(encoding="utf-8"))
        who = f"run {h['run_id']} (process {h['pid']} on {h['host']}, since {h['since']})"
    except (OSError, ValueError, KeyError):
        who = "another run"
    return f"The lake {lake} is in use by {who}."
