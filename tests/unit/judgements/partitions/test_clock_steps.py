"""A broker's clock that is set on or back by seconds makes a verdict less sure, never wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from tests.support.draws import drawn
from tests.support.nights import WHOLE, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders

EXCERPTS = (
    "crash-2.8",
    "pause-2.8",
    "pause-4.1",
    "preferred-2.8",
    "shutdown-3.9",
    "stopped-again-4.3",
    "restart-unlogged-4.1",
    "elections-3.9",
    "rejoined-4.3",
    "offline-4.1",
)
"""Absences and elections of each kind, of ZooKeeper's clusters and KRaft's."""

Claim = tuple[object, ...]


@cache
def lines_of(excerpt: str) -> tuple[Event, ...]:
    return tuple(events(excerpt))


def sure_claims(lines: list[Event]) -> Iterator[Claim]:
    """The sure absences and changes of leaders, without their instants."""
    outages = rebuild_outages(lines, [], WHOLE)
    for outage in outages:
        if outage.confidence in (Confidence.CERTAIN, Confidence.LIKELY):
            yield outage.broker, outage.kind
    for change in rebuild_leaders(lines, [], context_of(lines, outages), WHOLE).failovers:
        if change.confidence in (Confidence.CERTAIN, Confidence.LIKELY):
            yield change.topic, change.partition, change.epoch_to, change.kind


@cache
def whole_claims(excerpt: str) -> frozenset[Claim]:
    """All claims of the lines as they are: a sure one on other clocks may be a possible one here."""
    lines = list(lines_of(excerpt))
    outages = rebuild_outages(lines, [], WHOLE)
    changes = rebuild_leaders(lines, [], context_of(lines, outages), WHOLE).failovers
    return frozenset(
        [*((o.broker, o.kind) for o in outages), *((c.topic, c.partition, c.epoch_to, c.kind) for c in changes)]
    )


def with_step(lines: tuple[Event, ...], broker: int, since: int, step: timedelta) -> list[Event]:
    """The lines, those of one broker from one of them on by a clock that is set on or back."""
    start = lines[since % len(lines)].happened_at
    return [
        replace(e, happened_at=e.happened_at + step) if e.broker == broker and e.happened_at >= start else e
        for e in lines
    ]


@given(
    st.sampled_from(EXCERPTS),
    st.integers(1, 3),
    st.integers(0, 10_000),
    st.integers(100, 1_900) | st.integers(-1_900, -100),
)
@settings(drawn(2))
def test_clock_that_steps_by_less_than_two_seconds_makes_no_wrong_claim(
    excerpt: str, broker: int, since: int, ms: int
) -> None:
    lines = with_step(lines_of(excerpt), broker, since, timedelta(milliseconds=ms))
    assert set(sure_claims(lines)) <= whole_claims(excerpt)


@pytest.mark.parametrize(("broker", "seconds"), [(1, 1.9), (2, -1.9), (1, 4.5), (2, -4.5)])
def test_start_just_behind_the_return_that_others_saw_is_the_same_restart(broker: int, seconds: float) -> None:
    """A crash of 18 s, once: its own start comes up to 5 s after the controller saw the broker again."""
    lines = with_step(lines_of("crash-2.8"), broker, 0, timedelta(seconds=seconds))
    assert [(o.broker, o.kind, o.confidence) for o in rebuild_outages(lines, [], WHOLE)] == [(1, "crash", "certain")]
