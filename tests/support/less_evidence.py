"""Pieces taken out of a recorded night at random, and what is rebuilt from the rest, in plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from kafka_hindsight.catalog.bronze import LOG_FILES
from kafka_hindsight.catalog.rows import BrokerOutage, ControllerChange, Event, Failover, LogFile, LogSpan
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.brokers.controller_changes import rebuild_controller_changes
from kafka_hindsight.judgements.brokers.controllers import controller_epochs_of
from kafka_hindsight.judgements.brokers.observed import LogsAtHand
from kafka_hindsight.shared.windows import Window, in_order
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders
from tests.support.rows import row
from tools.plain_reader import read_logs

Piece = tuple[Event, ...]
"""What is left of one file, in order."""

Cut = Callable[[Piece], list[Piece]]


@dataclass(frozen=True)
class Night:
    """The files of a night's brokers, or what is left of them."""

    files: tuple[Piece, ...]

    @cached_property
    def events(self) -> list[Event]:
        """All that is left."""
        return [event for file in self.files for event in file]

    @cached_property
    def log_files(self) -> list[LogFile]:
        """The files as the ledger of a lake has them."""
        return [
            row(LOG_FILES, origin="broker", source=f[0].source, first_at=f[0].happened_at, last_at=f[-1].happened_at)
            for f in self.files
        ]

    @cached_property
    def window(self) -> Window:
        """From the first line to the last one."""
        ats = [e.happened_at for e in self.events]
        return Window(min(ats), max(ats) + timedelta(milliseconds=1))

    @cached_property
    def outages(self) -> list[BrokerOutage]:
        """The absences of brokers."""
        return rebuild_outages(self.events, [], self.window, self.log_files)

    @cached_property
    def controller_changes(self) -> list[ControllerChange]:
        """The changes of the controller."""
        return rebuild_controller_changes(self.events, self.outages, self.window)

    @cached_property
    def failovers(self) -> list[Failover]:
        """The changes of leaders."""
        logs = LogsAtHand(in_order(self.events), self.log_files, controller_epochs_of(self.events))
        spans = [LogSpan(cluster="night", broker=b, first_at=a, last_at=z) for b, a, z in logs.own_spans()]
        return rebuild_leaders(self.events, [], context_of(self.events, self.outages, spans), self.window).failovers

    def without(self, cut: Cut) -> Night:
        """The night without a piece. What is left of a file before it and after it are two files."""
        return Night(tuple(part for file in self.files for part in cut(file)))


def night_of(logs: Path) -> Night:
    """A night as it was recorded: each of its brokers' logs in one file."""
    sources: dict[str, list[Event]] = defaultdict(list)
    for event in read_logs(logs, "broker", "night")[0]:
        sources[event.source].append(event)
    return Night(tuple(tuple(sorted(own, key=_place)) for own in sources.values()))


def random_cuts(night: Night, seed: int) -> list[Cut]:
    """One to nine pieces to take out: logs, halves of them, and spans of one broker, of one kind of log, or of all."""
    dice = random.Random(seed)
    return [
        dice.choice((_whole, _half, _span_of_broker, _span_of_logs, _span_of_all))(night, dice)
        for _ in range(dice.choice((1, 2, 3, 6, 9)))
    ]


def _whole(night: Night, dice: random.Random) -> Cut:
    gone = dice.choice(_sources(night))
    return lambda file: [] if file[0].source == gone else [file]


def _half(night: Night, dice: random.Random) -> Cut:
    source, share, first = dice.choice(_sources(night)), dice.random(), dice.random() < 0.5

    def cut(file: Piece) -> list[Piece]:
        if file[0].source != source:
            return [file]
        middle = int(len(file) * share)
        return _left(file[middle:] if first else file[:middle])

    return cut


def _span_of_broker(night: Night, dice: random.Random) -> Cut:
    folder = dice.choice(sorted({s.rpartition("/")[0] for s in _sources(night)}))
    return _cut_span(night, dice, lambda source: source.rpartition("/")[0] == folder)


def _span_of_logs(night: Night, dice: random.Random) -> Cut:
    log = dice.choice(sorted({s.rpartition("/")[2] for s in _sources(night)}))
    return _cut_span(night, dice, lambda source: source.rpartition("/")[2] == log)


def _span_of_all(night: Night, dice: random.Random) -> Cut:
    return _cut_span(night, dice, lambda source: True)


def _cut_span(night: Night, dice: random.Random, is_hit: Callable[[str], bool]) -> Cut:
    """A span of at least the time within which a log is rotated: a shorter one is taken for silence."""
    start, end = busy_span(night)
    first = start + dice.random() * (end - start)
    last = first + timedelta(minutes=2, seconds=1 + dice.random() * 180)

    def cut(file: Piece) -> list[Piece]:
        if not is_hit(file[0].source):
            return [file]
        before = tuple(e for e in file if e.happened_at < first)
        after = tuple(e for e in file if e.happened_at > last)
        return [*_left(before), *_left(after)]

    return cut


def busy_span(night: Night) -> tuple[datetime, datetime]:
    """From two minutes before the first absence to the last line."""
    return min(o.down_at for o in night.outages) - timedelta(minutes=2), night.window.end


def _left(piece: Sequence[Event]) -> list[Piece]:
    return [tuple(piece)] if piece else []


def _sources(night: Night) -> list[str]:
    return sorted({file[0].source for file in night.files})


def _place(event: Event) -> tuple[datetime, int]:
    return event.happened_at, event.order
