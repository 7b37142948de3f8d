"""Whether a window lies before the first record, by the beginnings of all logs: seconds, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime

from kafka_hindsight.catalog import bronze
from kafka_hindsight.intake.log_files import list_places, places_of
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.file_bytes import CHUNK, open_bytes
from kafka_hindsight.logs.files import ListedFile
from kafka_hindsight.logs.found_files import is_archive
from kafka_hindsight.logs.pieces import Way, look
from kafka_hindsight.logs.unwrapping import wrapped_as
from kafka_hindsight.settings.config import is_dated, is_source
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.instants import of_micros

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


def is_before_first_record(settings: Settings) -> bool:
    """Whether the lake and the beginning of each log show that the window ends before the first record.

    What does not show its first instant may hold earlier records: a source, a place with dates, an archive, lines in
    envelopes. Input that cannot be listed is left to the step that reads it.
    """
    end, store = settings.window_to, Store(settings.lake)
    if end is None:
        return False
    before = Part(settings.cluster, "happened_at", (_EARLIEST, end))
    if store.has(bronze.LOG_RECORDS) and store.files(bronze.LOG_RECORDS, before):
        return False
    places = places_of(settings)
    if any(is_source(place.root) or is_dated(place.root) for place in places):
        return False
    try:
        listing = list_places(None, places, settings.glob)
        return not listing.metadata and all(_begins_after(end, file) for file in listing.files if file.size)
    except (BadInput, OSError):
        return False


def _begins_after(end: datetime, file: ListedFile) -> bool:
    """Whether the first lines of a file show that it has no record before an instant."""
    if is_archive(file.name):
        return False
    data = open_bytes(file.uri, file.size).between(0, CHUNK)
    form = wrapped_as(data, file.pattern)
    if not form.is_plain:
        return False
    piece = look(data, 0, 0, len(data), Clock(file.zone), Way(form.others))
    times = piece.before + piece.after
    return times.are_any and of_micros(times.first) >= end
