"""The longest parts of a step: of its stages, of the keys that are judged one by one, and of its waits for locks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from kafka_hindsight.shared import plain, words

STAGE, KEY, WAIT = "stage", "key", "wait"


class Timing(NamedTuple):
    """How long something took."""

    seconds: float = 0.0
    what: str = ""


_LONGEST = dict[str, Timing]()


@contextmanager
def timed(sort: str, what: str) -> Iterator[None]:
    """Measure the block, or the function that it decorates: a stage or a key of this process."""
    began = time.monotonic()
    yield
    keep_longest(sort, Timing(round(time.monotonic() - began, 3), what))


def keep_longest(sort: str, timing: Timing) -> None:
    """Keep a timing if nothing of its sort took longer."""
    _LONGEST[sort] = max(timing, _LONGEST.get(sort, Timing()))


def pop_longest() -> dict[str, Timing]:
    """The longest timing of each sort since the last call."""
    longest = dict(_LONGEST)
    _LONGEST.clear()
    return longest


def described(step: str, summary: Mapping[str, Any]) -> str:
    """The longest parts of a step in words, by its summary. Names of groups are made harmless: clients choose them."""
    longest = (
        f"its longest {sort}, {plain.visible(what)}, {_length(s)}" for sort, (s, what) in summary["longest"].items()
    )
    return "; ".join([f"{step} took {_length(summary['took_s'])}", *longest])


def _length(seconds: float) -> str:
    return words.duration(seconds * 1000)
