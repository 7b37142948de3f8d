"""How a step ends: the exit codes, and the two errors that no retry can fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

DONE = 0
FAULT = 1
BAD_INPUT = 2
REFUSED = 42

NEVER_RETRIED = frozenset({BAD_INPUT, REFUSED})


class BadInput(ValueError):
    """The input or the settings cannot be used. Each sentence says what was found, what was needed, what to do."""

    def __init__(self, *sentences: str) -> None:
        self.sentences: Sequence[str] = sentences
        super().__init__("\n".join(sentences))


class PublicationRefused(RuntimeError):
    """A critical expectation failed: gold stays as it was. Each sentence names what was refused and why."""

    def __init__(self, *sentences: str) -> None:
        self.sentences: Sequence[str] = sentences
        super().__init__("\n".join(sentences))


def exit_code(error: BaseException) -> int:
    """The exit code that an error means."""
    if isinstance(error, BadInput):
        return BAD_INPUT
    if isinstance(error, PublicationRefused):
        return REFUSED
    return FAULT


def sentences_of(error: BaseException) -> list[str]:
    """What a person reads about an error; the traceback belongs to the log."""
    if isinstance(error, (BadInput, PublicationRefused)):
        return list(error.sentences)
    first = str(error).strip().splitlines()[:1]
    return [f"{type(error).__name__}: {first[0]}" if first else type(error).__name__]


def format_exit_summary(step: str, code: int, sentences: Iterable[str]) -> list[str]:
    """The last lines of a step's log: what it ends with, and why. Others write into that log too."""
    return [ends_line(step, code), *(f"{step}: {' '.join(sentence.split())}" for sentence in sentences)]


def parse_exit_summary(step: str, code: int, log: Sequence[str]) -> list[str]:
    """The sentences of a format_exit_summary; none where the step ended without one."""
    if ends_line(step, code) not in log:
        return []
    after = log[len(log) - list(reversed(log)).index(ends_line(step, code)) :]
    return [line.removeprefix(f"{step}: ") for line in after if line.startswith(f"{step}: ")]


def ends_line(step: str, code: int) -> str:
    """The line of a log that says how a step ended."""
    return f"{step}: ends with exit code {code}"
