"""A recorded night laid end to end, one a day, for weeks; and pieces taken out of it as they go missing in life."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta

from kafka_hindsight.catalog.rows import Event
from tests.support.less_evidence import Cut, Night, Piece

DAY = timedelta(days=1)
_EPOCHS = {"controller_epoch": 20, "leader_epoch": 1000, "previous_leader_epoch": 1000}
"""How far each epoch is on at the same hour of the next day: further than a night takes it."""


def month_of(night: Night, days: int) -> Night:
    """The night again on each of so many days. Each log has a file for each day, as rotation leaves them."""
    return Night(tuple(tuple(_on(day, e) for e in file) for day in range(days) for file in night.files))


def _on(day: int, event: Event) -> Event:
    later = {name: value + day * by for name, by in _EPOCHS.items() if (value := getattr(event, name)) is not None}
    return replace(event, happened_at=event.happened_at + day * DAY, line_id=f"{day} {event.line_id}", **later)


def random_losses(month: Night, seed: int) -> list[Cut]:
    """A tenth of all files, and some of: whole days, all logs of one sort, a broker's hours, the ends of files."""
    dice = random.Random(seed)
    kinds = (_day, _sort_of_log, _broker_of_a_day, _end_of_a_file)
    return [_tenth(month, dice), *(dice.choice(kinds)(month, dice) for _ in range(dice.choice((3, 6, 9))))]


def _begin(file: Piece) -> tuple[str, datetime]:
    return file[0].source, file[0].happened_at


def _tenth(month: Night, dice: random.Random) -> Cut:
    gone = {_begin(f) for f in dice.sample(month.files, len(month.files) // 10)}
    return lambda file: [] if _begin(file) in gone else [file]


def _day(month: Night, dice: random.Random) -> Cut:
    gone = dice.choice(month.files)[0].happened_at.date()
    return lambda file: [] if file[0].happened_at.date() == gone else [file]


def _sort_of_log(month: Night, dice: random.Random) -> Cut:
    """All state-change logs, say, from some day on."""
    some = dice.choice(month.files)[0]
    name = some.source.rpartition("/")[2]
    return lambda file: [] if file[0].source.endswith(name) and file[0].happened_at >= some.happened_at else [file]


def _broker_of_a_day(month: Night, dice: random.Random) -> Cut:
    some = dice.choice(month.files)[0]
    folder, day = some.source.rpartition("/")[0], some.happened_at.date()
    first = some.happened_at + dice.random() * timedelta(minutes=10)
    last = first + timedelta(minutes=2, seconds=1 + dice.random() * 300)

    def cut(file: Piece) -> list[Piece]:
        if file[0].source.rpartition("/")[0] != folder or file[0].happened_at.date() != day:
            return [file]
        before, after = (e for e in file if e.happened_at < first), (e for e in file if e.happened_at > last)
        return [part for part in (tuple(before), tuple(after)) if part]

    return cut


def _end_of_a_file(month: Night, dice: random.Random) -> Cut:
    hit, share = _begin(dice.choice(month.files)), dice.random()
    return lambda file: [file[: int(len(file) * share)] or file[:1]] if _begin(file) == hit else [file]
