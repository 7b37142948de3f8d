"""Rejoins over topics that changed, on lines as captured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from kafka_hindsight.catalog.rows import Event, TopicChange
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.rebalances import GroupContext, rebuild_group
from tests.support.histories import BOTH, lines
from tests.support.nights import at

A_DAY = timedelta(days=1)


def causes(events: Sequence[Event], logged: Sequence[TopicChange]) -> list[str]:
    context = GroupContext("night", at("00:00:00"), at("00:00:00") + 2 * A_DAY, logged)
    return [r.cause for r in rebuild_group("bridge-of-crm-41", events, context).rebalances]


def test_last_logged_topic_change_is_cause_where_client_names_several() -> None:
    """A stale answer had taken topic x2 from the client again, when topic x1 was deleted: it saw both at once."""
    events = lines("pattern-3.7", *BOTH)
    prefix, line = "payroll-11-tracker-x", next(e for e in events if e.kind == "rebalance_started")

    def change(clock: str, kind: str, topic: str) -> TopicChange:
        return TopicChange(at=at(clock) + A_DAY, kind=kind, topic=prefix + topic, event=quote(line))

    logged = [change("18:49:43.524", "topic_created", "2"), change("18:49:47.233", "topic_deleted", "1")]
    assert causes(events, logged)[1:3] == ["topic_created", "topic_deleted"]


def test_consumer_close_just_after_a_rejoin_is_not_its_cause() -> None:
    """A deleted topic goes in two steps, each a rejoin: its partitions, then its name. A tenth of a second after the
    second the application closed the consumer, and the newest reason to join in its log is that one.
    """
    context = GroupContext("night", at("00:00:00"), at("00:00:00") + 3 * A_DAY)
    rebalances = rebuild_group("sink-of-mobile-23", lines("pattern-4.3", *BOTH), context).rebalances
    assert [r.cause for r in rebalances[2:]] == ["topic_deleted", "topic_deleted", "member_left"]


def test_group_with_pattern_subscription_may_read_any_topic() -> None:
    events = _before_kip_800(lines("pattern-3.7", *BOTH))
    quoted = quote(next(e for e in events if e.kind == "rebalance_started"))
    created_at = at("18:49:43.524") + A_DAY
    created = TopicChange(at=created_at, kind="topic_created", topic="payroll-11-tracker-x2", event=quoted)
    assert causes(events, [created])[1] == "topic_created"


def _before_kip_800(events: Sequence[Event]) -> list[Event]:
    """A group's lines with what a client subscribed to, and without the reasons that it gave."""
    kept = [e for e in events if e.origin == "broker" or e.kind == "client_subscribed"]
    return [replace(e, reason=e.reason and e.reason.partition("; client reason")[0]) for e in kept]
