"""Which broker coordinated a group, on lines as captured."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.groups.coordinators import (
    java_string_hash,
    offsets_partition_of,
    rebuild_coordinator_moves,
)
from tests.support.nights import WHOLE, at, events
from tests.support.rows import row


def moves(lines: list[Event], context: ClusterContext | None = None) -> list[tuple[object, ...]]:
    rows = rebuild_coordinator_moves(lines, context or ClusterContext(), None, WHOLE)
    return [(r.moved_at, r.broker_from, r.broker_to) for r in rows]


def test_group_load_by_another_broker_is_coordinator_move() -> None:
    chain = moves(events("moves-4.1"))
    assert chain[:3] == [
        (at("01:50:38.372"), 1, 2),
        (at("01:50:53.230"), 2, 1),
        (at("01:51:07.950"), 1, 2),
    ]
    assert all(a[2] == b[1] for a, b in pairwise(chain)), "moves chain"


def test_load_ends_with_line_of_loading_broker() -> None:
    """Its first line of a load names a member; another broker's line between that and its end is not the end."""
    lines = events("moves-4.1")
    loaded = next(e for e in lines if (e.kind, e.happened_at) == ("group_loaded", at("01:50:38.372")))
    begun = replace(loaded, kind="member_loaded", line_id="begun", happened_at=at("01:50:38.370"))
    others = replace(loaded, broker=3, source="broker-3/server.log", line_id="other", happened_at=at("01:50:38.371"))
    assert moves([*lines, begun, others])[0] == (at("01:50:38.372"), 1, 2)


def test_late_unload_by_paused_coordinator_is_no_move() -> None:
    """Broker 1 unloads the group at 01:52:17, eleven seconds after broker 2 had loaded it."""
    unloaded = [e for e in events("moves-4.1") if e.kind == "group_unloaded" and e.broker == 1]
    assert at("01:52:17.873") in [e.happened_at for e in unloaded]
    assert [m for m in moves(events("moves-4.1")) if at("01:52:06") < m[0] < at("01:52:35")] == [
        (at("01:52:06.682"), 1, 2)
    ]


def test_late_action_of_paused_coordinator_is_no_move() -> None:
    lines = events("moves-4.1")
    acted = next(e for e in lines if e.kind == "join_completed" and e.broker == 1)
    late = replace(acted, line_id="late", happened_at=at("01:52:17.900"))
    assert moves([*lines, late]) == moves(lines)


def test_late_unload_by_unknown_broker_makes_no_coordinator() -> None:
    later = [e for e in events("moves-4.1") if e.happened_at > at("01:52:06")]
    assert ("group_unloaded", at("01:52:17.873")) in [(e.kind, e.happened_at) for e in later]
    assert moves(later)[0] == (at("01:52:35.937"), 2, 1)


def test_coordinator_move_names_outage_of_former_coordinator() -> None:
    times = {"down_at": at("01:50:30"), "detected_at": at("01:50:38"), "up_at": at("01:50:48")}
    outage = row(BROKER_OUTAGES, outage_id="o", broker=1, kind="crash", **times)
    rows = rebuild_coordinator_moves(events("moves-4.1"), ClusterContext(outages=(outage,)), None, WHOLE)
    assert [r.outage_id for r in rows][:3] == ["o", None, None]


def test_coordinator_moves_do_not_depend_on_arrival_order() -> None:
    shuffled = events("moves-4.1")
    random.Random(7).shuffle(shuffled)
    assert moves(shuffled) == moves(events("moves-4.1"))


@pytest.mark.parametrize(
    ("text", "value"),
    [("", 0), ("a", 97), ("hello", 99162322), ("polygenelubricants", -(1 << 31)), ("\N{GRINNING FACE}", 1772899)],
)
def test_string_hash_equals_java(text: str, value: int) -> None:
    assert java_string_hash(text) == value


def test_offsets_partition_follows_from_group_name() -> None:
    """The lines name the partition that the rule gives; the smallest integer, which has no absolute value, gives 0."""
    named = {(e.group_id, e.offsets_partition) for e in events("moves-4.1")}
    assert named == {("geo-coord-17", 8)}
    assert offsets_partition_of("geo-coord-17", 50) == 8
    assert offsets_partition_of("polygenelubricants", 50) == 0


def test_offsets_partition_is_computed_where_no_line_names_it() -> None:
    unnamed = [replace(e, offsets_partition=None) for e in events("moves-4.1")]
    unknown = {r.offsets_partition for r in rebuild_coordinator_moves(unnamed, ClusterContext(), None, WHOLE)}
    computed = {r.offsets_partition for r in rebuild_coordinator_moves(unnamed, ClusterContext(), 50, WHOLE)}
    assert (unknown, computed) == ({None}, {8})
