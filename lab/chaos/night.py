"""A small night: some minutes of the recorded one, so that hundreds of retries are affordable."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

_AT = re.compile(rb"\[\d{4}-\d\d-\d\d (\d\d:\d\d:\d\d)")

FIRST, HALF, LAST, LATE = b"01:41:30", b"01:45:30", b"01:49:00", b"01:51:00"
"""Rebalances, failovers and an outage lie in these minutes of the recorded night."""


class Planned(NamedTuple):
    """A step of a night, and the settings that it runs with."""

    night: str
    step: str
    settings: dict[str, Any]

    @property
    def what(self) -> str:
        """How `--steps` names it."""
        return f"{self.step}, {self.night}"


def cut_night(sample: Path, folder: Path, last: bytes) -> Path:
    """Write the logs and readings of the sample up to an instant, from the same first one; give the folder."""
    for log in sorted((sample / "logs").rglob("*.log")):
        target = folder / log.relative_to(sample)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(_between(log.read_bytes(), last)))
    readings = (sample / "snapshots.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "snapshots.jsonl").write_bytes(b"".join(r for r in readings if FIRST <= _instant(r) < last))
    return folder


def _between(text: bytes, last: bytes) -> list[bytes]:
    """Records between the instants, each with what follows its head."""
    lines: list[bytes] = []
    is_in = False
    for line in text.splitlines(keepends=True):
        if head := _AT.match(line):
            is_in = FIRST <= head[1] < last
        if is_in:
            lines.append(line)
    return lines


def _instant(reading: bytes) -> bytes:
    match = re.search(rb'"at": ?"[^T"]*T(\d\d:\d\d:\d\d)', reading)
    return match[1] if match else b""
