"""Logs that commands print: a command's standard output is a log, such as that of `kubectl logs --timestamps`."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Timer
from typing import Any

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.declarations import Batch, Line, Period, SourceFails, batched

SINCE = "{since}"
"""Placeholder in a command for the instant from which it prints."""

_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d) ")
_AT_ONCE = 1_000
"""Lines of a batch."""
_QUOTED = 200

_MINUTE = len("2026-11-21T01:44")
_DIGITS = 12
"""Characters of a line's hash. Of a million lines in six hours, one in 280 million late ones is taken for another."""


class Progress:
    """The lines of the last hours that were read: a command that is asked for them again prints them again.

    Instants are text that sorts by time and begins with their minute, as `2026-11-21T01:44`.

    Attributes:
        at: The last instant that was read; None if nothing was.
    """

    def __init__(self, position: Any) -> None:
        self.at: str | None = position["at"] if position else None
        marks = position["taken"] if position else {}
        self._marks = {minute: Counter(_cut(text)) for minute, text in marks.items() if isinstance(text, str)}

    @property
    def position(self) -> Any:
        """The position as JSON; None if nothing was read yet."""
        marks = {minute: "".join(sorted(of_it.elements())) for minute, of_it in sorted(self._marks.items())}
        return None if self.at is None else {"at": self.at, "taken": marks}

    def new(self, entries: Iterable[tuple[str, Line]], oldest: str) -> Iterator[Line]:
        """Give the lines that were not read yet, out of lines with their instants.

        Args:
            entries: The lines.
            oldest: The instant from which they are asked for. Lines before it were read already.
        """
        begin, repeats = self.at, {minute: marks.copy() for minute, marks in self._marks.items()}
        for at, line in entries:
            minute, mark = at[:_MINUTE], _mark(at, line)
            is_known = minute in repeats and repeats[minute][mark] > 0
            if begin is not None and (at < oldest or is_known):
                if is_known:
                    repeats[minute][mark] -= 1
                continue
            self.at = max(at, self.at or at)
            self._marks.setdefault(minute, Counter())[mark] += 1
            yield line._replace(is_late=begin is not None and at < begin)

    def forget(self, oldest: str) -> None:
        """Forget the lines of the minutes before an instant."""
        self._marks = {minute: marks for minute, marks in self._marks.items() if minute >= oldest[:_MINUTE]}


def _mark(at: str, line: Line) -> str:
    return hashlib.sha256(at.encode() + b" " + line.text).hexdigest()[:_DIGITS]


def _cut(text: str) -> list[str]:
    return [text[n : n + _DIGITS] for n in range(0, len(text), _DIGITS)]


@dataclass(frozen=True)
class Commands:
    """A source of commands. No shell runs them.

    Each line that they print begins with an instant. They are asked for more from some hours before the last one on:
    lines may come late.

    Attributes:
        commands: By the name of each log, the program with its arguments.
        late_hours: How many hours late a line may come.
        most_minutes: How long each command may run, with the processes that it starts.
    """

    commands: Mapping[str, Sequence[str]]
    late_hours: float = 6
    most_minutes: float = 120

    def __post_init__(self) -> None:
        if self.late_hours < 0 or self.most_minutes <= 0:
            raise BadInput(
                f"late_hours is {self.late_hours} and most_minutes is {self.most_minutes}. Needed: 0 or more hours, and"
                " more than 0 minutes. Correct them."
            )
        wrong = [log for log, command in self.commands.items() if not command or isinstance(command, str)]
        if wrong or not self.commands:
            names = ", ".join(wrong) or "none"
            raise BadInput(
                f"commands has {names}. Needed: for each log a list: a program and its arguments. Correct it."
            )

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """Run each command once, to its end. The position holds, for each log, the lines of its last hours."""
        reached = dict(position or {})
        for log, command in self.commands.items():
            progress = Progress(reached.get(log))
            for lines in self._output_lines(log, command, progress, period):
                reached[log] = progress.position
                yield Batch(lines, dict(reached))
            if progress.at:
                progress.forget(_text(_instant(progress.at) - self._overlap))
                reached[log] = progress.position
                yield Batch([], dict(reached))

    @property
    def _overlap(self) -> timedelta:
        return timedelta(hours=self.late_hours)

    def _output_lines(
        self, log: str, command: Sequence[str], progress: Progress, period: Period
    ) -> Iterator[list[Line]]:
        since = _instant(progress.at) - self._overlap if progress.at else period.since
        arguments = [word.replace(SINCE, _text(since) + "Z") for word in command]
        with _running(log, arguments, self.most_minutes) as process:
            entries = _with_instants(log, process.lines)
            yield from batched(progress.new(entries, _text(since)), _AT_ONCE)
            process.require_end()


@dataclass
class _Running:
    """A command that runs, with the processes that it starts, in a group of its own."""

    log: str
    process: subprocess.Popen[bytes]
    most_minutes: float
    is_late: bool = False

    @property
    def lines(self) -> Iterable[bytes]:
        """The lines that it prints."""
        assert self.process.stdout
        return self.process.stdout

    def require_end(self) -> None:
        """Wait for its end. Raises: SourceFails if it had to be ended, or failed."""
        code = self.process.wait()
        if self.is_late:
            raise SourceFails(
                f"The command for {self.log} was ended after {self.most_minutes:g} minutes. Needed: one that ends by"
                " itself. Ask for less, or raise most_minutes."
            )
        if code:
            raise SourceFails(f"The command for {self.log} ended with code {code}. Its messages on stderr say why.")

    def run_out(self) -> None:
        """End it, since its time is over."""
        self.is_late = True
        self.end()

    def end(self) -> None:
        """End it and the processes that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


@contextmanager
def _running(log: str, arguments: Sequence[str], most_minutes: float) -> Iterator[_Running]:
    """Run a command while the block runs. Nothing of it goes on afterwards."""
    try:
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as refusal:
        raise BadInput(
            f"The command for {log} cannot be started: {refusal}. Needed: a program on this machine. Install it."
        ) from None
    running = _Running(log, process, most_minutes)
    limit = Timer(most_minutes * 60, running.run_out)
    limit.start()
    try:
        with process:
            try:
                yield running
            finally:
                running.end()
    finally:
        limit.cancel()


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


def _text(at: datetime) -> str:
    """A second as text, as instants begin."""
    return f"{at:%Y-%m-%dT%H:%M:%S}"
