"""Processes beside this one that take its large work: shares of files, buckets of keys.

A process loads our code in a second, so small work stays in this one.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from typing import TypeVar

from kafka_hindsight.shared import parent
from kafka_hindsight.shared.hidden_packages import hide

MOST = 2
"""The most processes: each takes the memory of what it works on."""

A = TypeVar("A")
R = TypeVar("R")


def process_count() -> int:
    """How many processes may work at once: as many as this one may use cores, up to MOST."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST, cores)


def results_in_order(function: Callable[[A], R], arguments: Iterable[A]) -> Iterator[R]:
    """Run a function of a module on each argument in other processes, and give the results in order.

    Raises:
        Exception: What the function raised, or that a process was killed.
    """
    return _processes().map(function, arguments)


@cache
def _processes() -> ProcessPoolExecutor:
    """The processes, which start when there is work, and end with this one."""
    executor = ProcessPoolExecutor(process_count(), get_context("spawn"), _begin, (parent.as_parent(),))
    atexit.register(executor.shutdown)
    return executor


def _begin(variables: dict[str, str]) -> None:
    hide("pandas")  # pyarrow loads it where it is
    os.environ.update(variables)
    parent.watch()
