"""Rebalances that restart one another."""

from __future__ import annotations

import pytest

from kafka_hindsight.catalog.rows import Event, Rebalance
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from tests.support.histories import BOTH, line, lines, rebalances
from tests.support.nights import EXCERPTS

GROUPS = sorted(p.name for p in (EXCERPTS / "groups").iterdir())
JOINS = "Adding new member app-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 with group instance id null"


def generation(minute: int, second: int, old: int, reason: str = JOINS) -> list[Event]:
    return [
        line("rebalance_started", f"01:{minute:02}:{second:02}", generation=old, reason=reason),
        line("join_completed", f"01:{minute:02}:{second + 1:02}", generation=old + 1, member_count=2),
        line("assignment_received", f"01:{minute:02}:{second + 1:02}", generation=old + 1),
    ]


def followed_places(rows: list[Rebalance]) -> list[int | None]:
    """For each row the place of the row that it follows."""
    places = {r.rebalance_id: n for n, r in enumerate(rows)}
    return [places.get(r.follows) for r in rows]


def test_interrupting_rebalance_follows_interrupted_one() -> None:
    rows = rebalances(lines("chain-2.8", *BOTH))
    assert [r.outcome for r in rows[-2:]] == ["interrupted", "emptied"]
    assert followed_places(rows)[-1] == len(rows) - 2


def test_rebalance_within_heartbeat_of_assignment_continues_chain() -> None:
    # Assigned at 01:00:01; the next begin at once, 2 s later, and after a minute.
    rows = rebalances([*generation(0, 0, 4), *generation(0, 1, 5), *generation(0, 4, 6), *generation(1, 0, 7)])
    assert followed_places(rows) == [None, 0, 1, None]
    incidents = list(group_incidents(rows, [], [])[0])
    places = [i.explanation.partition(" It is number ")[2] for i in incidents]
    assert places == [*(f"{n} of 3 rebalances that overlapped." for n in (1, 2, 3)), ""]


def test_incident_says_whether_it_holds_whole_chain() -> None:
    storm = rebalances(lines("storm-2.8", *BOTH))
    deployment = rebalances(lines("deployment-4.1", *BOTH))
    incidents = list(group_incidents([*storm, *deployment], [], [])[0])
    explanations = {i.kind: i.explanation for i in incidents}
    assert "2 of the rebalances overlapped: each began before the last one had finished." in explanations["storm"]
    # Its members joined, closed and came back within seconds: the chain began before the deployment.
    assert "It is part of 6 rebalances that overlapped." in explanations["rolling_restart"]


@pytest.mark.parametrize("excerpt", ["cooperative-2.8", "kip848-4.1"])
def test_cooperative_followup_and_kip_848_epoch_follow_nothing(excerpt: str) -> None:
    rows = rebalances(lines(excerpt, *BOTH))
    halves = [r for r in rows if r.cause == "cooperative_followup" or r.protocol == "consumer"]
    assert halves
    assert {r.follows for r in halves} == {None}


@pytest.mark.parametrize("excerpt", GROUPS)
def test_chain_never_forks_and_links_previous_rebalance(excerpt: str) -> None:
    rows = rebalances(lines(excerpt, *BOTH))
    followed = [n for n in followed_places(rows) if n is not None]
    assert len(set(followed)) == len(followed)
    assert all(n == before + 1 for n, before in enumerate(followed_places(rows)) if before is not None)
