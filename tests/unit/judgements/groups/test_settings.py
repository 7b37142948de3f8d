"""How members are set up, by captured lines of real groups, by records and readings, and by all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import GROUP_RECORDS, GROUP_SNAPSHOTS, MEMBER_SNAPSHOTS
from kafka_hindsight.catalog.rows import Event, MemberSetting
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.groups.member_settings import rebuild_settings
from kafka_hindsight.shared.windows import Window
from tests.support.nights import EXCERPTS, WHOLE
from tests.support.rows import AT, row
from tools.plain_reader import read_logs

DAY = Window(AT, AT + timedelta(days=1))
UUID = "0f9c477f-157b-4328-8f40-679b535209b1"
LOWER_UUID = "8a1d3b52-9b1e-4a3c-9a52-6f3c1d2e4b5a"
BASICS = ("client_id", "instance_id", "session_timeout_ms", "rebalance_timeout_ms", "assignors")


def of_excerpt(excerpt: str, window: Window = WHOLE) -> list[MemberSetting]:
    """The settings that the lines of a captured group tell."""
    folder = EXCERPTS / "groups" / excerpt
    lines = [
        *read_logs(folder / "logs", "broker", "c")[0],
        *read_logs(folder / "clients", "client", "c")[0],
    ]
    named = sorted((e for e in lines if e.group_id), key=lambda e: str(e.group_id))
    by_group = groupby(named, key=lambda e: e.group_id)
    return [s for g, events in by_group for s in rebuild_settings("c", str(g), list(events), [], [], [], window)]


def columns_of(rows: Sequence[MemberSetting], *columns: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(getattr(r, c) for c in columns) for r in rows), key=repr)


def line(minute: float, kind: str, **fields: Any) -> Event:
    """A line about a member of the group orders; lines of kind client_... are a client's own."""
    origin = "client" if kind.startswith("client_") else "broker"
    at = AT + timedelta(minutes=minute)
    place = {"happened_at": at, "line_id": f"{minute}", "text": f"{kind} at {minute}"}
    return row(EVENTS, kind=kind, origin=origin, group_id="orders", **place, **fields)


def configured(minute: float, client: str, session: int, **fields: Any) -> Event:
    return line(minute, "client_configured", client_id=client, session_timeout_ms=session, **fields)


def test_java_client_log_gives_its_settings_and_unknown_ones_are_null() -> None:
    offered = ["range", "cooperative-sticky"]
    rows = of_excerpt("deployment-4.1")
    assert columns_of(rows, *BASICS, "heartbeat_interval_ms", "member_count", "protocol", "witnesses") == [
        ("billing-deploy-9-a", None, 7000, 300000, offered, None, 2, "classic", ["client_log"]),
        ("billing-deploy-9-b", None, 7000, 300000, offered, None, 2, "classic", ["client_log"]),
    ]
    assert all(r.knowledge_version is None and r.evidence for r in rows)


def test_evidence_of_settings_quotes_the_values() -> None:
    (text,) = {e.text.partition("INFO ")[2] for r in of_excerpt("deployment-4.1") for e in r.evidence[:1]}
    assert text == (
        "ConsumerConfig values: … session.timeout.ms = 7000; max.poll.interval.ms = 300000;"
        " group.protocol = classic; partition.assignment.strategy = range, cooperative-sticky"
    )


OFFSETS = ("isolation_level", "offset_reset", "is_auto_commit", "auto_commit_interval_ms")


@pytest.mark.parametrize(
    ("printed", "values"),
    [
        (
            "auto.commit.interval.ms = 1000\nauto.offset.reset = earliest\nenable.auto.commit = true\n"
            "isolation.level = read_committed",
            ("read_committed", "earliest", True, 1000),
        ),
        (
            "auto.commit.interval.ms = 5000\nauto.offset.reset = none\nenable.auto.commit = false\n",
            (None, "none", False, 5000),
        ),
        ("\n\n\n", (None, None, None, None)),
        (None, (None, None, None, None)),
    ],
)
def test_java_client_log_shows_where_it_begins_and_when_it_commits(printed: str, values: tuple[Any, ...]) -> None:
    joined = [configured(0, "a", 7_000, detail=printed), line(1, "client_joining", client_id="a")]
    assert columns_of(rebuild_settings("c", "g", joined, [], [], [], DAY), *OFFSETS) == [values]


def test_evidence_quotes_auto_commit_as_the_client_prints_it() -> None:
    joined = [configured(0, "a", 7_000, detail="enable.auto.commit = false"), line(1, "client_joining", client_id="a")]
    (row_of_a,) = rebuild_settings("c", "g", joined, [], [], [], DAY)
    assert "enable.auto.commit = false" in row_of_a.evidence[0].text


@pytest.mark.parametrize(("written", "protocol"), [("CLASSIC", "classic"), ("Consumer", "consumer"), ("x", "classic")])
def test_group_protocol_is_read_in_any_case(tmp_path: Path, written: str, protocol: str) -> None:
    (dump,) = (EXCERPTS / "groups/kip848-4.1/clients").glob("*-a.log")
    lines = dump.read_text().replace("group.protocol = consumer", f"group.protocol = {written}")
    assert written in lines
    (tmp_path / dump.name).write_text(lines)
    events, _ = read_logs(tmp_path, "client", "c")
    own = [e for e in events if e.group_id]
    assert {s.protocol for s in rebuild_settings("c", "g", own, [], [], [], WHOLE)} == {protocol}


def test_kip_848_client_has_no_session_timeout_of_its_own() -> None:
    assert columns_of(of_excerpt("kip848-4.1"), *BASICS, "protocol") == [
        ("email-next-11-a", None, None, 300000, None, "consumer"),
        ("email-next-11-b", None, None, 300000, None, "consumer"),
        ("email-next-11-c", None, None, 300000, None, "consumer"),
        ("email-next-11-d", None, None, 9000, None, "consumer"),
    ]


def test_restarted_static_member_is_one_row() -> None:
    assert columns_of(of_excerpt("static-4.1"), "client_id", "instance_id", "session_timeout_ms", "member_count") == [
        ("audit-static-4-a", "i1", 15000, 1),
        ("audit-static-4-b", "i2", 15000, 2),
    ]


def test_coordinator_lines_give_settings_without_client_logs() -> None:
    assert columns_of(of_excerpt("removed-2.8"), *BASICS, "assignor", "witnesses") == [
        ("email-batch-1bb3f", "i1", 15000, 300000, None, "range", ["member_line"]),
        ("rides-core-66061", "i2", 15000, 300000, None, "range", ["member_line"]),
    ]
    by_both = [r for r in of_excerpt("leaves-3.9") if "member_line" in r.witnesses]
    assert columns_of(by_both, *BASICS, "witnesses") == [
        ("search-op-4-a", None, 6000, 300000, ["range", "cooperative-sticky"], ["client_log", "member_line"]),
        ("search-op-4-b", None, 6000, 300000, ["range", "cooperative-sticky"], ["client_log", "member_line"]),
    ]


def test_single_assignor_of_a_member_line_is_not_its_list_of_assignors() -> None:
    left = {"kind": "member_left", "member_id": f"a-{UUID}", "client_id": "a", "session_timeout_ms": 6000}
    assert columns_of(rebuild_settings("c", "g", [line(0, **left, detail="range")], [], [], [], DAY), "assignors") == [
        (None,)
    ]
    several = line(0, **left, detail="range, roundrobin")
    assert columns_of(rebuild_settings("c", "g", [several], [], [], [], DAY), "assignors") == [
        (["range", "roundrobin"],)
    ]


def test_librdkafka_poll_expiry_gives_max_poll_interval() -> None:
    events = [line(3, "client_poll_expired", client_id="a", took_ms=9000)]
    assert columns_of(rebuild_settings("c", "g", events, [], [], [], DAY), "client_id", "rebalance_timeout_ms") == [
        ("a", 9000)
    ]


def test_contradicting_settings_are_two_rows_and_agreeing_ones_are_one() -> None:
    events = [
        configured(0, "a", 10_000),
        line(1, "member_joined", client_id="a", member_id=f"a-{UUID}"),
        configured(5, "a", 45_000),
        line(6, "member_joined", client_id="a", member_id=f"a-{LOWER_UUID}"),
    ]
    rows = rebuild_settings("c", "g", events, [], [], [], DAY)
    assert [(r.session_timeout_ms, r.first_seen_at - AT, r.last_seen_at - AT, r.member_count) for r in rows] == [
        (10_000, timedelta(0), timedelta(minutes=1), 1),
        (45_000, timedelta(minutes=5), timedelta(minutes=6), 1),
    ]


def test_settings_from_before_the_window_count_for_members_in_it() -> None:
    before = [configured(-90, "a", 10_000), configured(-80, "gone", 10_000)]
    synced = line(1, "client_synced", client_id="a", member_id=f"a-{UUID}")
    (setting,) = rebuild_settings("c", "g", [*before, synced], [], [], [], DAY)
    assert (setting.client_id, setting.session_timeout_ms, setting.first_seen_at) == (
        "a",
        10_000,
        AT + timedelta(minutes=1),
    )


def test_stored_generation_gives_settings_until_its_tombstone() -> None:
    member = {
        "member_id": f"a-{UUID}",
        "client_id": "a",
        "instance_id": None,
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 60_000,
    }
    stored = row(
        GROUP_RECORDS,
        group_id="orders",
        record_type="group_metadata",
        written_at=AT - timedelta(hours=3),
        generation=7,
        protocol="range",
        members=[member],
    )
    (setting,) = rebuild_settings("c", "g", [], [stored], [], [], DAY)
    assert columns_of([setting], *BASICS, "assignor", "protocol", "witnesses") == [
        ("a", None, 10_000, 60_000, None, "range", "classic", ["group_record"])
    ]
    assert setting.first_seen_at == AT
    assert [e.happened_at for e in setting.evidence] == [stored.written_at], "a quote has the instant of its record"
    deleted = replace(stored, written_at=AT - timedelta(hours=1), is_tombstone=True, members=None)
    assert rebuild_settings("c", "g", [], [stored, deleted], [], [], DAY) == []


def test_snapshot_shows_member_and_assignor_of_the_group() -> None:
    member = row(MEMBER_SNAPSHOTS, group_id="orders", member_id=f"i1-{UUID}", client_id="a", instance_id="i1")
    agreed = row(GROUP_SNAPSHOTS, group_id="orders", type="classic", assignor="range")
    (setting,) = rebuild_settings("c", "g", [configured(-9, "a", 45_000)], [], [member], [agreed], DAY)
    (shown,) = columns_of([setting], *BASICS, "assignor", "protocol")
    assert shown == ("a", "i1", 45_000, None, None, "range", "classic")


def test_consumers_of_a_connect_worker_own_topics_are_no_members() -> None:
    window = Window(datetime(2026, 11, 22, tzinfo=UTC), datetime(2026, 11, 23, tzinfo=UTC))
    assert {s.client_id for s in of_excerpt("connect-4.3", window)} == {"worker-1", "worker-2"}


CONFIGURED_LINES = st.lists(
    st.builds(
        configured,
        st.integers(0, 30),
        st.sampled_from(["a", "b"]),
        st.sampled_from([6_000, 45_000]),
        rebalance_timeout_ms=st.sampled_from([None, 9_000, 300_000]),
        instance_id=st.sampled_from([None, "i1"]),
    ),
    max_size=8,
    unique_by=lambda e: e.line_id,
)


@given(CONFIGURED_LINES, st.randoms())
def test_order_of_lines_does_not_change_settings_and_none_is_lost(events: list[Event], random: Any) -> None:
    joins = [
        line(31 + n, "client_joining", client_id=client, instance_id=instance)
        for n, (client, instance) in enumerate(product("ab", (None, "i1")))
    ]
    shuffled = random.sample([*events, *joins], len(events) + len(joins))
    rows = rebuild_settings("c", "g", shuffled, [], [], [], DAY)
    assert rows == rebuild_settings("c", "g", [*events, *joins], [], [], [], DAY)
    assert len({r.settings_id for r in rows}) == len(rows)
    for event in events:
        limits = {r.rebalance_timeout_ms for r in rows if r.session_timeout_ms == event.session_timeout_ms}
        assert limits and event.rebalance_timeout_ms in {None, *limits}
