"""Rebalances of single groups, on lines as captured: expected beside given."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import Event, LogSpan, Rebalance, TopicChange
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.rebalances import GroupContext, GroupHistory, rebuild_group
from tests.support.draws import drawn
from tests.support.histories import BOTH, lines
from tests.support.histories import line as coordinator
from tests.support.logs import lay
from tests.support.made_groups import PY, PY2, joins_as_one_is_dropped, own, stable
from tests.support.nights import EXCERPTS, at
from tests.support.nights import events as night_events
from tests.support.rows import row
from tools.plain_reader import read_logs

NIGHT_ENDS = datetime(2026, 11, 21, 2, 10, tzinfo=UTC)
MEMBER = "app-35264ebf-dc38-4338-91a3-b8ad0d1e11a4"
OTHER = "app-5e48ec08-c5a2-4c85-be06-cdad44b39a4f"


def history(events: Sequence[Event], topic_changes: Sequence[TopicChange] = ()) -> GroupHistory:
    group = next(e.group_id for e in events if e.group_id)
    context = GroupContext("night", at("01:40:00"), NIGHT_ENDS, topic_changes)
    return rebuild_group(group, events, context)


def columns_of(rows: Sequence[Row], *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(r, c) for c in columns) for r in rows]


def verdicts(rows: Sequence[Rebalance]) -> list[tuple[str, str, str | None]]:
    return [(r.cause, r.confidence, r.client_id) for r in rows]


def test_leave_with_a_generation_of_its_own_is_a_rebalance_before_the_next_join() -> None:
    """The group's only member closes, which makes generation 2, and a new one is started, which makes generation 3."""
    acts = [
        own("client_joined", "01:50:00", generation=1, member_id=MEMBER),
        own("client_leaving", "01:55:00", member_id=MEMBER),
        own("client_joined", "01:55:04", generation=3, member_id=OTHER),
    ]
    rows = history([replace(e, group_id="g") for e in acts]).rebalances
    assert columns_of(rows[1:], "cause", "from_generation", "to_generation") == [
        ("member_left", 1, 2),
        ("member_rejoined", 2, 3),
    ]
    *_, together = history(
        [replace(e, group_id="g", generation=e.generation and min(e.generation, 2)) for e in acts]
    ).rebalances
    assert (together.cause, together.to_generation) == ("member_left", 2)


def test_unknown_session_bounds_how_long_a_member_was_silent() -> None:
    """It had joined 25 s before: a session of 45 s, the default, would make it silent before it came."""
    first, second = (f"kafka-python-2.0.2-{member.removeprefix('app-')}" for member in (MEMBER, OTHER))
    expires = f"removing member {first} on heartbeat expiration."
    rows = history(
        [
            coordinator("rebalance_started", "01:50:00", generation=0, reason=f"Adding new member {first}"),
            coordinator("join_completed", "01:50:01", generation=1, member_count=1),
            coordinator("assignment_received", "01:50:01", generation=1),
            coordinator("member_failed", "01:50:20", member_id=first),
            coordinator("rebalance_started", "01:50:20", generation=1, reason=expires),
            coordinator("rebalance_started", "01:50:25", generation=2, reason=f"Adding new member {second}"),
        ]
    ).rebalances
    assert "at most 25 s before" in rows[-1].explanation


@pytest.mark.parametrize(("early", "ends"), [("01:50:02.600", "01:50:04"), ("01:50:04.010", "01:50:04.010")])
def test_assignment_follows_its_join_phase_where_the_clock_went_back(early: str, ends: str) -> None:
    (row,) = history(
        [
            coordinator("rebalance_started", "01:50:01", generation=0, reason=f"Adding new member {MEMBER}"),
            coordinator("join_completed", "01:50:04", generation=1, member_count=1),
            coordinator("assignment_received", early, generation=1),
        ]
    ).rebalances
    assert (row.from_generation, row.to_generation, row.outcome, row.ended_at) == (0, 1, "completed", at(ends))


@pytest.mark.parametrize(("log", "which"), [([], "would show which"), (["01:49:00"], "does not show which")])
def test_own_log_is_asked_for_only_where_it_is_missing(log: list[str], which: str) -> None:
    own_lines = [replace(own("client_joined", clock, generation=1, member_id=MEMBER), group_id="g") for clock in log]
    rows = history(
        [
            *own_lines,
            coordinator("rebalance_started", "01:49:00", generation=0, reason=f"Adding new member {MEMBER}"),
            coordinator("join_completed", "01:49:01", generation=1, member_count=1),
            coordinator("assignment_received", "01:49:01", generation=1),
            coordinator("member_left", "01:55:00", member_id=MEMBER),
            coordinator(
                "rebalance_started", "01:55:00", generation=1, reason=f"removing member {MEMBER} on LeaveGroup"
            ),
            coordinator("rebalance_started", "01:56:00", generation=2, reason=f"Adding new member {OTHER}"),
        ]
    ).rebalances
    assert rows[1].explanation.endswith(f"Its own log {which}.")


@pytest.mark.parametrize(
    ("assignor", "cause"), [("RoundRobinAssigner", "member_left"), ("roundrobin", "max_poll_exceeded")]
)
def test_assignor_of_kafkajs_shows_a_member_without_poll_limit(assignor: str, cause: str) -> None:
    limit = {"rebalance_timeout_ms": 60_000, "assignor": assignor}
    rows = history(
        [
            coordinator("rebalance_started", "01:49:00", generation=0, reason=f"Adding new member {MEMBER}"),
            coordinator("join_completed", "01:49:01", generation=1, member_count=1),
            coordinator("assignment_received", "01:49:01", generation=1),
            coordinator("member_left", "01:55:00", member_id=MEMBER, **limit),
            coordinator(
                "rebalance_started", "01:55:00", generation=1, reason=f"removing member {MEMBER} on LeaveGroup"
            ),
            coordinator("rebalance_started", "01:56:00", generation=2, reason=f"Adding new member {OTHER}"),
        ]
    ).rebalances
    assert rows[1].cause == cause


@pytest.mark.parametrize("later", [[], [coordinator("join_completed", "01:52:00", generation=4, member_count=1)]])
def test_lone_line_of_removed_member_is_a_rebalance(later: list[Event]) -> None:
    """The line that begins the rebalance is lost: a member that failed shows that there was one."""
    failed = coordinator("member_failed", "01:50:00", member_id=MEMBER)
    (row,) = history([failed, *later]).rebalances
    assert (row.cause, row.confidence, row.client_id) == ("session_ended", "possible", "app")
    assert failed.line_id in [q.line_id for q in row.evidence]


def test_removed_member_within_a_join_phase_has_no_rebalance_of_its_own() -> None:
    begun = coordinator("rebalance_started", "01:50:00", generation=3, reason=f"Adding new member {OTHER}")
    ended = coordinator("join_completed", "01:50:20", generation=4, member_count=1)
    failed = coordinator("member_failed", "01:50:10", member_id=MEMBER)
    (row,) = history([begun, failed, ended]).rebalances
    assert [(c.client_id, c.cause) for c in row.contributors] == [("app", "session_ended")]


def test_fenced_member_of_unknown_epoch_is_a_rebalance() -> None:
    reason = "the member session expired"
    fenced = coordinator(
        "member_fenced", "01:50:00", member_id="IF9u91ErTnivIe8vNKWFHQ", reason=reason, protocol="consumer"
    )
    (row,) = history([fenced]).rebalances
    assert (row.protocol, row.from_generation, row.cause, row.confidence) == (
        "consumer",
        None,
        "member_dead",
        "possible",
    )


@pytest.mark.parametrize(
    ("act", "later", "verdicts_of_rows"),
    [
        (own("client_heartbeat_refused", "01:50:00", member_id=MEMBER, error="UNKNOWN_MEMBER_ID"), [], {"possible"}),
        (own("client_heartbeat_refused", "01:50:00", member_id=MEMBER, error="ILLEGAL_GENERATION"), [], set()),
        (
            own("client_heartbeat_refused", "01:50:00", member_id=MEMBER, error="UNKNOWN_MEMBER_ID"),
            [own("client_joining", "01:50:03")],
            set(),
        ),
        (own("client_poll_expired", "01:50:00"), [], {"possible"}),
    ],
)
def test_client_log_without_generations_shows_its_removal(
    act: Event, later: list[Event], verdicts_of_rows: set[str]
) -> None:
    rows = history([replace(e, group_id="g") for e in (act, *later)]).rebalances
    assert {r.confidence for r in rows} == verdicts_of_rows


def test_old_client_that_names_no_member_as_it_joins_left_and_came_back() -> None:
    """Until 2.5 the line of a join has a generation and no member id; the line of the leave names one."""
    acts = [
        own("client_joining", "01:50:00"),
        own("client_synced", "01:50:03", generation=8),
        own("client_leaving", "01:55:00", member_id=MEMBER, client_reason="the consumer is being closed"),
        own("client_joining", "01:55:10"),
        own("client_synced", "01:55:13", generation=10),
    ]
    rows = history([replace(e, group_id="g") for e in acts]).rebalances
    assert columns_of(rows, "cause", "from_generation", "to_generation") == [
        ("member_joined", 7, 8),
        ("member_left", 8, 9),
        ("member_rejoined", 9, 10),
    ]
    assert {r.confidence for r in rows[1:]} == {"likely"}


def test_generations_that_begin_again_are_another_group_of_that_name() -> None:
    acts = [
        own("client_joined", "01:50:00", generation=7, member_id=MEMBER),
        own("client_leaving", "01:55:00", member_id=MEMBER, client_reason="the consumer is being closed"),
        own("client_joining", "02:05:00"),
        own("client_joined", "02:05:01", generation=1, member_id=OTHER),
    ]
    *_, left, joined = history([replace(e, group_id="g") for e in acts]).rebalances
    assert (left.cause, left.from_generation, left.to_generation, left.ended_at) == ("member_left", 7, 8, None)
    assert (joined.cause.noun.is_arrival, joined.from_generation, joined.to_generation) == (True, 0, 1)
    assert joined.started_at == at("02:05:00")
    assert "waited" not in left.explanation + joined.explanation


def epochs_of_two(*later: Event) -> GroupHistory:
    """A KIP-848 member takes half of another one's partitions, and hours later the first one closes."""

    def state(client: str, clock: str, before: str, after: str, epoch: int) -> Event:
        states = {"previous_state": before, "state": after, "generation": epoch}
        return replace(
            own("client_state_changed", clock, client=client, member_id=client.upper(), **states), group_id="g"
        )

    def bumped(clock: str, kind: str, member: str, epoch: int) -> list[Event]:
        return [
            coordinator(kind, clock, member_id=member, protocol="consumer"),
            coordinator("epoch_bumped", clock, generation=epoch, protocol="consumer"),
        ]

    acts = [
        *bumped("01:41:00", "member_joined", "A", 1),
        state("a", "01:41:00", "UNSUBSCRIBED", "JOINING", 0),
        state("a", "01:41:01", "ACKNOWLEDGING", "STABLE", 1),
        *bumped("01:42:00", "member_joined", "B", 2),
        state("b", "01:42:00.100", "UNSUBSCRIBED", "JOINING", 0),
        state("b", "01:42:00.200", "ACKNOWLEDGING", "STABLE", 2),
        state("a", "01:42:03", "STABLE", "RECONCILING", 1),
        state("a", "01:42:03.500", "ACKNOWLEDGING", "STABLE", 1),
        state("b", "01:42:06", "ACKNOWLEDGING", "STABLE", 2),
        state("a", "02:05:00", "STABLE", "PREPARE_LEAVING", 2),
        state("a", "02:05:00.010", "PREPARE_LEAVING", "LEAVING", -1),
        *bumped("02:05:00.020", "member_left", "A", 3),
    ]
    return history([*acts, *later])


def test_epoch_ends_as_the_last_member_is_stable_and_not_as_one_leaves() -> None:
    _, grown, _ = epochs_of_two().rebalances
    assert (grown.outcome, grown.ended_at, grown.duration_ms) == ("completed", at("01:42:06"), 6_000)


def test_epoch_has_no_end_where_the_log_of_a_member_begins_later() -> None:
    """It may have given partitions back before its log begins."""
    whole = epochs_of_two().rebalances
    events = [coordinator("member_joined", "01:41:00", member_id="C", protocol="consumer")]
    events += [coordinator("epoch_bumped", "01:41:00.001", generation=1, protocol="consumer")]
    late = {"previous_state": "STABLE", "state": "RECONCILING", "generation": 1}
    seen = own("client_state_changed", "01:50:00", client="c", member_id="C", **late)
    assert whole[1].ended_at is not None
    (row,) = history([*events, replace(seen, group_id="g")]).rebalances
    assert (row.outcome, row.ended_at, row.duration_ms) == ("unfinished", None, None)


def test_classic_group_keeps_its_members_as_it_is_converted() -> None:
    """Source: GroupMetadataManager.convertToConsumerGroup; up to 3.9 the coordinator prints each member's state."""
    lines_of_group = [
        coordinator("rebalance_started", "01:41:00", generation=6, reason=f"Adding new member {MEMBER}"),
        coordinator("join_completed", "01:41:01", generation=7, member_count=3),
        coordinator("assignment_received", "01:41:01", generation=7),
        coordinator("member_joined", "01:42:00", member_id="B", protocol="consumer"),
        coordinator("epoch_bumped", "01:42:00.010", generation=8, protocol="consumer"),
        coordinator("member_assignment_state", "01:42:04", member_id="B", generation=8, state="STABLE"),
    ]
    _, converted = history(lines_of_group).rebalances
    assert (converted.members_before, converted.members_after) == (3, 4)
    assert (converted.outcome, converted.ended_at) == ("completed", at("01:42:04"))


def test_group_without_coordinator_lines_has_rebalances_its_members_joined() -> None:
    rows = history(lines("pause-4.1", "client")).rebalances
    a, b = "ads-etl-1-a", "ads-etl-1-b"
    assert verdicts(rows) == [
        ("member_joined", "likely", a),
        ("member_joined", "possible", b),
        ("unknown", "unknown", None),
        ("member_rejoined", "likely", b),
        ("member_left", "likely", a),
    ]
    assert columns_of(rows, "from_generation", "to_generation") == [(0, 1), (1, 2), (2, 3), (3, 4), (4, None)]
    assert all(row.explanation.endswith("No line of the group's coordinator is at hand.") for row in rows)
    assert [str(row.evidence[0].text).split("] ", 2)[2][:19] for row in rows[:2]] == ["(Re-)joining group "] * 2


def test_connector_change_in_worker_log_alone_is_likely_cause(
    tmp_path: Path,
) -> None:
    """A worker of Connect: a connector is created, and a fifth of a second later its tasks are."""
    worker, member = "org.apache.kafka.connect.runtime.distributed", "connect-1-c9de5b9b-ee39-4c05-9007-ed6c92ba0b4c"
    joined = (
        "Successfully joined group with generation Generation{generationId=%d, memberId='%s', protocol='sessioned'}"
    )
    messages = (
        ("WorkerCoordinator", "01:50:28,680", "(Re-)joining group"),
        ("WorkerCoordinator", "01:50:28,802", joined % (1, member)),
        ("DistributedHerder", "01:53:51,925", "Connector orders-sink config updated"),
        ("WorkerCoordinator", "01:53:51,944", "(Re-)joining group"),
        ("WorkerCoordinator", "01:53:51,959", joined % (2, member)),
        ("DistributedHerder", "01:53:52,144", "Tasks [orders-sink-0] configs updated"),
        ("WorkerCoordinator", "01:53:52,155", "(Re-)joining group"),
        ("WorkerCoordinator", "01:53:52,168", joined % (3, member)),
    )
    head = "[2026-11-21 %s] INFO [Worker clientId=connect-1, groupId=workers] %s (%s.%s)"
    text = "".join(f"{head % (clock, words, worker, of)}\n" for of, clock, words in messages)
    rows = history(read_logs(lay(tmp_path, {"connect.log": text}), "client", "night")[0]).rebalances
    assert verdicts(rows)[1:] == [("connector_changed", "likely", "connect-1")] * 2
    assert "Connector orders-sink config updated" in rows[1].explanation
    assert f"{rows[1].started_at:%H:%M:%S}" == "01:53:51"


def test_client_logs_alone_show_restart_of_generations_and_no_gap() -> None:
    own = lines("pause-4.1", "client")
    assert history([e for e in own if e.generation != 2]).gaps == []
    later = [replace(e, happened_at=e.happened_at + timedelta(hours=1), line_id=f"{e.line_id} later") for e in own]
    gaps = history([*own, *later]).gaps
    assert gaps and all(gap.next_generation <= gap.after_generation for gap in gaps)


def test_paused_member_with_its_own_log_is_certain_heartbeat_expiry() -> None:
    a, b = "ads-etl-1-a", "ads-etl-1-b"
    rows = history(lines("pause-4.1", *BOTH)).rebalances
    assert verdicts(rows) == [
        ("member_joined", "certain", a),
        ("member_joined", "certain", b),
        ("heartbeat_expired", "certain", b),
        ("member_rejoined", "likely", b),
        ("member_left", "certain", a),
    ]
    assert columns_of(rows, "from_generation", "to_generation", "outcome", "members_before", "members_after") == [
        (0, 1, "completed", None, 1),
        (1, 2, "completed", 1, 2),
        (2, 3, "completed", 2, 1),
        (3, 4, "completed", 1, 2),
        (4, 5, "emptied", 2, 0),
    ]
    # session.timeout.ms of 7 s, removed at 01:41:13.807, heard again at 01:41:18.860
    assert rows[2].silent_ms == 7_000 + 5_043
    assert [c.cause for c in rows[4].contributors] == ["member_left"]


def test_paused_member_without_its_own_log_is_possible_heartbeat_expiry() -> None:
    rows = history(lines("pause-4.1", "broker")).rebalances
    assert (rows[2].cause, rows[2].confidence) == ("heartbeat_expired", "possible")
    assert "died" in rows[2].explanation


def test_static_member_within_session_timeout_is_no_rebalance() -> None:
    rebuilt = history(lines("static-4.1", *BOTH))
    assert columns_of(rebuilt.rebalances, "cause", "confidence", "instance_id", "client_id") == [
        ("member_joined", "certain", "i1", "audit-static-4-a"),
        ("member_joined", "certain", "i2", "audit-static-4-b"),
        ("member_dead", "likely", "i2", "audit-static-4-b"),
        ("member_left", "certain", "i1", "audit-static-4-a"),
    ]
    assert [r.contributors for r in rebuilt.rebalances] == [[], [], [], []]


def test_slow_rebalance_names_its_cause_and_the_member_that_delayed_it() -> None:
    rows = history(lines("drag-4.1", *BOTH)).rebalances
    slow = rows[2]
    assert (slow.cause, slow.client_id) == ("member_joined", "audit-drag-16-c")
    assert [d.client_id for d in slow.delayed_by][-1] == "audit-drag-16-a"
    assert slow.delayed_by[-1].waited_ms > 5_000
    assert slow.explanation.endswith(" for 'audit-drag-16-a'.")
    assert "waited" not in rows[1].explanation


def test_delay_without_client_logs_is_attributed_to_no_member() -> None:
    assert [r.delayed_by for r in history(lines("drag-4.1", "broker")).rebalances] == [[]] * 5


def test_librdkafka_max_poll_exceeded_is_certain_only_with_its_own_log() -> None:
    events = lines("slow-librdkafka-4.1", *BOTH)
    ours = [replace(e, group_id=e.group_id or "geo-py-5") for e in events]
    with_log, without = history(ours).rebalances[2], history(lines("slow-librdkafka-4.1", "broker")).rebalances[2]
    assert (with_log.cause, with_log.confidence) == ("max_poll_exceeded", "certain")
    assert without.confidence == "possible"


def test_kip_848_epochs_are_rebalances_with_causes() -> None:
    rows = history(lines("kip848-4.1", *BOTH)).rebalances
    assert columns_of(rows, "to_generation", "cause", "confidence", "client_id", "members_after") == [
        (1, "member_joined", "certain", "email-next-11-a", 1),
        (2, "member_joined", "certain", "email-next-11-b", 2),
        (3, "member_left", "certain", "email-next-11-b", 1),
        (4, "member_joined", "certain", "email-next-11-c", 2),
        (5, "member_dead", "likely", "email-next-11-c", 1),
        (6, "member_joined", "certain", "email-next-11-d", 2),
        (7, "max_poll_exceeded", "certain", "email-next-11-d", 1),
        (8, "member_rejoined", "certain", "email-next-11-d", 2),
        (9, "member_left", "certain", "email-next-11-a", 1),
        (10, "member_dead", "likely", "email-next-11-d", 0),
    ]
    assert {r.protocol for r in rows} == {"consumer"}
    assert rows[-1].outcome == "emptied"


def test_kip_848_member_that_rejoins_with_its_id_exceeded_max_poll() -> None:
    rows = history(lines("kip848-4.1", "broker")).rebalances
    assert columns_of(rows[6:8], "cause", "confidence") == [
        ("max_poll_exceeded", "likely"),
        ("member_rejoined", "certain"),
    ]
    joined = [(r.members_before, r.confidence) for r in rows[:6] if r.cause == "member_joined"]
    assert joined == [(0, "certain"), (1, "likely"), (1, "likely"), (1, "likely")]
    assert [r.ended_at for r in rows[:9]] == [None] * 9


@pytest.mark.parametrize(("origins", "sure"), [(BOTH, "certain"), (("broker",), "likely")])
def test_cooperative_followup_is_found_without_client_reason(origins: Sequence[str], sure: str) -> None:
    events = lines("cooperative-2.8", *origins)
    assignors = [replace(e, assignor="cooperative-sticky") if e.kind == "rebalance_started" else e for e in events]
    rows = history(assignors).rebalances
    assert [(r.cause, r.confidence) for r in rows if r.from_generation in (2, 4)] == [
        ("cooperative_followup", sure)
    ] * 2


def test_topic_creation_and_deletion_are_causes_by_leader_log() -> None:
    rows = history(lines("topics-3.9", *BOTH)).rebalances
    assert columns_of(rows, "cause", "confidence") == [
        ("member_joined", "certain"),
        ("topic_created", "certain"),
        ("topic_deleted", "certain"),
        ("topic_deleted", "certain"),
        ("member_left", "certain"),
    ]


def test_one_topic_change_without_leader_log_is_likely_and_two_are_metadata_changed() -> None:
    events = lines("topics-3.9", "broker")
    change = coordinator("topic_created", "01:55:50.2", group=None, topic="crm-rx-6-x2")
    one = TopicChange(at=change.happened_at, kind="topic_created", topic="crm-rx-6-x2", event=quote(change))
    two = replace(one, topic="elsewhere")
    assert columns_of(history(events, [one]).rebalances[1:2], "cause", "confidence") == [("topic_created", "likely")]
    assert columns_of(history(events, [one, two]).rebalances[1:2], "cause", "confidence") == [
        ("metadata_changed", "likely")
    ]


def test_members_that_joined_during_a_join_phase_are_contributors() -> None:
    rows = history(lines("storm-2.8", "broker")).rebalances
    joined = {c.client_id for r in rows for c in r.contributors if c.cause == "member_joined"}
    assert joined == {"billing-storm-8-b2", "billing-storm-8-b4"}


@pytest.mark.parametrize(
    ("seconds", "session_ms", "verdict"),
    [
        (5.5, None, ("member_rejoined", "likely")),
        (6.5, None, ("member_joined", "possible")),
        (11.1, 10_000, ("member_joined", "possible")),
        (17.2, 45_000, ("member_rejoined", "likely")),
    ],
)
def test_member_that_was_heard_since_another_joined_is_not_its_former_self(
    seconds: float, session_ms: int | None, verdict: tuple[str, str]
) -> None:
    """A session is as long as the other one's of its client id, else 6 s at least: one that ends later was renewed."""
    leaves = coordinator("member_left", "01:15:00", member_id=PY2, session_timeout_ms=session_ms)
    rows = history([*stable(PY), *joins_as_one_is_dropped(1, seconds), leaves]).rebalances
    assert [verdict] == columns_of([r for r in rows if r.started_at == at("01:09:20")], "cause", "confidence")


def test_join_belongs_to_the_epoch_that_the_same_member_raises_however_late() -> None:
    """The first heartbeat of an application of Streams creates its topology: 2 s on a busy machine."""
    rows = history(night_events("slow-streams-4.4")).rebalances
    assert columns_of(rows, "to_generation", "cause") == [(2, "member_joined"), (3, "member_joined")]


def test_late_leave_line_of_3_9_coordinator_is_read() -> None:
    rows = history(lines("leaves-3.9", "broker")).rebalances
    assert columns_of(rows, "cause", "outcome")[-2:] == [("client_requested", "completed"), ("member_left", "emptied")]
    assert [c.client_id for c in rows[-1].contributors] == ["search-op-4-b"]
    assert rows[-1].host == "127.0.0.1"


EXCERPT_NAMES = sorted(p.name for p in (EXCERPTS / "groups").iterdir())


@pytest.mark.parametrize("excerpt", EXCERPT_NAMES)
def test_excerpt_has_every_generation_and_ignores_order_of_lines(excerpt: str) -> None:
    events = lines(excerpt, *BOTH)
    rebuilt = history(events)
    shuffled = list(events)
    random.Random(1).shuffle(shuffled)
    assert history(shuffled) == rebuilt
    assert rebuilt.gaps == []
    generations = [r.to_generation for r in rebuilt.rebalances]
    has_silent_first = ("share", "streams", *(["consumer"] if excerpt.endswith("-4.3") else []))
    first = 2 if rebuilt.rebalances[0].protocol in has_silent_first else 1
    assert generations == list(range(first, first + len(generations)))
    for r in rebuilt.rebalances:
        assert isinstance(r, Rebalance)
        assert (r.incident_id, r.knowledge_version) == (None, None)
        assert r.evidence
        assert r.ended_at is None or r.ended_at >= r.started_at


def started(clock: str, generation: int, reason: str, **fields: Any) -> Event:
    return coordinator("rebalance_started", clock, generation=generation, reason=reason, **fields)


def joins(member: str) -> str:
    return f"Adding new member {member} with group instance id null; client reason: not provided"


def test_rebalance_interrupted_by_coordinator_move_is_its_own_row() -> None:
    rows = history(
        [
            started("01:00:00", 4, joins(MEMBER)),
            coordinator("group_loaded", "01:00:02", broker=2, member_count=1),
            started("01:00:03", 4, joins(MEMBER), broker=2),
            coordinator("join_completed", "01:00:04", broker=2, generation=5, member_count=2),
            coordinator("assignment_received", "01:00:05", broker=2, generation=5),
        ]
    ).rebalances
    assert columns_of(rows, "outcome", "to_generation", "cause", "ended_at") == [
        ("interrupted", None, "coordinator_moved", at("01:00:02")),
        ("completed", 5, "member_joined", at("01:00:05")),
    ]
    assert [c.cause for c in rows[0].contributors] == ["member_joined"]


def test_coordinator_move_of_stable_group_is_no_rebalance() -> None:
    rebuilt = history(
        [
            started("01:00:00", 4, joins(MEMBER)),
            coordinator("join_completed", "01:00:01", generation=5, member_count=1),
            coordinator("assignment_received", "01:00:02", generation=5),
            coordinator("group_unloaded", "01:00:03", generation=5),
            coordinator("group_loaded", "01:00:04", broker=2, member_count=1),
            coordinator("group_unloaded", "01:00:09", broker=2, generation=5),
            coordinator("group_loaded", "01:00:10", generation=5),
        ]
    )
    assert len(rebuilt.rebalances) == 1
    assert rebuilt.gaps == []


def test_lines_of_superseded_coordinator_are_ignored() -> None:
    rebuilt = history(
        [
            started("01:00:00", 4, joins(MEMBER)),
            coordinator("join_completed", "01:00:01", generation=5, member_count=1),
            coordinator("assignment_received", "01:00:02", generation=5),
            coordinator("group_loaded", "01:00:20", broker=2, member_count=1),
            coordinator("member_failed", "01:00:40", member_id=MEMBER),
            started("01:00:40", 5, f"removing member {MEMBER} on heartbeat expiration."),
            coordinator("group_emptied", "01:00:40", generation=6),
            coordinator("group_unloaded", "01:00:41", generation=6),
            coordinator("member_left", "01:00:50", broker=2, member_id=MEMBER),
            started("01:00:50", 5, f"explicit `LeaveGroup` request for ({MEMBER}) members.", broker=2),
            coordinator("group_emptied", "01:00:50", broker=2, generation=6),
        ]
    )
    assert columns_of(rebuilt.rebalances, "to_generation", "cause", "coordinator") == [
        (5, "member_joined", 1),
        (6, "member_left", 2),
    ]
    assert rebuilt.gaps == []


def test_missing_generation_is_a_gap_and_coordinator_move_explains_it() -> None:
    def generation(clock: str, old: int, **fields: Any) -> list[Event]:
        second = at(clock) + timedelta(seconds=1)
        done = coordinator("join_completed", clock, generation=old + 1, member_count=1, **fields)
        return [started(clock, old, joins(MEMBER), **fields), replace(done, happened_at=second)]

    lost = history([*generation("01:00:00", 4), *generation("01:01:00", 6)]).gaps
    assert columns_of(lost, "after_generation", "next_generation", "explained_by") == [(5, 6, None)]
    moved = history(
        [
            *generation("01:00:00", 4),
            coordinator("group_loaded", "01:00:05", broker=2, member_count=1),
            *generation("01:01:00", 4, broker=2),
        ]
    ).gaps
    assert columns_of(moved, "after_generation", "next_generation") == [(5, 4)]
    assert moved[0].explained_by
    assert moved[0].evidence


def test_shared_client_id_makes_join_likely_and_not_certain() -> None:
    rows = history(
        [
            started("01:00:00", 0, joins(MEMBER)),
            started("01:00:10", 1, joins(OTHER)),
            coordinator("member_left", "01:00:20", member_id=MEMBER),
            started("01:00:20", 2, f"explicit `LeaveGroup` request for ({MEMBER}) members."),
        ]
    ).rebalances
    assert columns_of(rows[:2], "cause", "confidence") == [("member_joined", "certain"), ("member_joined", "likely")]


def test_leave_group_without_members_is_removal_by_admin() -> None:
    rows = history([started("01:00:00", 3, "explicit `LeaveGroup` request for () members.")]).rebalances
    assert columns_of(rows, "cause", "confidence") == [("removed_by_admin", "likely")]


NONE = "client reason: not provided"


@pytest.mark.parametrize(
    ("reason", "cause", "confidence"),
    [
        (f"Removing [{MEMBER}] on pending sync request expiration", "sync_timeout", "certain"),
        (
            f"Error NOT_COORDINATOR when storing group assignmentduring SyncGroup (member: {MEMBER}).",
            "storage_error",
            "certain",
        ),
        (
            "Freshly-loaded group g (size 9) is over capacity 8. Rebalancing in order to",
            "group_over_capacity",
            "likely",
        ),
        (
            f"Updating metadata for static member {MEMBER} with instance id i1; {NONE}",
            "static_member_changed",
            "likely",
        ),
        (
            f"Leader {MEMBER} re-joining group during Stable; client reason: rebalance enforced by user",
            "client_requested",
            "likely",
        ),
        (
            f"Leader {MEMBER} re-joining group during Stable; client reason: group is already rebalancing",
            "unknown",
            "unknown",
        ),
        ("words that no coordinator writes", "unknown", "unknown"),
    ],
)
def test_cause_follows_from_coordinator_reason_alone(reason: str, cause: str, confidence: str) -> None:
    assert columns_of(history([started("01:00:00", 3, reason)]).rebalances, "cause", "confidence") == [
        (cause, confidence)
    ]


@pytest.mark.parametrize(
    ("other_back_at", "confidence", "watched"),
    [("01:02:00", "likely", "10 min"), ("01:40:00", "possible", "4 min 30 s")],
)
def test_time_without_any_broker_does_not_count_as_member_absence(
    other_back_at: str, confidence: str, watched: str
) -> None:
    """Brokers write one file. The coordinator is away from 01:05 on: another one leads its groups, if it is there."""
    away = ((1, "01:01:00", other_back_at), (2, "01:05:00", "01:40:00"))
    context = GroupContext(
        "night",
        at("00:30:00"),
        at("01:45:00"),
        outages=[row(BROKER_OUTAGES, broker=b, down_at=at(down), up_at=at(up)) for b, down, up in away],
        log_spans=[
            LogSpan(cluster="night", broker=broker, first_at=at("00:30:00"), last_at=at("01:45:00"))
            for broker in (1, 2)
        ],
    )
    lines = [
        started("00:50:00", 3, joins(MEMBER)),
        coordinator("member_failed", "01:00:30", member_id=MEMBER),
        started("01:00:30", 4, f"removing member {MEMBER} on heartbeat expiration"),
    ]
    last = rebuild_group("g", [replace(e, broker=2) for e in lines], context).rebalances[-1]
    assert (last.cause, last.confidence) == ("member_dead", confidence)
    assert f"did not come back within {watched}" in last.explanation


def test_member_removed_for_not_rejoining_contributes_join_timeout() -> None:
    rows = history(
        [
            started("01:00:00", 3, joins(MEMBER)),
            coordinator("members_not_rejoined", "01:05:00", members=f"[{OTHER}]"),
            coordinator("join_completed", "01:05:00", generation=4, member_count=1),
        ]
    ).rebalances
    assert [c.cause for c in rows[0].contributors] == ["join_timeout"]


def test_member_removed_for_not_rejoining_comes_back_as_rejoined() -> None:
    rows = history(lines("dropped-4.3", *BOTH)).rebalances
    assert verdicts(rows)[:4] == [
        ("member_joined", "certain", "loans-reader-96-fd960"),
        ("member_joined", "certain", "audit-sink-17c8d"),
        ("member_joined", "certain", "tracker-562ab"),
        ("member_rejoined", "likely", "audit-sink-17c8d"),
    ]
    assert [(c.cause, c.client_id) for c in rows[2].contributors] == [("join_timeout", "audit-sink-17c8d")]


def test_member_surprised_by_its_removal_was_removed_by_admin() -> None:
    rows = history(lines("emptied-2.8", *BOTH)).rebalances
    removed = next(r for r in rows if r.cause == "removed_by_admin")
    assert (removed.outcome, removed.confidence) == ("emptied", "likely")
    assert [c.cause for c in removed.contributors] == ["removed_by_admin"]
    assert "removed_by_admin" not in {r.cause for r in history(lines("emptied-2.8", "broker")).rebalances}


def test_member_removed_for_not_syncing_comes_back_as_rejoined() -> None:
    rows = history(lines("unsynced-4.3", *BOTH)).rebalances
    assert verdicts(rows)[:5] == [
        ("member_joined", "certain", "payroll-etl-58b4a"),
        ("member_joined", "certain", "sink-8fa9c"),
        ("member_joined", "certain", "view-ea2a3"),
        ("sync_timeout", "certain", "sink-8fa9c"),
        ("member_rejoined", "likely", "sink-8fa9c"),
    ]


def test_static_member_that_leaves_by_instance_id_was_removed_by_admin() -> None:
    rows = history(lines("removed-2.8", *BOTH)).rebalances
    assert verdicts(rows)[2:4] == [
        ("removed_by_admin", "likely", "rides-core-66061"),
        ("member_rejoined", "certain", "rides-core-66061"),
    ]
    assert rows[3].contributors == []


HOSTILE = st.text(min_size=1, max_size=30)


@drawn(0.5)
@given(HOSTILE, HOSTILE)
def test_hostile_client_id_and_reason_do_not_break_group_history(client: str, words: str) -> None:
    member = f"{client}-35264ebf-dc38-4338-91a3-b8ad0d1e11a4"
    reason = f"Adding new member {member} with group instance id None; client reason: {words}"
    events = [
        started("01:00:00", 0, reason),
        coordinator("member_left", "01:00:05", member_id=member, client_reason=words),
        coordinator("group_emptied", "01:00:05", generation=1),
    ]
    assert [r.outcome for r in history(events).rebalances] == ["emptied"]


def test_leave_raises_kip_848_epoch_without_a_line_up_to_3_9() -> None:
    """Source: GroupMetadataManager.java consumerGroupFenceMember of 3.7 to 3.9."""
    consumer = {"protocol": "consumer"}
    first, second, third = "IF9u91ErTnivIe8vNKWFHQ", "LeKU1urcSAi56_OAkisBmw", "zzjkQj_MRce186K6U2x0Aw"
    joins_and_leaves = [
        coordinator("member_joined", "01:00:00", member_id=first, **consumer),
        coordinator("epoch_bumped", "01:00:00", generation=1, **consumer),
        coordinator("member_joined", "01:00:10", member_id=second, **consumer),
        coordinator("epoch_bumped", "01:00:10", generation=2, **consumer),
        coordinator("member_left", "01:00:20", member_id=second, **consumer),
        coordinator("target_computed", "01:00:21", generation=3, **consumer),
        coordinator("member_left", "01:00:30", member_id=first, **consumer),
        coordinator("member_joined", "01:20:00", member_id=third, **consumer),
        coordinator("epoch_bumped", "01:20:00", generation=5, **consumer),
        coordinator("member_left", "01:20:30", member_id=third, **consumer),
    ]
    rebuilt = history(joins_and_leaves)
    assert columns_of(rebuilt.rebalances, "to_generation", "members_after", "cause", "member_id")[2:] == [
        (3, 1, "member_left", second),
        (4, 0, "member_left", first),
        (5, 1, "member_joined", third),
        (6, 0, "member_left", third),
    ]
    assert rebuilt.gaps == []


def test_slow_coordinator_raises_epoch_of_join_long_after_it() -> None:
    """As in 4.4.0 on a busy machine: 1.5 s lie between the line of the join and that of its epoch."""
    consumer: dict[str, Any] = {"protocol": "consumer"}
    member = "nxx94rzoQYSavaIpkFo18A"
    lines = [
        coordinator("member_joined", "23:57:10", member_id="IF9u91ErTnivIe8vNKWFHQ", **consumer),
        coordinator("epoch_bumped", "23:57:10", generation=1, **consumer),
        coordinator("member_joined", "23:57:18.789", member_id=member, **consumer),
        coordinator("epoch_bumped", "23:57:20.257", generation=2, **consumer),
    ]
    assert columns_of(history(lines).rebalances, "cause", "member_id")[1:] == [("member_joined", member)]


def test_line_of_join_whose_epoch_is_lost_says_nothing_of_later_epoch() -> None:
    consumer: dict[str, Any] = {"protocol": "consumer"}
    first, second = "IF9u91ErTnivIe8vNKWFHQ", "LeKU1urcSAi56_OAkisBmw"
    lines = [
        coordinator("member_joined", "01:00:00", member_id=first, **consumer),
        coordinator("epoch_bumped", "01:00:00", generation=1, **consumer),
        coordinator("member_joined", "01:00:10", member_id=second, **consumer),
        coordinator("epoch_bumped", "01:00:20", generation=3, detail="7", **consumer),
    ]
    assert columns_of(history(lines).rebalances, "to_generation", "cause")[1:] == [(3, "unknown")]


def test_join_is_at_most_likely_where_the_clock_went_back() -> None:
    """EasyCab, 2024-10-27: the clock went back from 03:00 to 02:00, and generation 2 has the earlier time."""
    rows = history([started("01:31:43", 2, joins(OTHER)), started("01:49:12", 0, joins(MEMBER))]).rebalances
    assert columns_of(rows[:1], "cause", "confidence") == [("member_joined", "likely")]
