"""How a step ends: the exit codes, and the two errors that no retry can fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from traceback import walk_tb

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
    """What a person reads about an error; the traceback belongs to the log.

    Edge case: an error in Java is shown by its first and its innermost message. The first names the file or the table,
    the innermost what is wrong with it. Where Java itself has ended, the first error that Python received comes before.
    """
    if isinstance(error, (BadInput, PublicationRefused)):
        return list(error.sentences)
    if _is_end_of_java(error):
        first = error.__context__
        while first is not None and _is_end_of_java(first):
            first = first.__context__
        return [*(sentences_of(first) if first else ()), _JAVA_ENDED]
    said = _of_java(error) or _of_python(error)
    return [said, *(advice for found, advice in _ADVICE.items() if found in said)]


_ADVICE = {
    "No space left on device": "A disk is full. Needed: room where the lake lies and where TMPDIR does. Make room, then"
    " run the step again: it leaves the same tables as an undisturbed run.",
    "Connection refused": "A store or a service does not answer. Needed: one that listens at that address. Check the"
    " address and the network, then run the step again.",
}
"""What to do, by what the system's own message says."""

_JAVA_ENDED = (
    "Spark's Java process ended before this step did. The log above this line has what it said last: where that is"
    " OutOfMemoryError, raise HINDSIGHT_DRIVER_MEMORY; where it names a file, take that file out of the input."
)
_LONGEST = 400


def _is_end_of_java(error: BaseException) -> bool:
    """Whether Python found nothing at the other end of Py4J."""
    through_py4j = any(str(f.f_globals.get("__name__")).startswith("py4j.") for f, _ in walk_tb(error.__traceback__))
    return type(error).__name__ == "Py4JNetworkError" or (isinstance(error, ConnectionError) and through_py4j)


def _of_java(error: BaseException) -> str | None:
    """The first and the innermost message of an error that Py4J brings from Java; None where there is none."""
    problem = getattr(error, "java_exception", None)
    messages: list[str] = []
    try:
        while problem is not None:
            said = _first_line(str(problem.getMessage() or ""))
            messages.append(f"{problem.getClass().getSimpleName()}: {said}" if said else problem.getClass().getName())
            problem = problem.getCause()
    except Exception:  # Java may end while it is asked
        return None
    first, innermost = messages[:1], messages[1:][-1:]
    return " Cause: ".join(first + innermost) if messages else None


def _of_python(error: BaseException) -> str:
    text = str(error).strip()
    # Of an error in a function that Spark ran, the text begins with a traceback.
    raised = [
        line for line in text.partition("Traceback (most recent call last)")[2].splitlines()[1:] if line[:1].isalpha()
    ]
    said = _first_line(raised[0] if raised else text)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")[:_LONGEST]


def format_exit_summary(step: str, code: int, sentences: Iterable[str]) -> list[str]:
    """The last lines of a step's log: what it ends with, and why. Others write into that log too."""
    why = (f"{step}: {' '.join(sentence.split())}" for sentence in sentences)
    return [f"{step}: ends with exit code {code}", *why]
