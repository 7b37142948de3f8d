"""What a partition's timeline asks of its cluster: each look-up finds what looking at every outage finds."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import OutageKind
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, known_at
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW
from tests.support.rows import AT, row

SECONDS = st.integers(0, 60)


def after(second: int) -> datetime:
    return AT + timedelta(seconds=second)


@st.composite
def outages(draw: st.DrawFn) -> list[BrokerOutage]:
    """Outages of two brokers, each down at an instant of its own; clocks differ, so one may end before it began."""
    drawn_outages = []
    for down in draw(st.lists(SECONDS, max_size=8, unique=True)):
        detected, up = draw(st.none() | SECONDS), draw(st.none() | SECONDS)
        drawn_outages.append(
            row(
                BROKER_OUTAGES,
                broker=draw(st.integers(1, 2)),
                kind=draw(st.sampled_from(OutageKind)),
                down_at=after(down),
                detected_at=None if detected is None else after(detected),
                up_at=None if up is None else after(up),
            )
        )
    return drawn_outages


@given(outages(), SECONDS, SECONDS)
def test_outage_between_instants_is_first_known_to_cluster(some: list[BrokerOutage], start: int, end: int) -> None:
    expected = [
        o
        for o in some
        if o.broker == 1
        and known_at(o) - CLOCK_SKEW <= after(end)
        and (o.up_at is None or after(start) <= o.up_at + CLOCK_SKEW)
    ]
    context = ClusterContext(outages=tuple(some))
    assert context.outage_between(1, after(start), after(end)) == min(expected, key=lambda o: o.down_at, default=None)


def test_newer_of_two_adjacent_outages_is_found() -> None:
    """A broker whose return no line shows is shut down again: with that the first absence ends and the next begins."""
    first, second = (
        row(BROKER_OUTAGES, broker=1, kind="controlled_shutdown", down_at=a, detected_at=None, up_at=z)
        for a, z in ((after(0), after(30)), (after(30), after(50)))
    )
    context = ClusterContext(outages=(first, second))
    assert [context.outage_at(1, after(s)) for s in (29, 31, 51)] == [first, second, second]


@given(outages(), SECONDS)
def test_broker_has_just_returned_until_catch_up_time_ends(some: list[BrokerOutage], instant: int) -> None:
    expected = any(
        o.broker == 1
        and (o.detected_at or o.down_at) < after(instant)
        and (o.up_at is None or after(instant) <= o.up_at + CATCHING_UP)
        for o in some
    )
    assert ClusterContext(outages=tuple(some)).has_just_returned(1, after(instant)) == expected


def test_outage_that_was_over_when_broker_was_elected_did_not_end_its_leadership() -> None:
    """Broker 1 was away from 10 s to 29 s and led from 29.6 s on: within a clock's error of its return."""
    before = row(BROKER_OUTAGES, broker=1, kind="controlled_shutdown", down_at=after(10), up_at=after(29))
    during = row(BROKER_OUTAGES, broker=1, down_at=after(50), detected_at=after(51), up_at=None)
    since = after(29) + timedelta(milliseconds=600)
    assert ClusterContext(outages=(before,)).outage_of_leader(1, since, after(60)) is None
    assert ClusterContext(outages=(before, during)).outage_of_leader(1, since, after(60)) == during
    assert ClusterContext(outages=(before,)).outage_of_leader(1, after(28), after(60)) is None
    assert ClusterContext(outages=(before,)).outage_of_leader(1, after(11), after(60)) == before


def test_outage_after_last_leader_counts_at_any_time() -> None:
    away = row(BROKER_OUTAGES, broker=1, down_at=after(50), detected_at=after(60), up_at=None)
    context = ClusterContext(outages=(away,))
    assert context.outage_between(1, AT, None) == away
    assert context.outage_between(1, AT, after(40)) is context.outage_between(2, AT, None) is None
