"""Rows by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")


def grouped(rows: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The rows of each key. Order: keys and rows as they come."""
    groups: dict[K, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
