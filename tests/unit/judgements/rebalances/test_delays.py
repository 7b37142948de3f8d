"""Who made a rebalance long, in which phase, by which witness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_hindsight.catalog.rows import Event, Rebalance
from tests.support.histories import BOTH, line, lines, rebalances
from tests.support.nights import EXCERPTS

SINK = "audit-sink-17c8d"
MEMBER = "app-35264ebf-dc38-4338-91a3-b8ad0d1e11a4"


def waits(row: Rebalance) -> list[tuple[str | None, int]]:
    return [(d.client_id, d.waited_ms) for d in row.delayed_by]


def generation(joined: str, assigned: str, **columns: Any) -> list[Event]:
    """A rebalance that begins at 01:00:00."""
    return [
        line("rebalance_started", "01:00:00", generation=4, reason="words"),
        line("join_completed", joined, generation=5, member_count=2),
        line("assignment_received", assigned, generation=5, **columns),
    ]


@pytest.mark.parametrize("origins", [BOTH, ("broker",)])
def test_removed_member_delayed_join_phase(origins: tuple[str, ...]) -> None:
    row = rebalances(lines("dropped-4.3", *origins))[2]
    client, waited = waits(row)[-1]
    assert client == SINK
    # The others were back within a heartbeat where a log tells so; the phase lasted until the time-out of 8 s.
    assert waited == (6_133 if "client" in origins else 8_001)
    assert row.explanation.endswith(f"s in the join phase for '{SINK}'.")


def test_later_member_with_same_instance_id_delayed_no_rebalance() -> None:
    """Generation 1 began at 15:47:31; b1 came with the same instance id at :37, and joined that generation."""
    first = rebalances(lines("static-twice-4.3", *BOTH))[0]
    assert (first.cause, first.client_id, waits(first)) == ("member_joined", "a1", [])
    assert "waited" not in first.explanation


@pytest.mark.parametrize("origins", [BOTH, ("broker",)])
def test_wait_for_assignment_is_delay_of_group_leader(origins: tuple[str, ...]) -> None:
    first = rebalances(lines("sync-4.3", *origins))[0]
    # Stabilized at 12:42:02.547, Assignment received at 12:42:03.167
    assert waits(first) == [("email-relay-34-ad623", 620)]


def test_long_sync_phase_is_explained() -> None:
    (row,) = rebalances(generation("01:00:01", "01:00:09", leader_member_id=MEMBER))
    assert waits(row) == [("app", 8_000)]
    assert row.explanation.endswith("The group waited 8 s in the sync phase for its leader 'app'.")


def test_client_log_names_group_leader_where_coordinator_does_not() -> None:
    silent = generation("01:00:01", "01:00:09")
    columns = {"origin": "client", "broker": None, "client_id": "app", "source": "app.log"}
    own = line("client_assignment_finished", "01:00:08", generation=5, **columns)
    assert [waits(r) for r in rebalances(silent)] == [[]]
    assert [waits(r) for r in rebalances([*silent, own])] == [[("app", 8_000)]]
    assert [waits(r) for r in rebalances([*silent, replace(own, generation=4)])] == [[]]


def test_members_removed_together_share_the_wait() -> None:
    dropped = line("members_not_rejoined", "01:00:09", members=f"{MEMBER}, {MEMBER.replace('app', 'web')}")
    (row,) = rebalances([*generation("01:00:09", "01:00:09"), dropped])
    assert waits(row) == [("app", 4_500), ("web", 4_500)]


@pytest.mark.parametrize("excerpt", sorted(p.name for p in (EXCERPTS / "groups").iterdir()))
def test_total_delay_does_not_exceed_rebalance_duration(excerpt: str) -> None:
    for row in rebalances(lines(excerpt, *BOTH)):
        charged = sum(d.waited_ms for d in row.delayed_by)
        assert charged <= (row.duration_ms or 0)
