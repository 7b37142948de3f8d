"""Rows grouped by key, by size, into runs, or into two halves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")


def grouped(rows: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The rows of each key; keys and rows stay in order."""
    groups: dict[K, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def runs(rows: Iterable[T], belongs: Callable[[list[T], T], object]) -> list[list[T]]:
    """Rows in order, cut into runs: a row that does not belong to the run before it begins the next one."""
    result: list[list[T]] = []
    for row in rows:
        if result and belongs(result[-1], row):
            result[-1].append(row)
        else:
            result.append([row])
    return result


def with_neighbours(rows: Sequence[T]) -> Iterator[tuple[T | None, T, T | None]]:
    """Each row between the one before it and the one after it; None where there is none."""
    return zip([None, *rows], rows, [*rows[1:], None], strict=False)


def sized(rows: Iterable[T], size: Callable[[T], int], enough: int) -> Iterator[list[T]]:
    """Rows in order, in lists that end as soon as their sizes add up to enough."""
    total, current = 0, list[T]()
    for row in rows:
        current.append(row)
        total += size(row)
        if total >= enough:
            yield current
            total, current = 0, []
    if current:
        yield current


def split_by(rows: Iterable[T], holds: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """The rows for which a predicate holds, and the others."""
    halves = grouped(rows, holds)
    return halves.get(True, []), halves.get(False, [])
