"""Readings of the drill's cluster every few seconds, taken as the product takes them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spark_jobs.edges.kafka.connection import Connection
from spark_jobs.edges.kafka.snapshot import Unreachable, take

EVERY = 10.0
_ENDS_WITHIN = 30


@contextmanager
def readings(bootstrap: str, path: Path) -> Iterator[None]:
    """Takes readings into a SNAPSHOTS file for as long as the block lasts, one at its start and one at its end.

    Edge case: a block that raises has no reading at its end, and does not wait for the one under way.
    """
    over = threading.Event()
    connection = Connection.of("the drill's cluster", {"bootstrap.servers": bootstrap, "default.api.timeout.ms": 5000})

    def _take() -> None:
        with path.open("a", encoding="utf-8") as file:
            while True:
                is_last = over.is_set()
                file.write(json.dumps(_reading(connection)) + "\n")
                file.flush()
                if is_last:
                    return
                over.wait(EVERY)

    thread = threading.Thread(target=_take, name="readings", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
    thread.join(_ENDS_WITHIN)


def _reading(connection: Connection) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    try:
        return take(connection)
    except Unreachable as nobody:
        return {"at": at, "error": str(nobody)}
