"""Short excerpts of recorded nights, as captured: `events("crash-2.8")` are those of tests/excerpts/crash-2.8."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.shared.windows import Window
from tools.plain_reader import read_logs

EXCERPTS = Path(__file__).parents[1] / "excerpts"
RECORDS = Path(__file__).parents[1] / "records-4.3"
"""Records of `__consumer_offsets` of Kafka 4.3, as JSON lines and as segments."""

WHOLE = Window(datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 22, tzinfo=UTC))

Row = Any


def events(excerpt: str) -> list[Event]:
    """What the patterns read in an excerpt. Every line of an excerpt is one that a pattern claims."""
    found, left = read_logs(EXCERPTS / excerpt, "broker", excerpt)
    assert len(found) == left.records, [r.text for r in left.unparsed]
    return found


def at(clock: str) -> datetime:
    """An instant of the recorded night: `at("01:52:23.894")`."""
    return datetime.fromisoformat(f"2026-11-21T{clock}+00:00")
