"""What would have helped, on lines as captured and on made rows: expected beside given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Cause, RebalanceKind, RemedySetting
from kafka_hindsight.catalog.gold import REBALANCES
from kafka_hindsight.catalog.rows import Contributor, Event, Quote, Rebalance, Remedy
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.groups.assignments import Assignment, Witnesses
from kafka_hindsight.judgements.groups.costs import Stop, price, stops_of
from kafka_hindsight.judgements.groups.remedies import TIMEOUTS, GroupReplay, avoided_by, judge_remedies
from kafka_hindsight.judgements.rebalances.members import MemberRegistry
from kafka_hindsight.shared.windows import Window, in_order
from tests.support.histories import BOTH, lines
from tests.support.histories import rebalances as rebuilt
from tests.support.nights import WHOLE
from tests.support.rows import AT, row

DAY = Window(AT - timedelta(hours=3), AT + timedelta(hours=21))


def of_excerpt(excerpt: str, group: str | None = None) -> list[Remedy]:
    events = in_order(replace(e, group_id=e.group_id or group) for e in lines(excerpt, *BOTH))
    rows = rebuilt(events)
    stops = stops_of(rows, Witnesses(events))
    return judge_remedies(price(rows, stops), stops, MemberRegistry(events), events, WHOLE)


def act(cause: str, client: str = "a", second: float = 0, instance: str | None = None) -> Contributor:
    at = AT + timedelta(seconds=second)
    return Contributor(client_id=client, instance_id=instance, member_id=f"m-{client}", cause=Cause(cause), at=at)


def rebalance(second: float, cause: str, client: str = "a", *others: Contributor, **columns: Any) -> Rebalance:
    """A rebalance that one member began, and acts of others that fell into it; it cost three partition seconds."""
    began = act(cause, client, second, columns.pop("instance_id", None))
    defaults = {
        "rebalance_id": f"{cause}-{client}-{second}",
        "group_id": "g",
        "started_at": began.at,
        "duration_ms": 1_000,
        "partition_seconds": 3.0,
        "contributors": list(others),
        "confidence": "certain",
    }
    who = {name: getattr(began, name) for name in ("client_id", "instance_id", "member_id", "cause")}
    return row(REBALANCES, **defaults | who | columns)


def configured(client: str = "a", session: int | None = 10_000, poll: int | None = 60_000) -> Event:
    """A line that tells the time-outs of a client's member."""
    return row(
        EVENTS,
        kind="member_joined",
        happened_at=AT - timedelta(hours=1),
        member_id=f"m-{client}",
        client_id=client,
        session_timeout_ms=session,
        rebalance_timeout_ms=poll,
    )


def judged(rows: Sequence[Rebalance], *events: Event, window: Window = DAY) -> list[Remedy]:
    member_lines = events or (configured(),)
    stops = {r.rebalance_id: Stop(3, 0, RebalanceKind.COOPERATIVE) for r in rows}
    return judge_remedies(rows, stops, MemberRegistry(member_lines), member_lines, window)


def columns_of(rows: Sequence[Remedy], *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(r, c) for c in columns) for r in rows]


WHAT = ("setting", "value_now", "value_smallest", "rebalances_avoided", "rebalances_total", "confidence")


def test_longer_session_timeout_avoids_rebalance_of_paused_member() -> None:
    (longer,) = of_excerpt("pause-4.1")
    assert columns_of([longer], *WHAT) == [("session_timeout", 7_000, 12_044, 2, 5, "likely")]
    assert longer.explanation == (
        "A session timeout of 13 s (now 7 s) would have avoided 2 of 5 rebalances: 1 silence was shorter; a member that"
        " died would have been noticed 6 s later."
    )
    assert longer.knowledge_version is None
    assert any("heartbeat expiration" in e.text for e in longer.evidence)


def test_static_membership_avoids_rebalances_of_a_deployment() -> None:
    (static,) = of_excerpt("deployment-4.1")
    assert columns_of([static], *WHAT) == [("static_membership", 7_000, 2_912, 4, 7, "likely")]
    assert static.explanation == (
        "Static membership would have avoided 4 of 7 rebalances: 2 restarts took less than 3 s, and the session timeout"
        " is 7 s."
    )


def test_longer_max_poll_interval_avoids_rebalance_of_slow_member() -> None:
    (longer,) = of_excerpt("slow-librdkafka-4.1", "geo-py-5")
    assert columns_of([longer], *WHAT) == [("max_poll_interval", 9_000, 15_904, 2, 5, "likely")]


def test_kip_848_client_line_gives_needed_max_poll_interval() -> None:
    slow = configured(poll=9_000)
    exceeded = row(EVENTS, kind="client_poll_exceeded", member_id="m-a", took_ms=6_202, happened_at=AT)
    rows = [rebalance(0, "max_poll_exceeded"), rebalance(2, "member_rejoined")]
    assert columns_of(judged(rows, slow, exceeded), "value_now", "value_smallest") == [(9_000, 15_203)]


def test_slow_static_member_needs_poll_interval_plus_session_timeout() -> None:
    rows = [rebalance(0, "max_poll_exceeded", instance_id="i"), rebalance(5, "member_rejoined", instance_id="i")]
    assert columns_of(judged(rows), "setting", "value_smallest") == [("max_poll_interval", 60_000 + 10_000 + 5_000 + 1)]


def test_static_membership_avoids_rebalances_of_crash_within_session() -> None:
    rows = [rebalance(0, "member_rejoined"), rebalance(6, "member_dead", confidence="likely")]
    assert columns_of(judged(rows), *WHAT) == [("static_membership", 10_000, 4_001, 2, 2, "likely")]


def test_static_membership_names_session_timeout_too_short_for_restart() -> None:
    rows = [rebalance(0, "member_left"), rebalance(20, "member_rejoined")]
    (static,) = judged(rows)
    assert static.explanation == (
        "Static membership would have avoided 2 of 2 rebalances: 1 restart took less than 21 s, which the session"
        " timeout would have had to be (now 10 s)."
    )


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([rebalance(0, "member_left")], "it never came back"),
        ([rebalance(0, "member_left"), rebalance(5, "member_rejoined", "b")], "another member joined"),
        ([rebalance(0, "member_left"), rebalance(46, "member_rejoined")], "it took longer than Kafka's default"),
        ([rebalance(0, "heartbeat_expired")], "its silence is unknown"),
        ([rebalance(0, "heartbeat_expired", silent_ms=45_000)], "the silence was longer than Kafka's default allows"),
        ([rebalance(0, "max_poll_exceeded")], "its processing time is unknown"),
        ([rebalance(0, "member_left", instance_id="i"), rebalance(5, "member_rejoined", instance_id="i")],
         "it is static already"),
        ([rebalance(0, "heartbeat_expired", "a", act("member_left", "b"), silent_ms=12_000)],
         "another member left as well"),
        ([rebalance(0, "topic_created"), rebalance(5, "member_joined")], "no time-out avoids that"),
    ],
)  # fmt: skip
def test_no_remedy_is_claimed(rows: list[Rebalance], why: str) -> None:
    assert judged(rows) == [], why


def test_rebalance_with_several_restarts_needs_the_longest_timeout() -> None:
    both = [configured("a"), configured("b")]
    rows = [
        rebalance(0, "member_left", "a", act("member_left", "b", 1)),
        rebalance(3, "member_rejoined", "a"),
        rebalance(8, "member_rejoined", "b"),
    ]
    assert columns_of(judged(rows, *both), "value_smallest", "rebalances_avoided") == [(7_001, 3)]
    without_b = [rows[0], rows[1]]
    assert columns_of(judged(without_b, *both), "rebalance_ids") == [(["member_rejoined-a-3"],)], "b left for good"


def test_cooperative_followup_is_avoided_with_its_rebalance() -> None:
    rows = [rebalance(0, "member_left"), rebalance(2, "member_rejoined"), rebalance(3, "cooperative_followup", "b")]
    assert columns_of(judged(rows), "rebalances_avoided", "partition_seconds_avoided") == [(3, 9.0)]


def test_remedy_for_possible_cause_is_at_most_possible() -> None:
    rows = [rebalance(0, "max_poll_exceeded", confidence="possible"), rebalance(9, "member_rejoined")]
    assert columns_of(judged(rows), "confidence") == [("possible",)]


def test_remedy_lists_rebalances_of_the_window_and_uses_those_around_it() -> None:
    rows = [rebalance(-5, "member_left"), rebalance(5, "member_rejoined")]
    today = Window(AT, AT + timedelta(days=1))
    assert columns_of(judged(rows, window=today), "rebalance_ids", "rebalances_total") == [(["member_rejoined-a-5"], 1)]


def test_cooperative_assignor_avoids_cost_and_no_rebalance() -> None:
    rows = [rebalance(n, "member_joined", f"c{n}", partition_seconds=9.0) for n in range(3)]
    stops = {r.rebalance_id: Stop(9, kept, RebalanceKind.EAGER) for r, kept in zip(rows, (0, 5, None), strict=True)}
    proof = Quote(line_id="l", source="s", happened_at=AT, text="t")
    stops[rows[1].rebalance_id] = Stop(9, 5, RebalanceKind.EAGER, before=Assignment(AT, 1, frozenset(), {}, proof))
    (cooperative,) = judge_remedies(rows, stops, MemberRegistry(()), (), DAY)
    assert columns_of([cooperative], *WHAT) == [("cooperative_assignment", None, None, 0, 3, "likely")]
    assert (cooperative.partition_seconds_avoided, cooperative.evidence) == (5.0, [proof])
    assert cooperative.explanation == (
        "A cooperative assignor would have saved 5.0 of 27.0 partition-seconds, and no rebalance: in 1 rebalance"
        " partitions stopped that stayed with their member."
    )


def test_each_remedy_setting_has_a_kip_as_source() -> None:
    assert all("KIP-" in setting.noun.source for setting in RemedySetting)


CAUSES = ("member_left", "member_dead", "member_rejoined", "heartbeat_expired", "max_poll_exceeded", "topic_created")
ACTS = st.tuples(st.sampled_from(CAUSES), st.sampled_from("abc"))
NIGHTS = st.lists(
    st.tuples(st.integers(0, 600), ACTS, st.lists(ACTS, max_size=2), st.integers(10_000, 60_000) | st.none()),
    max_size=12,
    unique_by=lambda drawn: drawn[0],
)


@given(NIGHTS)
def test_smallest_value_is_the_least_that_avoids_the_listed_rebalances(night: list[Any]) -> None:
    members = [configured(c, session) for c, session in (("a", 10_000), ("b", 60_000), ("c", None))]
    rows = [
        rebalance(second, cause, client, *(act(c, m, second) for c, m in others), silent_ms=silent)
        for second, (cause, client), others, silent in sorted(night, key=lambda n: n[0])
    ]
    replay = GroupReplay(rows, MemberRegistry(members), ())
    needs = {t.rulings[0].code: replay.needs(t)[0] for t in TIMEOUTS}
    for remedy in judged(rows, *members):
        ids, value = remedy.rebalance_ids, remedy.value_smallest
        assert len(ids) == len(set(ids)) == remedy.rebalances_avoided > 0
        assert avoided_by(needs[remedy.setting], value) == ids
        assert set(avoided_by(needs[remedy.setting], value - 1)) < set(ids)
        assert remedy.confidence in ("likely", "possible")
        assert "would have" in remedy.explanation
