"""Hosts that fell silent with all their members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, REBALANCES
from kafka_hindsight.catalog.rows import Incident, MemberStay, Rebalance
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from kafka_hindsight.judgements.rebalances import GroupContext, rebuild_group
from tests.support.histories import line, lines
from tests.support.nights import at
from tests.support.rows import AT, row

SESSION_MS = 45_000


def stay(
    member: str, host: str, until: int | None, how: str | None = "expired", since: int | None = -900
) -> MemberStay:
    def clock(second: int | None) -> Any:
        return None if second is None else AT + timedelta(seconds=second)

    return MemberStay(
        cluster="night",
        group_id=member[0],
        member_id=member,
        host=host,
        session_timeout_ms=SESSION_MS,
        since=clock(since),
        until=clock(until),
        how=how if until is not None else None,
    )


def expiry(member: str, second: int, confidence: str = "possible") -> Rebalance:
    started = AT + timedelta(seconds=second)
    who = {"rebalance_id": f"r-{member}", "group_id": member[0], "member_id": member, "client_id": member}
    cause = {"cause": "heartbeat_expired", "confidence": confidence}
    return row(REBALANCES, started_at=started, coordinator=1, **cause, **who)


SILENT = [stay("g1", "10.0.0.7", 60), stay("h1", "10.0.0.7", 62), stay("h2", "10.0.0.7", 63)]
ELSEWHERE = stay("g2", "10.0.0.8", None)
RAN_OUT = [expiry("g1", 60), expiry("h1", 62)]


def incidents(roster: Sequence[MemberStay], rows: Sequence[Rebalance] = tuple(RAN_OUT), **more: Any) -> list[Incident]:
    return group_incidents(rows, more.get("outages", []), [], None, roster)[0]


def test_host_with_all_members_expired_is_one_incident_over_its_groups() -> None:
    (incident,) = incidents([*SILENT, ELSEWHERE])
    assert (incident.kind, incident.rebalance_count, incident.group_ids) == ("host_silent", 2, ["g", "h"])
    assert (incident.cause, incident.confidence) == ("heartbeat_expired", "possible")
    assert incident.explanation.startswith("All 3 members on host 10.0.0.7, in 2 groups, fell silent within")
    assert "The host was down, cut off or paused" in incident.explanation


def test_host_of_members_that_may_have_closed_names_the_close_first() -> None:
    silent_ends = [replace(r, cause=Cause.SESSION_ENDED) for r in RAN_OUT]
    (incident,) = incidents([*SILENT, ELSEWHERE], silent_ends)
    assert "Its members were closed together, or the host was down, cut off or paused" in incident.explanation
    (mixed,) = incidents([*SILENT, ELSEWHERE], [RAN_OUT[0], silent_ends[1]])
    assert "closed" not in mixed.explanation


def test_member_heard_again_makes_silent_host_likely_cut_off() -> None:
    (incident,) = incidents([*SILENT, ELSEWHERE], [expiry("g1", 60), expiry("h1", 62, "certain")])
    assert incident.confidence == "likely"
    assert "so the host was cut off or paused, not down" in incident.explanation


@pytest.mark.parametrize(
    ("silence", "words"),
    [
        ("network", "the host was probably cut off, not down or paused"),
        ("pause", "the host was probably paused, not down or cut off"),
    ],
)
def test_silence_of_one_member_shows_what_silenced_its_host(silence: str, words: str) -> None:
    shown = replace(RAN_OUT[1], silence=silence, silence_confidence="likely")
    (incident,) = incidents([*SILENT, ELSEWHERE], [RAN_OUT[0], shown])
    assert words in incident.explanation


@pytest.mark.parametrize(
    "roster",
    [
        pytest.param([*SILENT[:2], ELSEWHERE], id="two expired members are too few"),
        pytest.param([*SILENT, stay("g3", "10.0.0.7", None), ELSEWHERE], id="a member of the host stays"),
        pytest.param(
            [*SILENT, stay("g3", "10.0.0.7", None, since=None), ELSEWHERE],
            id="a member of unknown start may have stayed",
        ),
        pytest.param(
            [*SILENT, stay("g3", "10.0.0.7", 40, "left"), ELSEWHERE], id="a member of the host left meanwhile"
        ),
        pytest.param(
            [*SILENT, stay("g3", "10.0.0.7", None, since=50), ELSEWHERE], id="a member of the host joined meanwhile"
        ),
        pytest.param(SILENT, id="no member on another host"),
        pytest.param([*SILENT, stay("g2", "10.0.0.8", 61)], id="members of another host expired too"),
        pytest.param([*SILENT[:2], stay("h2", "10.0.0.7", 200), ELSEWHERE], id="not within one session"),
        pytest.param([replace(s, host=None) for s in SILENT] + [ELSEWHERE], id="the host is unknown"),
    ],
)
def test_expired_members_without_proof_are_no_silent_host(roster: list[MemberStay]) -> None:
    assert {i.kind for i in incidents(roster)} == {"single"}


def test_members_expired_by_coordinator_outage_are_no_silent_host() -> None:
    away = row(BROKER_OUTAGES, outage_id="o", broker=1, down_at=AT, up_at=AT + timedelta(seconds=30))
    assert [i.kind for i in incidents([*SILENT, ELSEWHERE], outages=[away])] == ["broker_outage"]


def test_roster_has_host_and_time_of_each_member() -> None:
    context = GroupContext("night", at("01:00:00"), at("03:00:00"))
    roster = rebuild_group("ads-etl-1", lines("pause-4.1", "broker", "client"), context).roster
    stays = sorted((s.since, s.until, s.how, s.member_id[:11]) for s in roster)
    assert [(how, member) for _, _, how, member in stays] == [
        ("left", "ads-etl-1-a"),
        ("expired", "ads-etl-1-b"),
        ("left", "ads-etl-1-b"),
    ]
    place = line("member_loaded", "01:00:01", generation=1, member_id="m", client_id="m", host="/10.0.0.7")
    (loaded,) = rebuild_group("g", [place], context).roster
    assert (loaded.host, loaded.since, loaded.until) == ("10.0.0.7", None, None)
