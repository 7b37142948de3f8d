"""What the records of a group add to the lines of its coordinator: captured lines, records as brokers write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kafka_hindsight.catalog.bronze import GROUP_RECORDS
from kafka_hindsight.catalog.rows import Event, GroupRecord, Rebalance
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.rebalances import GroupContext, GroupHistory, rebuild_group
from kafka_hindsight.judgements.rebalances.records import events_of_records
from tests.support.nights import EXCERPTS, at
from tests.support.rows import row
from tools.plain_reader import read_logs

SINCE = datetime(2026, 11, 20, tzinfo=UTC)
FIRST, SECOND, CRASHED = "IF9u91ErTnivIe8vNKWFHQ", "XpVYuptgSeSDqwjPGx41Ew", "zzjkQj_MRce186K6U2x0Aw"

SILENT = "billing-storm-8-x-830a2e28-5dd1-46fe-ae70-a8d400b9aef4"


def lines(excerpt: str) -> list[Event]:
    """What the brokers wrote of one group, without its clients' logs."""
    return read_logs(EXCERPTS / "groups" / excerpt / "logs", "broker", "night")[0]


def history(events: Sequence[Event], records: Sequence[GroupRecord]) -> GroupHistory:
    group = next(e.group_id for e in events if e.group_id)
    context = GroupContext("night", at("01:40:00"), datetime(2026, 11, 21, 2, 10, tzinfo=UTC))
    return rebuild_group(group, [*events, *events_of_records(records, SINCE)], context)


def record(clock: str, record_type: str, **fields: Any) -> GroupRecord:
    written = at(clock)
    offset = int((written - SINCE).total_seconds() * 1000)
    return row(GROUP_RECORDS, written_at=written, record_offset=offset, record_type=record_type, **fields)


def generation(clock: str, number: int | None, *members: str) -> GroupRecord:
    """A stored generation of members by id; None: the tombstone of the group."""
    stored_members = [
        {
            "member_id": member,
            "client_id": member[:-37],
            "instance_id": None,
            "host": "10.0.0.7",
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 60_000,
            "subscription": ["t"],
        }
        for member in members
    ]
    return record(clock, "group_metadata", generation=number, members=stored_members, is_tombstone=number is None)


def member_metadata(clock: str, member: str, client: str) -> GroupRecord:
    return record(
        clock, "consumer_group_member_metadata", member_id=member, client_id=client, host="10.0.0.7", subscription=["t"]
    )


def reached(clock: str, member: str, epoch: int | None, state: str = "stable") -> GroupRecord:
    return record(
        clock,
        "consumer_group_current_member_assignment",
        member_id=member,
        member_epoch=epoch,
        member_state=state,
        is_tombstone=epoch is None,
    )


def test_kip_848_epoch_ends_when_each_member_is_stable_at_it() -> None:
    records = [
        reached("01:46:05.184", FIRST, 1),
        reached("01:46:08.125", SECOND, 2, "unreleased_partitions"),
        reached("01:46:09.000", FIRST, 1, "unrevoked_partitions"),
        reached("01:46:11.000", FIRST, 2),
        reached("01:46:12.500", SECOND, 2),
        reached("01:46:15.379", SECOND, None),
        reached("01:46:18.628", CRASHED, 4, "unreleased_partitions"),
        reached("01:47:08.870", FIRST, 5),
    ]
    rows = history(lines("kip848-4.1"), records).rebalances
    ends = [(r.to_generation, r.outcome, r.ended_at) for r in rows[:4]]
    assert ends == [
        (1, "completed", at("01:46:05.184")),
        (2, "completed", at("01:46:12.500")),
        (3, "interrupted", rows[3].started_at),
        (4, "interrupted", rows[4].started_at),
    ]
    assert "has reached epoch 2, stable" in [e.text for e in rows[1].evidence][-1]
    assert rows[1].evidence[-1].source.startswith("__consumer_offsets-1@")


def test_group_records_name_the_client_of_kip_848_member() -> None:
    unnamed = history(lines("kip848-4.1"), []).rebalances[0]
    named_row = history(lines("kip848-4.1"), [member_metadata("01:46:05.184", FIRST, "app-1")]).rebalances[0]
    assert (unnamed.cause, unnamed.confidence, unnamed.client_id) == (
        "member_joined",
        "certain",
        None,
    ), "the group had had no member before"
    assert (named_row.cause, named_row.confidence, named_row.client_id) == ("member_joined", "certain", "app-1")
    assert named_row.host == "10.0.0.7"


def test_join_is_at_most_likely_where_earlier_members_have_no_name() -> None:
    """A member's metadata go with it: compaction may take them before anybody reads them."""
    late = history(lines("kip848-4.1"), [member_metadata("01:46:18.630", CRASHED, "app-3")]).rebalances[3]
    assert (late.cause, late.confidence, late.client_id) == ("member_joined", "likely", "app-3")
    named = [member_metadata(c, m, f"app-{m}") for c, m in (("01:46:05.184", FIRST), ("01:46:08.125", SECOND))]
    all_named = history(lines("kip848-4.1"), [*named, member_metadata("01:46:18.630", CRASHED, "app-3")]).rebalances[3]
    assert (all_named.cause, all_named.confidence) == ("member_joined", "certain")


def test_member_first_stored_in_a_generation_joined_with_it() -> None:
    """Scala's coordinator before 3.0 prints nothing for a member that joins with its id while the group rebalances."""
    rows = history(lines("storm-2.8"), []).rebalances
    there = rows[0].member_id
    fourth, fifth = generation("01:48:21.300", 4, there), generation("01:48:35.300", 5, there, SILENT)
    with_records = history(lines("storm-2.8"), [fourth, fifth]).rebalances
    assert joined_clients(rows[4]) == {"billing-storm-8-b2"}
    assert joined_clients(with_records[4]) == {"billing-storm-8-b2", "billing-storm-8-x"}
    assert [r.cause for r in with_records] == [r.cause for r in rows]
    unknown = history(lines("storm-2.8"), [fifth]).rebalances
    assert joined_clients(unknown[4]) == joined_clients(rows[4]), (
        "nothing tells whether it was there in the generation before"
    )


def joined_clients(rebalance: Rebalance) -> set[str | None]:
    return {c.client_id for c in rebalance.contributors if c.cause == "member_joined"}


def test_group_record_gives_session_timeout_of_expired_member() -> None:
    rows = history(lines("static-4.1"), []).rebalances
    lost = rows[3]
    metadata = record(
        "01:42:34.600",
        "consumer_group_member_metadata",
        member_id=lost.member_id,
        client_id="static-app",
        session_timeout_ms=6_000,
        subscription=["t"],
    )
    assert "session of" not in lost.explanation
    assert "session of 6 s" in history(lines("static-4.1"), [metadata]).rebalances[3].explanation


def test_stored_generation_completes_its_rebalance() -> None:
    cut_lines = [
        e for e in lines("storm-2.8") if e.happened_at < at("01:48:07.267") and e.kind != "assignment_received"
    ]
    last = history(cut_lines, []).rebalances[-1]
    assert (last.to_generation, last.outcome, last.ended_at) == (2, "unfinished", None)
    member = last.member_id
    earlier = generation("01:40:00.000", 2, member)
    assert history(cut_lines, [earlier]).rebalances[-1].outcome == "unfinished", "another group of that name"
    last = history(cut_lines, [earlier, generation("01:48:07.280", 2, member)]).rebalances[-1]
    assert (last.outcome, last.ended_at) == ("completed", at("01:48:07.280"))
    assert last.evidence[-1].text == "generation 2 is stored"


def test_tombstone_explains_restart_of_generations() -> None:
    line = {"origin": "broker", "source": "broker-1/server.log", "group_id": "g", "broker": 1}
    emptied = [
        row(EVENTS, line_id="1", kind="group_emptied", happened_at=at("02:00:00"), generation=7, **line),
        row(EVENTS, line_id="2", kind="group_emptied", happened_at=at("02:30:00"), generation=2, **line),
    ]
    (gap,) = history(emptied, []).gaps
    assert gap.explained_by is None
    (explained,) = history(emptied, [generation("02:10:00", None)]).gaps
    assert explained.explained_by == "the group's metadata were deleted, as their tombstone shows"
    (early,) = history(emptied, [generation("02:40:00", None)]).gaps
    assert early.explained_by is None


def test_record_from_before_the_look_back_counts_at_its_start() -> None:
    (event,) = events_of_records(
        [replace(member_metadata("01:46:05", FIRST, "app-1"), written_at=datetime(2026, 11, 1, tzinfo=UTC))], SINCE
    )
    assert event.happened_at == SINCE
