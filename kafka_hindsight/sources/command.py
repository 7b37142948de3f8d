"""What commands print: each command's standard output is a log, such as that of `kubectl logs --timestamps`."""

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
from kafka_hindsight.sources.model import Batch, Line, Period, SourceFails, batched

SINCE = "{since}"
"""What stands in a command for the instant from which it is to print."""

_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d) ")
_AT_ONCE = 1_000
"""Lines of a batch."""
_QUOTED = 200


class Ties:
    """The last instant that was taken, and what was taken of it. Instants are text or numbers that sort by time.

    A command that is asked from an instant on prints again what it has of that instant.
    """

    def __init__(self, position: Any) -> None:
        self.at: Any = position["at"] if position else None
        self.taken: Counter[str] = Counter(position["taken"] if position else ())

    @property
    def position(self) -> Any:
        """What JSON can hold of it; None where nothing was taken yet."""
        return None if self.at is None else {"at": self.at, "taken": dict(sorted(self.taken.items()))}

    def new(self, entries: Iterable[tuple[Any, Line]]) -> Iterator[Line]:
        """The lines of an answer that were not taken yet. Takes: each with its instant.

        Edge case: within an answer the clock may go back; what lies before the instant that was asked for was taken.
        """
        begin, again = self.at, self.taken.copy()
        for at, line in entries:
            mark = hashlib.sha256(line.text).hexdigest()[:16]
            if begin is not None and (at < begin or (at == begin and again[mark] > 0)):
                again[mark] -= at == begin
                continue
            if self.at is None or at > self.at:
                self.at, self.taken = at, Counter()
            self.taken[mark] += at == self.at
            yield line


@dataclass(frozen=True)
class Commands:
    """`commands`: by the name of each log, the program with its arguments. No shell reads them.

    The lines that they print begin with instants, in the order of time: by these they are asked for what is new.
    """

    commands: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        wrong = [log for log, command in self.commands.items() if not command or isinstance(command, str)]
        if wrong or not self.commands:
            found = ", ".join(wrong) or "none"
            raise BadInput(f"commands has {found}. Needed: for each log a list: a program and its arguments. Mend it.")

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """Each command once, to its end. The position: for each log the last instant that it printed."""
        reached = dict(position or {})
        for log, command in self.commands.items():
            ties = Ties(reached.get(log))
            for lines in _printed(log, command, ties, period):
                reached[log] = ties.position
                yield Batch(lines, dict(reached))


def _printed(log: str, command: Sequence[str], ties: Ties, period: Period) -> Iterator[list[Line]]:
    since = _instant(ties.at) if ties.at else period.since
    asked = [word.replace(SINCE, f"{since:%Y-%m-%dT%H:%M:%SZ}") for word in command]
    try:
        process = subprocess.Popen(asked, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    except OSError as refusal:
        raise BadInput(
            f"The command for {log} cannot be started: {refusal}. Needed: a program of this machine."
        ) from None
    with process:
        assert process.stdout
        try:
            yield from batched(ties.new(_stamped(log, process.stdout)), _AT_ONCE)
            if code := process.wait():
                raise SourceFails(f"The command for {log} ended with code {code}. What it wrote to stderr says why.")
        finally:
            process.kill()


def _stamped(log: str, printed: Iterable[bytes]) -> Iterator[tuple[str, Line]]:
    """Lines with their instants. A line without one has that of the line before: some programs print traces so."""
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
    """The instant that a line begins with, in UTC and nanoseconds: text that sorts as instants do."""
    found = _STAMP.match(text)
    if not found:
        return None
    second = datetime.fromisoformat(f"{found[1].decode()}{found[3].decode()}").astimezone(UTC)
    return f"{second:%Y-%m-%dT%H:%M:%S}.{(found[2] or b'').decode():0<9}"


def _instant(at: str) -> datetime:
    """The second in which an instant lies: programs round a finer one in ways of their own."""
    return datetime.fromisoformat(at.partition(".")[0]).replace(tzinfo=UTC)
