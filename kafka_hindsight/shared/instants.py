"""The first and the last of instants, and instants as numbers since 1970, as files, Spark and Kafka count them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST = datetime.max.replace(tzinfo=UTC)


def micros_of(instant: datetime) -> int:
    """The microseconds of an instant."""
    return (instant - _EPOCH) // _MICROSECOND


def of_micros(micros: int) -> datetime:
    """The instant of microseconds."""
    return _EPOCH + micros * _MICROSECOND


def past(instant: datetime) -> datetime:
    """The next microsecond: the end of a span that includes the instant. The last instant has none after it."""
    return min(instant, _LAST - _MICROSECOND) + _MICROSECOND


def earliest(*ats: datetime | None) -> datetime | None:
    """The first of the instants that are known; None where none is."""
    return min((at for at in ats if at is not None), default=None)


def latest(*ats: datetime | None) -> datetime | None:
    """The last of the instants that are known; None where none is."""
    return max((at for at in ats if at is not None), default=None)


def of_millis(millis: int) -> datetime:
    """The instant of milliseconds."""
    return of_micros(millis * 1_000)
