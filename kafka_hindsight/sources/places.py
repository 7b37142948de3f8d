"""Where the logs of a run lie: folders as they are, folders of dates, and sources, which land first."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from kafka_hindsight.lake.landing import landing_folder
from kafka_hindsight.logs.files import Place
from kafka_hindsight.settings.config import DATED, is_dated, is_source
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.settings.retention import LATE_DAYS
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.known import name_of, source_at
from kafka_hindsight.sources.land import LOGS, land
from kafka_hindsight.sources.model import Period

_HOUR = timedelta(hours=1)

_USUAL = {"date": "%Y-%m-%d", "hour": "%H"}
"""How days and hours stand in names where nothing else is said."""


def ready(place: Place, settings: Settings) -> Place:
    """The place with the folders in which its files lie now. What is new in a source is read, and lands.

    Raises: BadInput where the source cannot work, or where a place holds dates and the run has none; SourceFails.
    """
    if is_source(place.root):
        return replace(place, folders=(_landed(place, settings),))
    return replace(place, folders=dated(place, settings)) if is_dated(place.root) else place


def _landed(place: Place, settings: Settings) -> str:
    begin = settings.window_from or settings.run_at - timedelta(days=LATE_DAYS)
    period = Period(begin - timedelta(hours=settings.look_back_hours), settings.run_at)
    folder = f"{landing_folder(settings.lake, LOGS)}/{place.origin}s/{name_of(place.root)}"
    count = land(source_at(place.root), folder, period, settings.read_to_end, place.pattern)
    progress.say(f"{count:,} lines are new in {place.root}")
    return folder


def dated(place: Place, settings: Settings) -> tuple[str, ...]:
    """The folders of the days, or hours, that a run reads: its window, and what it looks at before and after.

    Edge case: a run that collects has no window; it reads the hours before it.
    Raises: BadInput where the whole input is asked for, which no dates limit.
    """
    if settings.read_to_end and not settings.window_from:
        raise BadInput(
            f"{place} and a run of the whole input has no dates. Needed: a window. Give FROM and TO, or a place"
            " without dates."
        )
    first = (settings.window_from or settings.run_at) - timedelta(hours=settings.look_back_hours)
    last = settings.window_to + timedelta(hours=settings.look_ahead_hours) if settings.window_to else settings.run_at
    hour, found = first.replace(minute=0, second=0, microsecond=0), dict[str, None]()
    while hour <= last:
        found[_named(place.root, hour)] = None
        hour += _HOUR
    return tuple(found)


def _named(root: str, hour: datetime) -> str:
    return DATED.sub(lambda said: f"{hour:{said[2] or _USUAL[said[1]]}}", root)
