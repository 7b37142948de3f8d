"""One absence of a broker: what is known of its beginning, its end and the time between."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.catalog.rows import Event, Quote
from kafka_hindsight.judgements.brokers.liveness import LivenessSignal, Signal
from kafka_hindsight.judgements.reasoning.evidence import quote

ENDS = (Signal.SHUTDOWN, Signal.STOPPED, Signal.HALTED, Signal.FAULTED)
"""The signals with which a process says that it ends."""


@dataclass(frozen=True)
class Absence:
    """One absence of one broker, as far as lines or snapshots show it.

    `began_with` is the broker's shutdown, halt or failed start; None where others detected the absence. `restart`
    shows a new process. `last_line` is the broker's own last line before, `failure` the first failure to reach it.
    `last_seen_at` is the last proof before it that the broker served, `gone_by` the first proof that it did not,
    `proven_until` the last one; `silent_from`: from then on a line of the broker is not of the time before.
    `was_active`: it wrote lines while it was considered down. `shows_starts`: a start of the broker would be in the
    lines. `shows_start`: what happened to the broker just before is in logs that are at hand; `shows_end`: so is all
    since; `known_until`: up to then a return would be in logs at hand; `is_end_exact`: a line shows the return itself.
    `is_over`: its process had ended. `failures` show starts that failed, `failed_starts` counts these. `snapshots`
    quote those that alone show it. `observed_until` is the last known instant.
    """

    broker: int
    down_at: datetime
    observed_until: datetime
    gone_by: datetime
    proven_until: datetime
    silent_from: datetime
    began_with: Signal | None = None
    detected_at: datetime | None = None
    last_seen_at: datetime | None = None
    up_at: datetime | None = None
    restart: LivenessSignal | None = None
    last_line: Event | None = None
    failure: Event | None = None
    was_active: bool = False
    shows_starts: bool = False
    shows_start: bool = True
    shows_end: bool = True
    is_end_exact: bool = True
    known_until: datetime | None = None
    is_over: bool = False
    failures: tuple[Event, ...] = ()
    failed_starts: int = 0
    lines: tuple[Event, ...] = ()
    snapshots: tuple[Quote, ...] = ()

    @property
    def evidence(self) -> list[Quote]:
        """The lines or snapshots that show it."""
        return [*map(quote, self.lines), *self.snapshots]

    @property
    def last_heard_at(self) -> datetime | None:
        """The broker's own last sign of life. A shutdown or a halt is one."""
        if self.last_line:
            return self.last_line.happened_at
        return self.down_at if self.began_with else None

    @property
    def lasted_at_least(self) -> timedelta:
        """From the first proof that it did not serve to the last one: the return itself, where a line shows it.

        Where logs of the time between are missing, it may have served and gone again: up to there.
        """
        if not self.shows_end and self.known_until:
            return max(timedelta(), min(self.known_until, self.proven_until) - self.gone_by)
        shown = (self.up_at if self.is_end_exact else None) or self.known_until if self.shows_end else None
        return max(timedelta(), max(shown or self.proven_until, self.proven_until) - self.gone_by)

    @property
    def lasted_at_most(self) -> timedelta | None:
        """From the last proof that it served to the next one; None where either is not known."""
        since = self.last_seen_at or (self.down_at if self.began_with in ENDS else None)
        return max(self.lasted_at_least, self.up_at - since) if since and self.up_at else None

    @property
    def is_told_by_itself(self) -> bool:
        """Whether the broker's own log alone shows that it was away to the end: up to its start, or to no start.

        Edge case: whether one that was active meanwhile served is what only controllers know.
        """
        is_own = self.restart is not None and self.restart.is_own
        return self.up_at is None or (is_own and self.is_end_exact and not self.was_active)

    def meets(self, start: datetime, end: datetime | None) -> bool:
        """Whether it lasted at any instant of a span; `end` None: of a span that has not ended."""
        return (end is None or self.down_at <= end) and (self.up_at is None or self.up_at >= start)
