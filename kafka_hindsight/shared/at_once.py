"""Several things at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_AT_ONCE = 4
"""Commits made side by side: each is mostly planning and waiting, in which one core is enough for several."""


def at_once(*tasks: Callable[[], Any]) -> list[Any]:
    """The results of all tasks, run side by side. Raises: what the first of them raised, when all have ended."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [done.result() for done in [pool.submit(task) for task in tasks]]
