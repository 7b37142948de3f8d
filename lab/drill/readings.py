"""Readings of the drill's cluster every few seconds, taken as the product takes them, by a process of its own.

`python -m lab.drill.readings BOOTSTRAP FILE` takes them until its stdin ends, and then the last one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_hindsight.kafka.cluster_snapshot import Unreachable, take
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.settings.home import HOME
from lab.drill import processes

EVERY = 10.0
_ENDS_WITHIN = 30


@contextmanager
def readings(bootstrap: str, path: Path) -> Iterator[None]:
    """Take readings into a SNAPSHOTS file for as long as the block lasts, one at its start and one at its end.

    A block that raises has no reading at its end. A reading that is running is ended with its processes.
    """
    command = [sys.executable, "-m", "lab.drill.readings", bootstrap, str(path)]
    taker = processes.start(command, cwd=HOME, stdin=subprocess.PIPE)
    try:
        yield
        with suppress(subprocess.TimeoutExpired):
            taker.communicate(timeout=_ENDS_WITHIN)
    finally:
        processes.kill(taker)


def main() -> None:
    """Take readings until stdin ends."""
    bootstrap, path = sys.argv[1:]
    over = threading.Event()
    threading.Thread(target=_wait_for_end, args=(over,), daemon=True).start()
    connection = Connection.of("the drill's cluster", {"bootstrap.servers": bootstrap, "default.api.timeout.ms": 5000})
    with Path(path).open("a", encoding="utf-8") as file:
        is_last = False
        while not is_last:
            is_last = over.is_set()
            file.write(json.dumps(_reading(connection)) + "\n")
            file.flush()
            over.wait(EVERY)


def _wait_for_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def _reading(connection: Connection) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    try:
        return take(connection)
    except Unreachable as nobody:
        return {"at": at, "error": str(nobody)}


if __name__ == "__main__":
    main()
