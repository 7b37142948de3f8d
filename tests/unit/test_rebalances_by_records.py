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
from kafka_hindsight.logs.plain_reader import read_logs
from tests.support.nights import EXCERPTS, at
from tests.support.rows import row

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
    said = [
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
    return record(clock, "group_metadata", generation=number, members=said, is_tombstone=number is None)


def known(clock: str, member: str, client: str) -> GroupRecord:
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


def test_a_kip848_epoch_ends_when_each_member_is_stable_at_it() -> None:
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


def test_records_name_the_client_of_a_kip848_member() -> None:
    untold = history(lines("kip848-4.1"), []).rebalances[0]
    told = history(lines("kip848-4.1"), [known("01:46:05.184", FIRST, "app-1")]).rebalances[0]
    assert (untold.cause, untold.confidence, untold.client_id) == (
        "member_joined",
        "certain",
        None,
    ), "the group had had no member before"
    assert (told.cause, told.confidence, told.client_id) == ("member_joined", "certain", "app-1")
    assert told.host == "10.0.0.7"


def test_a_member_is_not_surely_new_where_earlier_ones_have_no_name() -> None:
    """A member's metadata go with it: compaction may take them before anybody reads them."""
    late = history(lines("kip848-4.1"), [known("01:46:18.630", CRASHED, "app-3")]).rebalances[3]
    assert (late.cause, late.confidence, late.client_id) == ("member_joined", "likely", "app-3")
    named = [known(c, m, f"app-{m}") for c, m in (("01:46:05.184", FIRST), ("01:46:08.125", SECOND))]
    all_named = history(lines("kip848-4.1"), [*named, known("01:46:18.630", CRASHED, "app-3")]).rebalances[3]
    assert (all_named.cause, all_named.confidence) == ("member_joined", "certain")


def test_a_member_that_is_first_stored_in_a_generation_came_with_it() -> None:
    """Scala's coordinator before 3.0 prints nothing for a member that joins with its id while the group rebalances."""
    rows = history(lines("storm-2.8"), []).rebalances
    there = rows[0].member_id
    fourth, fifth = generation("01:48:21.300", 4, there), generation("01:48:35.300", 5, there, SILENT)
    given = history(lines("storm-2.8"), [fourth, fifth]).rebalances
    assert came(rows[4]) == {"billing-storm-8-b2"}
    assert came(given[4]) == {"billing-storm-8-b2", "billing-storm-8-x"}
    assert [r.cause for r in given] == [r.cause for r in rows]
    unknown = history(lines("storm-2.8"), [fifth]).rebalances
    assert came(unknown[4]) == came(rows[4]), "nothing tells whether it was there in the generation before"


def came(rebalance: Rebalance) -> set[str | None]:
    return {c.client_id for c in rebalance.contributors if c.cause == "member_joined"}


def test_records_tell_the_session_timeout_of_a_member_that_ran_out() -> None:
    rows = history(lines("static-4.1"), []).rebalances
    lost = rows[3]
    told = record(
        "01:42:34.600",
        "consumer_group_member_metadata",
        member_id=lost.member_id,
        client_id="static-app",
        session_timeout_ms=6_000,
        subscription=["t"],
    )
    assert "session of" not in lost.explanation
    assert "session of 6 s" in history(lines("static-4.1"), [told]).rebalances[3].explanation


def test_a_stored_generation_shows_that_its_assignment_arrived() -> None:
    told = [e for e in lines("storm-2.8") if e.happened_at < at("01:48:07.267") and e.kind != "assignment_received"]
    last = history(told, []).rebalances[-1]
    assert (last.to_generation, last.outcome, last.ended_at) == (2, "unfinished", None)
    member = last.member_id
    earlier = generation("01:40:00.000", 2, member)
    assert history(told, [earlier]).rebalances[-1].outcome == "unfinished", "another group of that name"
    last = history(told, [earlier, generation("01:48:07.280", 2, member)]).rebalances[-1]
    assert (last.outcome, last.ended_at) == ("completed", at("01:48:07.280"))
    assert last.evidence[-1].text == "generation 2 is stored"


def test_a_group_that_begins_anew_after_its_tombstone_has_no_gap_that_nobody_explains() -> None:
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


def test_what_was_written_before_the_look_back_still_held_when_it_began() -> None:
    (event,) = events_of_records(
        [replace(known("01:46:05", FIRST, "app-1"), written_at=datetime(2026, 11, 1, tzinfo=UTC))], SINCE
    )
    assert event.happened_at == SINCE
