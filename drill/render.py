"""Logs written in another layout: what Kafka would have written with another pattern in its settings."""

from __future__ import annotations

import re
from datetime import datetime

from drill.plain_reader import Record

THREAD = "kafka-request-handler-3"
LEVEL = re.compile(r"\[[^\]]*\] ([A-Z]+) ")
_WORD = re.compile(r"%(-?\d*)(?:[.]\d+)?(pid|property|logger|[dptcLXxm]|n)((?:\{[^}]*\})*)")


def in_pattern(record: Record, pattern: str) -> str:
    """A record of Apache's layout as a pattern lays it out; its stack trace follows as ever."""
    at: datetime = record.happened_at  # type: ignore[assignment]
    level = LEVEL.match(record.text)
    words = {
        "d": f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}",
        "p": level[1] if level else "INFO",
        "t": THREAD,
        "c": record.logger or "",
        "logger": abbreviated(record.logger or ""),
        "L": "66",
        "pid": "1",
        "property": "shop",
        "X": "",
        "x": "[]",
        "m": record.message,
        "n": trace_of(record),
    }

    def said(word: re.Match[str]) -> str:
        value = words[word[2]]
        if word[2] == "c" and word[3] == "{1}":
            value = value.rpartition(".")[2]
        width = int(word[1] or 0)
        return value.ljust(-width) if width < 0 else value.rjust(width)

    return _WORD.sub(said, pattern)


def trace_of(record: Record) -> str:
    """What follows the line that names the logger."""
    ends = f"{record.message} ({record.logger})"
    return record.text[record.text.index(ends) + len(ends) :] if ends in record.text else ""


def abbreviated(logger: str) -> str:
    """A logger's name as logback shortens it: the first letters of its packages."""
    *packages, name = logger.split(".")
    return ".".join([*(p[0] for p in packages), name])
