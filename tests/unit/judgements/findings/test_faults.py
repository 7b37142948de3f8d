"""What is wrong with how groups are set up: each rule at its threshold and just below, and many groups as one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.gold import INCIDENTS, MEMBER_SETTINGS, REBALANCES
from kafka_hindsight.catalog.rows import Incident, MemberSetting, Rebalance
from tests.support.findings import raised
from tests.support.rows import AT, row

RECOMMENDED = {
    "session_timeout_ms": 45_000,
    "rebalance_timeout_ms": 300_000,
    "heartbeat_interval_ms": 3_000,
    "assignors": ["cooperative-sticky"],
    "protocol": "classic",
}
IN_A_WHILE = timedelta(hours=2)


def member(client: str = "a", group: str = "orders", **columns: Any) -> MemberSetting:
    """A client as it is recommended, but for these columns."""
    settings = {**RECOMMENDED, "last_seen_at": AT + IN_A_WHILE, **columns}
    return row(MEMBER_SETTINGS, settings_id=f"{group} {client}", group_id=group, client_id=client, **settings)


def rebalances(count: int, apart: timedelta = timedelta(minutes=1), **columns: Any) -> list[Rebalance]:
    return [
        row(REBALANCES, rebalance_id=f"r{n}", group_id="orders", started_at=AT + n * apart, incident_id="i", **columns)
        for n in range(count)
    ]


def findings_of(
    *settings: MemberSetting, rebalances: Sequence[Rebalance] = (), incidents: Sequence[Incident] = ()
) -> list[tuple[str, str, str]]:
    findings = raised(member_settings=settings, rebalances=rebalances, incidents=incidents)
    return [(f.rule_id, f.severity, f.message.partition(": ")[2]) for f in findings]


def test_heartbeat_interval_above_third_of_session_is_finding() -> None:
    assert findings_of(member(heartbeat_interval_ms=15_000)) == []
    assert findings_of(member(heartbeat_interval_ms=15_001)) == [
        ("heartbeat_slow", "warning", "every 15 s in a session of 45 s")
    ]
    assert findings_of(member(heartbeat_interval_ms=None)) == []


def test_session_timeout_below_30_s_is_finding_with_expiries() -> None:
    assert findings_of(member(session_timeout_ms=30_000)) == []
    short = member(session_timeout_ms=10_000)
    assert findings_of(short) == [("session_short", "info", "10 s")]
    assert findings_of(short, rebalances=rebalances(2, cause="heartbeat_expired")) == [
        ("session_short", "info", "10 s, which ran out 2 times on a living member")
    ]


def test_poll_interval_below_session_timeout_is_finding() -> None:
    assert findings_of(member(rebalance_timeout_ms=45_000)) == []
    assert findings_of(member(rebalance_timeout_ms=44_900)) == [("poll_below_session", "warning", "44.9 s for 45 s")]
    assert findings_of(member(rebalance_timeout_ms=9_000)) == [("poll_below_session", "warning", "9 s for 45 s")]


def test_differing_settings_of_concurrent_clients_are_finding() -> None:
    other = {"rebalance_timeout_ms": 900_000, "session_timeout_ms": 60_000}
    assert findings_of(member("a"), member("b"), member("c", **other)) == [
        (
            "settings_mixed",
            "warning",
            "session.timeout.ms 45 s (2 clients) and 1 min (1 client);"
            " max.poll.interval.ms 5 min (2 clients) and 15 min (1 client)",
        )
    ]
    pair = member("a"), member("b", session_timeout_ms=60_000)
    expected = [("settings_mixed", "warning", "session.timeout.ms 1 min (1 client) and 45 s (1 client)")]
    assert findings_of(*pair) == findings_of(*pair[::-1]) == expected
    later = {"first_seen_at": AT + 2 * IN_A_WHILE, "last_seen_at": AT + 3 * IN_A_WHILE}
    assert findings_of(member("a"), member("a2", **other, **later)) == []
    assert findings_of(member("a"), member("b", session_timeout_ms=None, assignors=None)) == []


def test_eager_assignor_is_finding_where_group_rebalances_often() -> None:
    often = rebalances(6)
    sentence = "range, 6 rebalances within 60 minutes"

    def eager(rows: Sequence[Rebalance], kind: str = "single", **columns: Any) -> list[str]:
        incidents = [row(INCIDENTS, incident_id="i", kind=kind)]
        findings = findings_of(member(**columns), rebalances=rows, incidents=incidents)
        return [message for rule_id, _, message in findings if rule_id == "eager_often"]

    assert eager(often, assignors=["range", "cooperative-sticky"]) == [sentence]
    assert eager(often, assignors=None, assignor="range") == [sentence]
    assert eager(often, assignors=["cooperative-sticky"], assignor="cooperative-sticky") == []
    assert eager(often, assignors=["com.acme.OwnAssignor"]) == []
    assert eager(often, assignors=["range"], protocol="consumer") == []
    assert eager(often[:5], assignors=["range"]) == []
    assert eager(rebalances(6, protocol="consumer"), assignors=["range"]) == []
    assert eager(often, kind="rolling_restart", assignors=["range"]) == []


def test_many_groups_with_same_fault_are_one_finding_ranked_last() -> None:
    few = [member(group=f"g{n}", session_timeout_ms=10_000) for n in range(3)]
    assert len(raised(member_settings=few)) == 3
    many = [member(group=f"g{n:02}", session_timeout_ms=9_000 + n, rebalance_timeout_ms=5_000) for n in range(50)]
    findings = raised(member_settings=many, rebalances=rebalances(12))
    assert [(f.rule_id, f.subject) for f in findings] == [
        ("rebalances_excessive", "orders"),
        ("poll_below_session", "g49 and 49 more"),
        ("session_short", "g00 and 49 more"),
    ]
    assert findings[-1].message == (
        "Group 'g00' and 49 more used a session timeout below 30 s: the worst are 'g00' 9 s; 'g01' 9 s; 'g02' 9 s"
    )


MEMBERS = st.lists(
    st.builds(
        member,
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["orders", "bills"]),
        session_timeout_ms=st.sampled_from([None, 6_000, 45_000]),
        rebalance_timeout_ms=st.sampled_from([None, 9_000, 300_000]),
        heartbeat_interval_ms=st.sampled_from([None, 3_000]),
        assignors=st.sampled_from([None, ["range"], ["cooperative-sticky"]]),
        first_seen_at=st.integers(0, 9).map(lambda m: AT + timedelta(minutes=m)),
    ),
    max_size=6,
    unique_by=lambda r: r.settings_id,
)


@given(MEMBERS, st.integers(0, 8), st.randoms())
def test_findings_do_not_depend_on_order_of_members(settings: list[MemberSetting], count: int, random: Any) -> None:
    acts = rebalances(count, cause="member_left", client_id="a")
    findings = raised(member_settings=settings, rebalances=acts)
    shuffled = raised(member_settings=random.sample(settings, len(settings)), rebalances=random.sample(acts, len(acts)))
    assert shuffled == findings
    subjects = [(f.rule_id, f.subject) for f in findings]
    assert len(set(subjects)) == len(subjects)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, unique=True), st.integers(0, 9))
def test_recommended_settings_give_no_finding(clients: list[str], count: int) -> None:
    rules = {rule_id for rule_id, _, _ in findings_of(*map(member, clients), rebalances=rebalances(count))}
    assert rules <= {"rebalances_frequent", "rebalances_excessive"}
