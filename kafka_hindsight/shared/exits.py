"""The exit codes of a step, and the two errors that no retry can fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from traceback import walk_tb

DONE = 0
FAULT = 1
BAD_INPUT = 2
REFUSED = 42

NEVER_RETRIED = frozenset({BAD_INPUT, REFUSED})

_ADVICE = {
    "No space left on device": "A disk is full. Needed: space for the lake and for TMPDIR. Free some space, then run"
    " the step again: it leaves the same tables as an undisturbed run.",
    "Read-only file system": "The place that the message names cannot be written. Needed: a file system that is mounted"
    " to be written, for the lake and for TMPDIR. Mount it so, or name another LAKE, then run the step again: it leaves"
    " the same tables as an undisturbed run.",
    "Permission denied": "The place that the message names is closed to this user. Needed: the right to read the input"
    " and to write the lake. Change its owner or its mode, or run as its owner, then run the step again.",
    "Connection refused": "A store or a service does not answer. Needed: one that listens at that address. Check the"
    " address and the network, then run the step again.",
}
"""Advice by a phrase of the system's own message."""

_JAVA_ENDED = (
    "Spark's Java process ended before this step did. The log above this line has its last messages. If they say"
    " OutOfMemoryError, raise HINDSIGHT_DRIVER_MEMORY. If they name a file, take that file out of the input."
)
_LONGEST = 400


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
    """The sentences that a user reads about an error; the traceback belongs to the log.

    An error in Java becomes its first message, which names the file or table, and its innermost, which names the
    problem. If Java itself has ended, the first error that Python received comes first.
    """
    if isinstance(error, (BadInput, PublicationRefused)):
        return list(error.sentences)
    if _is_end_of_java(error):
        first = error.__context__
        while first is not None and _is_end_of_java(first):
            first = first.__context__
        return [*(sentences_of(first) if first else ()), _JAVA_ENDED]
    message = _of_java(error) or _of_python(error)
    return [message, *(advice for phrase, advice in _ADVICE.items() if phrase in message)]


def _is_end_of_java(error: BaseException) -> bool:
    """Whether Py4J lost its connection to Java."""
    through_py4j = any(str(f.f_globals.get("__name__")).startswith("py4j.") for f, _ in walk_tb(error.__traceback__))
    return type(error).__name__ == "Py4JNetworkError" or (isinstance(error, ConnectionError) and through_py4j)


def _of_java(error: BaseException) -> str | None:
    """The first and the innermost message of an error from Java; None for other errors."""
    problem = getattr(error, "java_exception", None)
    messages: list[str] = []
    try:
        while problem is not None:
            message = _first_line(str(problem.getMessage() or ""))
            messages.append(
                f"{problem.getClass().getSimpleName()}: {message}" if message else problem.getClass().getName()
            )
            problem = problem.getCause()
    except Exception:  # Java may end in between
        return None
    first, innermost = messages[:1], messages[1:][-1:]
    return " Cause: ".join(first + innermost) if messages else None


def _of_python(error: BaseException) -> str:
    text = str(error).strip()
    # If a function failed in a Spark worker, the text begins with its traceback.
    error_lines = [
        line for line in text.partition("Traceback (most recent call last)")[2].splitlines()[1:] if line[:1].isalpha()
    ]
    message = _first_line(error_lines[0] if error_lines else text)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")[:_LONGEST]


def format_exit_summary(step: str, code: int, sentences: Iterable[str]) -> list[str]:
    """The last lines of a step's log: its exit code and why. Each names the step, as others write into that log too."""
    why = (f"{step}: {' '.join(sentence.split())}" for sentence in sentences)
    return [f"{step}: ends with exit code {code}", *why]
