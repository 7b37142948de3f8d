"""Short nights of real lines: parts of the recorded night, each moved to a day of its own."""

from __future__ import annotations

import json
import os
import re
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from kafka_hindsight.audit.inputs import SAMPLE
from lab.bench.nights import later, snapshots_later

RECORDED = date(2026, 11, 21)
_HEAD = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)|%\d\|(\d+)\.")

Part = tuple[str, str]
"""From when to when of the recorded night, by its clock."""

PARTS: tuple[Part, ...] = (
    ("01:40:00", "01:43:10"),
    ("01:43:10", "01:46:04"),
    ("01:46:04", "01:50:22"),
    ("01:50:22", "01:52:00"),
)
"""Cut between scenarios: members that pause and die; a storm; a slow consumer; brokers that are killed and rolled."""


def last_night(now: datetime) -> date:
    """The day that the schedule audits at `now`: at two in the morning the one that ended at midnight."""
    return (now - timedelta(hours=2)).date() - timedelta(days=1)


def write_nights(target: Path, days: tuple[date, ...]) -> Path:
    """Logs, client logs and readings of these days, one part of the recorded night each, as one history at rest."""
    rested = time.time() - timedelta(hours=1).total_seconds()
    for path in sorted(p for p in SAMPLE.rglob("*") if p.suffix == ".log" or p.name == "snapshots.jsonl"):
        copy = target / path.relative_to(SAMPLE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text()
        copy.write_text("".join(_moved(path, text, part, day) for part, day in zip(PARTS, days, strict=True)))
        os.utime(copy, (rested, rested))
    return target


def _moved(path: Path, text: str, part: Part, day: date) -> str:
    start, end = (datetime.fromisoformat(f"{RECORDED} {at}") for at in part)
    if path.suffix == ".jsonl":
        return snapshots_later(_readings(text, start, end), day - RECORDED)
    return later(_lines(text, start, end), day - RECORDED)


def _lines(text: str, start: datetime, end: datetime) -> str:
    """The records between two instants, each with the lines that belong to it."""
    kept, is_inside = [], False
    for line in text.removesuffix("\n").split("\n"):
        if head := _HEAD.match(line):
            is_inside = start <= _instant(head) < end
        if is_inside:
            kept.append(line)
    return "".join(f"{line}\n" for line in kept)


def _instant(head: re.Match[str]) -> datetime:
    if head[1]:
        return datetime.fromisoformat(head[1])
    return datetime.fromtimestamp(int(head[2]), UTC).replace(tzinfo=None)


def _readings(text: str, start: datetime, end: datetime) -> str:
    dated = ((datetime.fromisoformat(json.loads(line)["at"]).replace(tzinfo=None), line) for line in text.splitlines())
    return "".join(f"{line}\n" for at, line in dated if start <= at < end)
