"""Completeness: generations rise by one, and each break is explained or told as lost evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.rebalances import GroupContext, rebuild_group
from tests.support.groups import excerpt
from tests.support.histories import line
from tests.support.nights import at

Break = tuple[int, int, str | None]


def classic(clock: str, generation: int, **fields: Any) -> list[Event]:
    """A group that empties: the shortest rebalance that reaches a generation."""
    return [line("group_emptied", clock, generation=generation, protocol="classic", **fields)]


def epoch(clock: str, generation: int, **fields: Any) -> list[Event]:
    return [line("epoch_bumped", clock, generation=generation, protocol="consumer", **fields)]


def member_left_line(clock: str, member: str) -> list[Event]:
    return [line("member_left", clock, member_id=member, protocol="consumer")]


def breaks(*events: list[Event]) -> list[Break]:
    context = GroupContext("night", at("01:00:00"), at("02:00:00"))
    gaps = rebuild_group("g", [e for several in events for e in several], context).gaps
    return [(g.after_generation, g.next_generation, g.explained_by) for g in gaps]


MOVED = [line("group_loaded", "01:00:05", broker=2, source="broker-2/server.log", member_count=1)]


def test_consecutive_generations_have_no_gap() -> None:
    assert breaks(classic("01:00:00", 4), classic("01:01:00", 5), classic("01:02:00", 6)) == []
    assert breaks(epoch("01:00:00", 4), epoch("01:01:00", 5)) == []


def test_skipped_generation_is_unexplained_gap() -> None:
    assert breaks(classic("01:00:00", 4), classic("01:01:00", 7)) == [(4, 6, None)]
    assert breaks(epoch("01:00:00", 4), epoch("01:01:00", 7)) == [(4, 7, None)]


def test_generation_lost_with_coordinator_move_is_explained() -> None:
    ((after, following, why),) = breaks(
        classic("01:00:00", 6), MOVED, classic("01:01:00", 6, broker=2, source="broker-2/server.log")
    )
    assert (after, following) == (6, 5)
    assert why == "the coordinator moved before generation 6 was stored"
    ((_, _, why),) = breaks(epoch("01:00:00", 6), MOVED, epoch("01:01:00", 6, broker=2, source="broker-2/server.log"))
    assert why == "the coordinator moved before epoch 6 was stored"


def test_generations_restarted_after_group_removal_are_explained() -> None:
    assert breaks(classic("01:00:00", 6), classic("01:30:00", 1)) == [
        (6, 0, "the generations restarted: the group's metadata had been removed")
    ]
    assert breaks(epoch("01:00:00", 6), epoch("01:30:00", 1)) == [
        (6, 1, "the generations restarted: the group's metadata had been removed")
    ]


def test_group_conversion_continues_generations() -> None:
    assert (
        breaks(
            classic("01:00:00", 4),
            epoch("01:01:00", 5),
            epoch("01:02:00", 6),
            classic("01:03:00", 7),
        )
        == []
    )
    assert breaks(classic("01:00:00", 4), epoch("01:01:00", 6)) == [(4, 6, None)]


def test_epoch_rise_beyond_member_removals_is_gap() -> None:
    went = [*member_left_line("01:00:20", "a"), *member_left_line("01:00:40", "b")]
    assert breaks(epoch("01:00:00", 4), went, epoch("01:01:00", 7)) == []
    assert breaks(epoch("01:00:00", 4), went, epoch("01:01:00", 8)) == [(4, 8, None)]


@pytest.mark.parametrize(
    ("kind", "protocol"),
    [("group_unloaded", "classic"), ("group_unloaded", "consumer"), ("target_computed", "consumer")],
)
def test_later_generation_in_other_line_shows_gap(kind: str, protocol: str) -> None:
    reached = classic if protocol == "classic" else epoch
    later = [line(kind, "01:05:00", generation=6, protocol=protocol)]
    assert breaks(reached("01:00:00", 4), later) == [(4, 6, None)]
    assert breaks(reached("01:00:00", 4), [replace(later[0], generation=4)]) == []


def test_client_line_shows_gap_while_broker_logs_were_read() -> None:
    joined = line(
        "client_joined", "01:05:00", origin="client", source="a.log", broker=None, client_id="a", generation=6
    )
    assert breaks(classic("01:00:00", 4), [joined]) == [(4, 6, None)]
    assert breaks(classic("01:00:00", 4), [replace(joined, happened_at=at("02:00:01"))]) == []
    assert breaks(classic("01:00:00", 4), [replace(joined, generation=4)]) == []


def test_truncated_broker_log_shows_as_generation_gap() -> None:
    group = excerpt("drag-4.1")
    lost = [e.line_id for e in group.events if e.origin == "broker" and e.happened_at >= at("01:50:05.388")]
    gaps = group.without(lost).history().gaps
    assert [(g.after_generation, g.next_generation) for g in gaps] == [(2, 4)]


def test_later_life_of_a_group_leaves_the_verdicts_on_the_first() -> None:
    """A classic group that ends, and begins again as one of KIP-848: each member is held against those of its time."""
    first, second = (excerpt(name).of("broker").events for name in ("pause-4.1", "kip848-4.1"))
    first = tuple(e for e in first if e.happened_at < second[0].happened_at)
    lines = [replace(e, group_id="g") for e in (*first, *second)]
    context = GroupContext("night", lines[0].happened_at, lines[-1].happened_at)
    rows = {r.started_at: r for r in rebuild_group("g", lines, context).rebalances}
    for alone in rebuild_group("g", lines[: len(first)], context).rebalances:
        assert (rows[alone.started_at].cause, rows[alone.started_at].confidence) == (alone.cause, alone.confidence)
    assert "a member of client 'ads-etl-1-" in rows[at("01:46:05.182")].explanation
    assert "joined 3.2 s after a member whose client is not known" in rows[at("01:46:18.627")].explanation
