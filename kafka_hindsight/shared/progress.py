"""Print the progress of a step to its log, and to the terminal that waits for it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from kafka_hindsight.shared.exits import format_exit_summary

FILE_VARIABLE = "HINDSIGHT_PROGRESS"
"""The variable that names the file that a terminal follows; a scheduled run has none."""

LOG_VARIABLE = "HINDSIGHT_LOG"
"""The variable that names the log of an audit that a terminal follows."""

INTERVAL_S = 10
"""Seconds between two progress sentences of long work. Our choice."""

T = TypeVar("T")


def say(text: str) -> None:
    """Print a sentence about the work in progress."""
    print(text, flush=True)
    _append(event="says", text=text)


def begins(step: str, sentence: str) -> None:
    """Report that a step begins."""
    print(f"{step}: {sentence}", flush=True)
    _append(event="begins", step=step, text=sentence)


def ends(step: str, exit_code: int, sentences: list[str], summary: dict[str, Any]) -> None:
    """Report that a step ends: with its summary, or with the sentences that say why it failed."""
    print("\n".join(format_exit_summary(step, exit_code, sentences)), flush=True)
    _append(event="ends", step=step, exit_code=exit_code, sentences=sentences, summary=summary)


def reported(items: Sequence[T], size: Callable[[T], int]) -> Iterator[T]:
    """Pass items on, and say every ten seconds how many of their bytes are read and how long the rest takes.

    Args:
        items: The pieces of work, one after another.
        size: The bytes of an item.

    Yields:
        The items, unchanged.
    """
    began = last = time.monotonic()
    bytes_read, total = 0, sum(map(size, items))
    for item in items:
        now = time.monotonic()
        if bytes_read and now - last >= INTERVAL_S:
            last = now
            estimate = time_left(now - began, bytes_read / total)
            say(f"{bytes_read / 1e6:,.0f} of {total / 1e6:,.0f} MB of this pass are read; {estimate}")
        yield item
        bytes_read += size(item)


def time_left(elapsed_s: float, share: float) -> str:
    """The time that is left at the same speed, in words.

    Args:
        elapsed_s: Seconds that the work has taken so far.
        share: The part that is done, between 0 and 1, and not 0.

    Returns:
        A phrase such as `about 4 min left`.
    """
    seconds = elapsed_s * (1 - share) / share
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"


def _append(**entry: Any) -> None:
    if path := os.environ.get(FILE_VARIABLE):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry, default=str) + "\n")
