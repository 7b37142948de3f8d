"""A process beside ours that loads Great Expectations, which takes seconds, while the night is read and judged."""

from __future__ import annotations

import atexit
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from multiprocessing import Pipe
from typing import Any

from kafka_hindsight.lake import landing
from kafka_hindsight.lake.staging import Staged
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.start.python_child import command_of, variables

_PROGRAM = "expectations.serving"
"""The module that answers: it builds on the library, so no module of the library imports it."""

_IN_LAKE = "expectations"

Verdict = dict[str, Any]
"""Whether one expectation of one table held: the columns of quality.validation_results that depend on the data."""

Docs = Mapping[str, bytes]
"""Pages of Great Expectations' Data Docs, by their paths."""


def suites_place(place: str | None, lake: str) -> str:
    """The folder of a user's own suites: what the setting EXPECTATIONS names, else that of the lake."""
    return (place or f"{lake}/{_IN_LAKE}").rstrip("/")


def may_have_suites(place: str | None, lake: str) -> bool:
    """Whether there may be suites of a user's own."""
    return bool(place) or any(name.endswith(".json") for name in landing.names_in(suites_place(place, lake)))


class Validator:
    """Validates the tables of a lake in a process of its own, which ends with ours."""

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        self._process = subprocess.Popen(
            command_of(_PROGRAM, str(theirs.fileno())),
            stdin=subprocess.DEVNULL,
            env={**os.environ, **variables()},
            pass_fds=[theirs.fileno()],
        )
        theirs.close()

    def validate(
        self, lake: str, staged: Staged, cluster: str, window: Window, place: str | None
    ) -> tuple[list[Verdict], Docs]:
        """Check what a run staged, and what it read, against what is expected of it.

        Args:
            lake: The lake.
            staged: What is staged.
            cluster: The cluster of the run.
            window: Its window.
            place: The folder of a user's own suites; None: that of the lake.

        Returns:
            See expectations.validation.validate.
        """
        return self._ask("validate_lake", lake, staged, cluster, window, place)  # type: ignore[no-any-return]

    def require_sound(self, place: str | None, lake: str) -> None:
        """Check a user's own suites. Raises: BadInput with a sentence for each expectation that cannot be checked."""
        self._ask("require_sound", place, lake)

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()

    def _ask(self, *request: Any) -> Any:
        try:
            self._connection.send(request)
            answer = self._connection.recv()
            atexit.register(self._process.wait, 10)
            atexit.register(self._connection.close)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise RuntimeError("The process that validates has ended. Its last lines are in the log.") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


@cache
def started() -> Validator:
    """The validator of this process. The first call starts it and returns at once."""
    return Validator()
