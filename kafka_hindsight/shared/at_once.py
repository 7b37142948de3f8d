"""Tasks side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_AT_ONCE = 4
"""Tasks that run side by side. A commit is mostly planning and waiting, so one core is enough for several."""


def at_once(*tasks: Callable[[], Any]) -> list[Any]:
    """Run tasks side by side, and return their results in order. Raises: the first error, after all have ended."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [future.result() for future in [pool.submit(task) for task in tasks]]
