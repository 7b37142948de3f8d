"""Sources over the recorded night, what landed from them, and readings that are killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.sources.declarations import Period
from kafka_hindsight.sources.land import number_of
from tools import plain_reader

UNTIL = datetime(2026, 11, 22, tzinfo=UTC)
PERIOD = Period(UNTIL - timedelta(days=7), UNTIL)

_BATCH = re.compile(r"[.]\d{8}-\d{6}-\d{6}[.]zst$")


def landed(folder: Path | str) -> dict[str, list[str]]:
    """The lines that landed, by their log, in the order of the batches."""
    found = defaultdict[str, list[str]](list)
    for file in sorted(Path(folder).rglob("*.zst"), key=lambda f: number_of(f.name) or 0):
        log = _BATCH.sub("", str(file.relative_to(folder)))
        with pa.input_stream(str(file), compression="zstd") as stream:
            found[log] += stream.read().decode().splitlines()
    return dict(found)


def lines_of(folder: Path) -> dict[str, list[str]]:
    """The lines of a folder of logs, by their names."""
    return {str(f.relative_to(folder)): f.read_text().splitlines() for f in sorted(folder.rglob("*.log"))}


def stamped(lines: list[str]) -> list[tuple[datetime, str]]:
    """Lines, each with the instant at which a transport took it: that of its record, or of the one before.

    Instants never go back, as a runtime's do not.
    """
    found, at = list[tuple[datetime, str]](), datetime(2026, 1, 1, tzinfo=UTC)
    for line in lines:
        told = plain_reader.read_line(line).happened_at
        at = max(at, told) if told else at
        found.append((at, line))
    return found


def with_topic(bootstrap: str, topic: str, partitions: int) -> None:
    """Makes a topic where it is not there."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    if topic not in admin.list_topics(timeout=20).topics:
        admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(20)


def in_order(bootstrap: str) -> Producer:
    """A producer that keeps the order of a partition, whatever it has to send again."""
    return Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})


def produce(producer: Producer, topic: str, lines: Mapping[str, list[str]]) -> None:
    """Writes the lines of logs, by their names as keys."""
    failed = list[Any]()

    def told(error: Any, _: Any) -> None:
        failed.extend([error] if error else [])

    for log, texts in lines.items():
        for text in texts:
            producer.produce(topic, text.encode(), log, on_delivery=told)
            producer.poll(0)
    assert producer.flush(60) == 0 and not failed


LANDING = textwrap.dedent("""
    import sys
    from datetime import UTC, datetime
    from kafka_hindsight.sources import land
    from kafka_hindsight.sources.declarations import source_at
    from kafka_hindsight.sources.declarations import Period
    land.BATCH_BYTES = 20_000
    land.land(source_at(sys.argv[1]), sys.argv[2], Period(*map(datetime.fromisoformat, sys.argv[3:])), to_end=True)
""")
"""A reading by itself, in small batches, so that a kill falls between and into them."""


def reading(place: str, folder: Path, sources: Path) -> subprocess.Popen[bytes]:
    """A process that reads a source."""
    environment = {**os.environ, "PYTHONPATH": str(HOME), "HINDSIGHT_SOURCES": str(sources)}
    return subprocess.Popen(
        [sys.executable, "-c", LANDING, place, str(folder), *(at.isoformat() for at in PERIOD)], env=environment
    )


def killed_and_read_again(place: str, folder: Path, sources: Path, kills: int = 6) -> int:
    """Readings that are killed by SIGKILL, each when one more file has landed or been begun, then one that ends.

    Gives: how many were killed before they ended.
    """
    done = 0
    for _ in range(kills):
        process, before = reading(place, folder, sources), _files(folder)
        while process.poll() is None and _files(folder) == before:
            time.sleep(0.002)
        done += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert reading(place, folder, sources).wait() == 0
    return done


def _files(folder: Path) -> set[str]:
    return {str(p) for p in folder.parent.rglob("*") if p.is_file()}
