"""Positions in time: of what happened at the last instant, what was taken already."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Ties(Generic[T]):
    """The last instant that was taken, and what was taken of it. Instants are text or numbers that sort by time.

    A source that is asked from an instant on gives again what it holds of that instant.
    """

    def __init__(self, position: Any) -> None:
        self.at: Any = position["at"] if position else None
        self.taken: Counter[str] = Counter(position["taken"] if position else ())

    @property
    def position(self) -> Any:
        """What JSON can hold of it; None where nothing was taken yet."""
        return None if self.at is None else {"at": self.at, "taken": dict(sorted(self.taken.items()))}

    def new(self, entries: Iterable[tuple[Any, bytes, T]]) -> Iterator[T]:
        """Those of an answer that were not taken yet. Takes: each with its instant and what it is known by.

        Edge case: within an answer the clock may go back; what lies before the instant that was asked for was taken.
        """
        begin, again = self.at, self.taken.copy()
        for at, known_by, entry in entries:
            mark = hashlib.sha256(known_by).hexdigest()[:16]
            if begin is not None and (at < begin or (at == begin and again[mark] > 0)):
                again[mark] -= at == begin
                continue
            if self.at is None or at > self.at:
                self.at, self.taken = at, Counter()
            self.taken[mark] += at == self.at
            yield entry
