"""The locks that this process holds in object stores, and what asks for each whether it still does."""

from __future__ import annotations

from collections.abc import Callable

CHECKS = dict[str, Callable[[], None]]()
"""By a name of its own for each take: ends this process if another run has taken the lock."""


def end_if_lost() -> None:
    """End this process, as a kill would end it, if another run has taken one of its locks.

    Called before each write, after what it replaces was read.

    Raises:
        OSError: A store does not answer, so it is not known.
    """
    for check in [*CHECKS.values()]:
        check()
