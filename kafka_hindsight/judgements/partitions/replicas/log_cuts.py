"""Each time that a replica cut its log: which lines show it, and what went."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property

from kafka_hindsight.catalog.rows import Event

_ONE_CUT = timedelta(seconds=10)
"""A cut may take several steps, and more than one line shows it."""
_AT_FOLLOWING = timedelta(minutes=1)
"""A follower cuts before it fetches, so its log is as long as when it began to follow."""
_RESET = re.compile(r"from (\d+) to (?:the )?current leader's (latest|start) offset")


@dataclass(frozen=True)
class Cut:
    """One cut of one replica's log, with all lines that show it.

    `follows`: the line with which the replica began to follow its leader. `loaded`: the last line before the cut that
    shows its log end.
    """

    lines: Sequence[Event]
    follows: Event | None = None
    loaded: Event | None = None

    @property
    def first(self) -> Event:
        """The first line that shows it."""
        return self.lines[0]

    @property
    def broker(self) -> int:
        """The replica."""
        assert self.first.broker is not None
        return self.first.broker

    @cached_property
    def offsets(self) -> list[int]:
        """The offsets to which the lines cut."""
        return [e.log_offset for e in self.lines if e.log_offset is not None]

    @property
    def to(self) -> int:
        """Where the log ends after it, or starts where the whole log was dropped."""
        return self.offsets[-1] if self.is_whole else min(self.offsets)

    @property
    def is_whole(self) -> bool:
        """Whether the whole log was dropped."""
        return _reset(self.lines[-1])[1] == "start"

    @cached_property
    def log_end(self) -> int | None:
        """Where the log ended before the cut: by the line itself, or by the one before that shows the log end."""
        named = next((end for end, _ in map(_reset, self.lines) if end is not None), None)
        if named is not None:
            return named
        before = self.follows or self.loaded
        if before is None or self.first.happened_at - before.happened_at > _AT_FOLLOWING:
            return None
        end = before.log_offset
        return end if end is not None and end >= min(self.offsets) else None

    @property
    def records(self) -> int | None:
        """How many records were cut; None where that is not known, or where the log had been cut by then."""
        return None if self.is_whole or self.log_end is None else (self.log_end - self.to) or None


@dataclass
class _Replica:
    """One replica while its partition's lines are read in order."""

    follows: Event | None = None
    loaded: Event | None = None
    cuts: list[Cut] = field(default_factory=list)

    def see(self, event: Event) -> None:
        if event.kind == "log_end_loaded":
            self.loaded = event
        elif event.kind == "follower_started":
            self.follows = event
        elif event.kind == "leader_started":
            self.follows = None
        elif _is_cut(event):
            self._cut(event)

    def _cut(self, event: Event) -> None:
        last = self.cuts[-1] if self.cuts else None
        if last and last.follows is self.follows and event.happened_at - last.lines[-1].happened_at <= _ONE_CUT:
            self.cuts[-1] = replace(last, lines=[*last.lines, event])
        else:
            self.cuts.append(Cut([event], self.follows, self.loaded))


def cuts_of(lines: Sequence[Event]) -> list[Cut]:
    """The cuts of all replicas of one incarnation of a partition, each once.

    Takes: its events in order.
    Order: by time and broker.
    """
    replicas: defaultdict[int | None, _Replica] = defaultdict(_Replica)
    for event in lines:
        replicas[event.broker].see(event)
    cuts = [cut for broker, replica in replicas.items() if broker is not None for cut in replica.cuts]
    return sorted(cuts, key=lambda c: (c.first.happened_at, c.broker))


def _is_cut(event: Event) -> bool:
    """Whether a line shows a cut.

    Edge case: older Kafkas say in the same words that a fetch starts at this log's own end, and no record is dropped.
    Source: AbstractFetcherThread.fetchOffsetAndTruncate.
    """
    end, where = _reset(event)
    if event.kind != "log_truncated" or event.log_offset is None:
        return False
    return where != "start" or end is None or event.log_offset > end


def _reset(event: Event) -> tuple[int | None, str | None]:
    """Where the log ended, and which of the leader's offsets it is reset to."""
    found = _RESET.search(event.detail or "")
    return (int(found[1]), found[2]) if found else (None, None)
