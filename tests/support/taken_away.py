"""What is taken away from the logs of a recorded night's brokers: loggers, levels, files, brokers, and its ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

_HEAD = re.compile(r"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3}] (?P<level>[A-Z]+) ")
_LOGGER = re.compile(r" \([\w.$]*?(?P<name>[\w$]+)\)$")


@dataclass(frozen=True)
class LogRecord:
    """One record of a broker's log with its trace. `file` is the name without its rotation."""

    broker: str
    file: str
    at: datetime
    level: str
    logger: str
    text: str


@dataclass(frozen=True)
class Removal:
    """What is taken away, in words, from the logs of some brokers."""

    words: str
    brokers: frozenset[str]
    takes: Callable[[LogRecord], bool]

    def __repr__(self) -> str:
        return f"{self.words} of {', '.join(sorted(self.brokers))}"


def write_rest(logs: Path, folder: Path, removal: Removal) -> Path:
    """Write what is left of the logs into a folder, file by file; a file without any record is not there."""
    for path in sorted(p for p in logs.rglob("*.log*") if p.is_file()):
        records = list(records_of(path))
        rest = [r for r in records if r.broker not in removal.brokers or not removal.takes(r)]
        if rest:
            target = folder / path.relative_to(logs)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(r.text for r in rest), encoding="utf-8")
    return folder


def records_of(path: Path) -> Iterator[LogRecord]:
    """The records of one file in order."""
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if _HEAD.match(line) and lines:
            yield _record(path, lines)
            lines = []
        lines.append(line)
    if lines:
        yield _record(path, lines)


def _record(path: Path, lines: Sequence[str]) -> LogRecord:
    head = _HEAD.match(lines[0])
    assert head, f"{path} begins with a head of Kafka's own layout"
    logger = _LOGGER.search(lines[0].rstrip()) or _LOGGER.search(lines[-1].rstrip())
    at = datetime.fromisoformat(f"{head['at']}+00:00")
    name = logger["name"] if logger else ""
    return LogRecord(path.parent.name, path.name.partition(".log")[0], at, head["level"], name, "".join(lines))
