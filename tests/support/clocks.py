"""Clocks that are known to be wrong."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from kafka_hindsight.catalog.codes import ClockMeaning
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError


def clocks_apart(by: timedelta, *brokers: int, sources: Iterable[str] = ()) -> tuple[ClockError, ...]:
    """The clocks of some brokers and logs, wrong by a length; none where that is zero."""
    return (ClockError(ClockMeaning.AHEAD, frozenset(sources), frozenset(brokers), by),) if by else ()
