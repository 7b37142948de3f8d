"""Logs that commands print: a command's standard output is a log, such as that of `kubectl logs --timestamps`."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.declarations import Batch, Line, Period, SourceFails, batched

SINCE = "{since}"
"""Placeholder in a command for the instant from which it prints."""

_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d) ")
_AT_ONCE = 1_000
"""Lines of a batch."""
_QUOTED = 200


class Ties:
    """The last instant that was read, and the lines read of it: a command that starts there prints them again.

    Instants are text or numbers that sort by time. `marks` counts the lines of the last instant by their hash.
    """

    def __init__(self, position: Any) -> None:
        self.at: Any = position["at"] if position else None
        self.marks: Counter[str] = Counter(position["taken"] if position else ())

    @property
    def position(self) -> Any:
        """The position as JSON; None if nothing was read yet."""
        return None if self.at is None else {"at": self.at, "taken": dict(sorted(self.marks.items()))}

    def new(self, entries: Iterable[tuple[Any, Line]]) -> Iterator[Line]:
        """The lines that were not read yet, out of lines with their instants.

        Within one output the clock may go back; lines before the instant where reading begins were read already.
        """
        begin, repeats = self.at, self.marks.copy()
        for at, line in entries:
            mark = hashlib.sha256(line.text).hexdigest()[:16]
            if begin is not None and (at < begin or (at == begin and repeats[mark] > 0)):
                repeats[mark] -= at == begin
                continue
            if self.at is None or at > self.at:
                self.at, self.marks = at, Counter()
            self.marks[mark] += at == self.at
            yield line


@dataclass(frozen=True)
class Commands:
    """A source of commands. No shell runs them.

    Each line that they print begins with an instant, in order of time: from the last one on they are asked for more.

    Attributes:
        commands: By the name of each log, the program with its arguments.
    """

    commands: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        wrong = [log for log, command in self.commands.items() if not command or isinstance(command, str)]
        if wrong or not self.commands:
            names = ", ".join(wrong) or "none"
            raise BadInput(
                f"commands has {names}. Needed: for each log a list: a program and its arguments. Correct it."
            )

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """Run each command once, to its end. The position holds, for each log, the last instant that it printed."""
        reached = dict(position or {})
        for log, command in self.commands.items():
            ties = Ties(reached.get(log))
            for lines in _output_lines(log, command, ties, period):
                reached[log] = ties.position
                yield Batch(lines, dict(reached))


def _output_lines(log: str, command: Sequence[str], ties: Ties, period: Period) -> Iterator[list[Line]]:
    since = _instant(ties.at) if ties.at else period.since
    arguments = [word.replace(SINCE, f"{since:%Y-%m-%dT%H:%M:%SZ}") for word in command]
    try:
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    except OSError as refusal:
        raise BadInput(
            f"The command for {log} cannot be started: {refusal}. Needed: a program on this machine. Install it."
        ) from None
    with process:
        assert process.stdout
        try:
            yield from batched(ties.new(_with_instants(log, process.stdout)), _AT_ONCE)
            if code := process.wait():
                raise SourceFails(f"The command for {log} ended with code {code}. Its messages on stderr say why.")
        finally:
            process.kill()


def _with_instants(log: str, printed: Iterable[bytes]) -> Iterator[tuple[str, Line]]:
    """Lines with their instants. A line without one, as of a stack trace, has that of the line before."""
    at = None
    for text in (line.rstrip(b"\r\n") for line in printed):
        at = _at(text) or at
        if at is None:
            raise BadInput(
                f"The command for {log} printed {text[:_QUOTED].decode(errors='replace')!r} first. Needed: lines that"
                " begin with an instant, such as 2026-11-21T01:44:29.117Z. Add --timestamps, or -o short-iso-precise to"
                " journalctl."
            )
        yield at, Line(log, text)


def _at(text: bytes) -> str | None:
    """The instant at the start of a line, in UTC and nanoseconds, as text that sorts by time."""
    match = _STAMP.match(text)
    if not match:
        return None
    second = datetime.fromisoformat(f"{match[1].decode()}{match[3].decode()}").astimezone(UTC)
    return f"{second:%Y-%m-%dT%H:%M:%S}.{(match[2] or b'').decode():0<9}"


def _instant(at: str) -> datetime:
    """The second of an instant: programs differ in how they round a finer one."""
    return datetime.fromisoformat(at.partition(".")[0]).replace(tzinfo=UTC)
