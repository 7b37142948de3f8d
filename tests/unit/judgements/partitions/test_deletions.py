"""Topics that were deleted when no line of the active controller is at hand: other controllers repeat the records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.brokers.controllers import controller_epochs_of
from tests.support.nights import at, events
from tests.support.partitions import incarnations

DELETED, KEPT = "ads-rx-13-x1", "ads-rx-13-x2"
FIRST_REPEATED = at("01:51:29.103")


def lives(lines: Iterable[Event]) -> list[tuple[str, datetime | None]]:
    """The topic of each incarnation, with the instant by which it was deleted."""
    lines = list(lines)
    return [(life.key[1], life.gone_at) for life in incarnations(lines, [], controller_epochs_of(lines))]


def living(lines: Iterable[Event]) -> set[str]:
    """The topics that are there when the lines end."""
    return {topic for topic, gone_at in lives(lines) if gone_at is None}


def test_topic_whose_deletion_controllers_repeat_when_they_start_is_gone() -> None:
    lines = events("deleted-unlogged-4.1")
    assert living(lines) == {KEPT}
    assert living(e for e in lines if e.kind != Kind.TOPIC_DELETED) == {DELETED, KEPT}, "only these lines show it"


def test_topic_that_is_created_again_lives_on() -> None:
    def second_life(e: Event) -> Event:
        old = "0iOp7e7mTgCgj6LoMZQA_w"
        return replace(e, line_id=f"again {e.line_id}", text=e.text.replace(old, "AAAAAAAAAAAAAAAAAAAAAA"))

    lines = events("deleted-unlogged-4.1")
    creations = [second_life(e) for e in lines if e.topic == DELETED and e.kind == Kind.PARTITION_CREATED]
    assert living([*lines, *creations]) == {DELETED, KEPT}


def test_lines_before_a_repeated_deletion_are_of_the_life_that_it_ended() -> None:
    lines = events("deleted-unlogged-4.1")
    led = next(e for e in lines if e.topic == DELETED and e.kind == Kind.PARTITION_CREATED)
    start = replace(led, kind=Kind.LEADER_STARTED, happened_at=at("01:50:40"), line_id="led", pattern_id="broker.led")
    assert (DELETED, FIRST_REPEATED) in lives([start, *lines])
