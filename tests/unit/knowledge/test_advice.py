"""Advice to groups: over all causes, protocols and libraries, and for settings that are known."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Cause, ClientLibrary, Harm, Protocol, RemedySetting, Silence
from kafka_hindsight.knowledge.advice import (
    HEARTBEATS_PER_SESSION,
    MemberFacts,
    advise,
    change_words,
    changes_of,
    member_kinds,
    with_headroom,
)
from kafka_hindsight.knowledge.durability_advice import Replication, prevention_of

MEMBERS = tuple(member_kinds())
IDS = [f"{m.protocol} {m.library}" for m in MEMBERS]

# Every name of a setting of a consumer, as some library has it.
SETTING = re.compile(
    r"(?<![\w.])(?:consumer\.override\.)?(?:session\.timeout\.ms|heartbeat\.interval\.ms|max\.poll\.[a-z.]+[a-z]"
    r"|group\.instance\.id|partition\.assignment\.strategy|rebalance\.timeout\.ms)"
    r"|(?:session|heartbeat|max_poll|rebalance)_[a-z_]+|group_instance_id|partition_assignment_strategy"
    r"|(?<!kgo\.)\b(?:session|rebalance)Timeout|heartbeatInterval|kgo\.\w+|config\.Consumer\.[\w.]+\w"
    r"|(?<![\w.])(?:Session|Rebalance)Timeout|(?<![\w.])HeartbeatInterval"
)


@pytest.mark.parametrize("member", MEMBERS, ids=IDS)
@pytest.mark.parametrize("cause", Cause)
def test_advice_names_the_settings_of_its_library_and_no_others(cause: Cause, member: MemberFacts) -> None:
    noun, group = member.library.noun, member.protocol.noun
    of_library = {
        noun.poll,
        noun.rejoin,
        noun.records,
        noun.instance,
        noun.assignors,
        noun.revocation_hook,
        noun.loss_hook,
    }
    of_library |= {"kgo.CooperativeStickyBalancer"} if member.library is ClientLibrary.FRANZ_GO else set()
    timeouts = {group.session, group.heartbeat} if member.protocol.has_epochs else {noun.session, noun.heartbeat}
    for silence in (None, *Silence):
        advice = advise(cause, member, silence)
        assert advice.text.endswith(".") and "{" not in advice.text.replace("{ ... }", ""), advice.text
        assert "  " not in advice.text and all("{" not in command for command in advice.commands)
        settings = {*SETTING.findall(advice.text)}
        allowed = {name.removeprefix("group.") for name in {*of_library, *timeouts}} | of_library | timeouts
        assert settings <= allowed, (settings - allowed, advice.text)


@pytest.mark.parametrize("member", MEMBERS, ids=IDS)
def test_commands_are_those_of_the_kind_of_group(member: MemberFacts) -> None:
    """Source: bin/kafka-share-groups.sh, kafka-streams-groups.sh; ConfigCommand's entity type groups."""
    scripts = {c.split()[0] for cause in Cause for c in advise(cause, member).commands if "-groups.sh" in c}
    is_worker = member.library is ClientLibrary.CONNECT
    assert scripts == (set() if is_worker else {member.protocol.noun.tool})
    of_group = advise(Cause.HEARTBEAT_EXPIRED, member).commands[-1]
    assert ("--entity-type groups" in of_group) is member.protocol.has_epochs


def member(**known: Any) -> MemberFacts:
    return replace(MemberFacts(protocol=Protocol.CLASSIC, library=ClientLibrary.JAVA, group="orders"), **known)


@pytest.mark.parametrize(
    ("setting", "facts", "needed", "lines"),
    [
        ("max_poll_interval", {"poll_ms": 300_000}, 312_000, ["max.poll.interval.ms: 300000 -> 400000"]),
        ("max_poll_interval", {"poll_ms": 600_000}, 312_000, []),
        ("max_poll_interval", {"poll_ms": 300_000}, None, []),
        ("max_poll_interval", {"poll_ms": 9_000, "library": ClientLibrary.SARAMA}, 15_000, []),
        ("session_timeout", {"session_ms": 7_000}, 12_044, ["session.timeout.ms: 7000 -> 45000"]),
        ("session_timeout", {"session_ms": 45_000}, None, []),
        ("session_timeout", {"session_ms": 45_000}, 50_000, ["session.timeout.ms: 45000 -> 70000"]),
        ("session_timeout", {}, 12_044, []),
        (
            "session_timeout",
            {"session_ms": 45_000, "heartbeat_ms": 20_000},
            None,
            ["heartbeat.interval.ms: 20000 -> 15000"],
        ),
        (
            "session_timeout",
            {"session_ms": 10_000, "library": ClientLibrary.KAFKA_GO},
            12_000,
            ["SessionTimeout: 10s -> 45s"],
        ),
        (
            "session_timeout",
            {"session_ms": 45_000, "protocol": Protocol.SHARE},
            120_000,
            ["share.session.timeout.ms: 45000 -> 60000"],
        ),
        ("static_membership", {"session_ms": 45_000, "is_static": True}, 12_000, []),
        ("static_membership", {"session_ms": 45_000, "library": ClientLibrary.KAFKAJS}, 12_000, []),
        ("static_membership", {"session_ms": 45_000, "protocol": Protocol.SHARE}, 12_000, []),
        (
            "static_membership",
            {"session_ms": 45_000},
            12_000,
            ["group.instance.id: not set -> a name of its own for each member, the same after a restart"],
        ),
        ("cooperative_assignment", {"assignors": ("cooperative-sticky",)}, None, []),
        ("cooperative_assignment", {"assignors": ("range",), "library": ClientLibrary.SARAMA}, None, []),
        ("cooperative_assignment", {"protocol": Protocol.CONSUMER}, None, []),
    ],
)
def test_change_is_proposed_only_where_the_known_settings_fall_short(
    setting: str, facts: dict[str, Any], needed: int | None, lines: list[str]
) -> None:
    assert [change_words(c) for c in changes_of(RemedySetting(setting), member(**facts), needed)] == lines


@pytest.mark.parametrize(
    ("library", "assignors", "how"),
    [
        (ClientLibrary.JAVA, ("range",), "two rolling restarts"),
        (ClientLibrary.JAVA, ("range", "cooperative-sticky"), "one rolling restart"),
        (ClientLibrary.LIBRDKAFKA, ("range", "roundrobin"), "stop all members"),
    ],
)
def test_a_cooperative_assignor_takes_no_more_restarts_than_it_needs(
    library: ClientLibrary, assignors: tuple[str, ...], how: str
) -> None:
    """Source: KIP-429; CONFIGURATION.md of librdkafka."""
    (change,) = changes_of(RemedySetting.COOPERATIVE_ASSIGNMENT, member(library=library, assignors=assignors))
    assert (change.how or "").startswith(how)


@pytest.mark.parametrize(
    ("facts", "leaves"),
    [
        ({}, True),
        ({"is_static": True}, False),
        ({"protocol": Protocol.CONSUMER}, True),
        ({"protocol": Protocol.CONSUMER, "is_static": True}, False),
        ({"library": ClientLibrary.STREAMS}, False),
        ({"library": ClientLibrary.STREAMS, "protocol": Protocol.STREAMS}, True),
    ],
)
def test_a_close_is_advised_where_it_leaves_the_group(facts: dict[str, Any], leaves: bool) -> None:
    """Source: KIP-345, KIP-848 (a static member leaves with epoch -2 and keeps its place), StreamsConfig."""
    text = advise(Cause.MEMBER_DEAD, member(**facts)).text
    assert ("Close it on shutdown signals" in text) is leaves
    assert ("A close of it sends no LeaveGroup" in text) is not leaves


MILLIS = st.none() | st.integers(1, 3_600_000)


@given(
    kind=st.sampled_from(MEMBERS),
    setting=st.sampled_from(RemedySetting),
    session=MILLIS,
    heartbeat=MILLIS,
    poll=MILLIS,
    needed=MILLIS,
)
def test_no_time_is_proposed_that_the_known_ones_refute(
    kind: MemberFacts,
    setting: RemedySetting,
    session: int | None,
    heartbeat: int | None,
    poll: int | None,
    needed: int | None,
) -> None:
    facts = replace(kind, session_ms=session, heartbeat_ms=heartbeat, poll_ms=poll)
    for change in changes_of(setting, facts, needed):
        scale = 1_000 if change.value_new.endswith("s") and change.value_new[:-1].replace(".", "").isdigit() else 1
        if not change.value_new[:1].isdigit():
            continue
        now, new = (
            None if v is None else round(float(v.removesuffix("s")) * scale)
            for v in (change.value_now, change.value_new)
        )
        assert new is not None and new > 0
        is_heartbeat = "eartbeat" in change.key
        if is_heartbeat:
            assert now is not None and new < now and new * HEARTBEATS_PER_SESSION <= max(session or 0, 1_800_000)
        elif now is not None:
            longest = facts.protocol.noun.longest_session_ms
            assert new > now or (setting is RemedySetting.STATIC_MEMBERSHIP and new == longest)
        if setting is RemedySetting.MAX_POLL_INTERVAL:
            assert needed is not None and new > needed


@given(st.integers(1, 10**9))
def test_headroom_is_more_than_was_needed_and_no_more_than_three_times_that(needed: int) -> None:
    assert needed < with_headroom(needed) <= 3 * needed + 2
    assert len(str(with_headroom(needed)).rstrip("0")) == 1


def test_headroom_of_a_batch_of_five_minutes() -> None:
    assert (with_headroom(312_000), with_headroom(12_044), with_headroom(0)) == (400_000, 20_000, 0)


@pytest.mark.parametrize(
    ("harm", "topics", "said", "unsaid"),
    [
        (Harm.RECORDS_LOST, Replication(), ["unclean", "three replicas", "min.insync.replicas=2"], []),
        (Harm.RECORDS_LOST, Replication(3, 1, True), ["unclean", "min.insync.replicas=2"], ["three replicas"]),
        (Harm.RECORDS_LOST, Replication(3, 2, False), ["acks=all"], ["unclean", "three replicas", "min.insync"]),
        (Harm.PARTITIONS_OFFLINE, Replication(3, 2), ["under-replicated"], ["three replicas"]),
        (Harm.WRITES_REFUSED, Replication(3, 2), [], ["one replica more"]),
        (Harm.WRITES_REFUSED, Replication(2, 2), ["one replica more"], []),
    ],
)
def test_topics_are_not_told_to_have_what_they_have(
    harm: Harm, topics: Replication, said: list[str], unsaid: list[str]
) -> None:
    text = prevention_of(harm, topics)
    assert all(words in text for words in said) and not any(words in text for words in unsaid), text
    assert "{" not in text


def test_the_weakest_of_several_topics_counts_and_one_that_is_not_known() -> None:
    strong, weak = Replication(3, 2, False), Replication(1, 1, True)
    assert Replication.weakest([strong, weak]) == weak
    assert Replication.weakest([strong, Replication()]) == Replication()
    assert Replication.weakest([]) == Replication()
