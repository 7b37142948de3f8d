"""The folders of a run's logs: folders as they are, folders of dates, and sources, which land first."""

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
from kafka_hindsight.sources.declarations import name_of, source_at
from kafka_hindsight.sources.land import LOGS, land
from kafka_hindsight.sources.source_model import Period

_HOUR = timedelta(hours=1)

_USUAL = {"date": "%Y-%m-%d", "hour": "%H"}
"""Formats of days and hours in names, unless a placeholder has its own."""


def ready(place: Place, settings: Settings) -> Place:
    """The place with the folders of its files. The new lines of a source land first.

    Raises:
        BadInput: The source cannot work, or the place has dates and the run has no window.
        SourceFails: The source does not answer.
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
    """The folders of the days or hours that a run reads: its window with look-back and look-ahead.

    A run that only collects has no window: it reads the look-back before now.

    Raises:
        BadInput: The run audits the whole input, which has no dates.
    """
    if settings.read_to_end and not settings.window_from:
        raise BadInput(
            f"{place} which has dates, and the run has no window. Needed: a window. Set FROM and TO, or name a"
            " place without dates."
        )
    first = (settings.window_from or settings.run_at) - timedelta(hours=settings.look_back_hours)
    last = settings.window_to + timedelta(hours=settings.look_ahead_hours) if settings.window_to else settings.run_at
    hour, folders = first.replace(minute=0, second=0, microsecond=0), dict[str, None]()
    while hour <= last:
        folders[_dated_name(place.root, hour)] = None
        hour += _HOUR
    return tuple(folders)


def _dated_name(root: str, hour: datetime) -> str:
    return DATED.sub(lambda match: f"{hour:{match[2] or _USUAL[match[1]]}}", root)
