"""One run at a time on a lake: a second one waits a while."""

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

from kafka_hindsight.lake import object_lock
from kafka_hindsight.lake.waiting import Waiting
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.shared.exits import BadInput

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
        with object_lock.hold_lock(lake, name, holder, Waiting(lake, patience)):
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


def _take(file: IO[str], path: Path, waiting: Waiting) -> None:
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
