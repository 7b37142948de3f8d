"""Who owned a partition, from when to when, by readings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka_hindsight.catalog.bronze import GROUP_RECORDS, GROUP_SNAPSHOTS, MEMBER_SNAPSHOTS
from kafka_hindsight.catalog.rows import GroupRecord, GroupSnapshot, MemberSnapshot
from kafka_hindsight.judgements.groups.ownership import rebuild_ownership
from kafka_hindsight.shared.windows import Window
from tests.support.nights import at
from tests.support.rows import row

NIGHT = Window(at("02:00:00"), at("03:00:00"))


def readings(
    *states: tuple[str, str | None, dict[str, list[int] | None]],
) -> tuple[list[MemberSnapshot], list[GroupSnapshot]]:
    """Readings of one group: clock, state (None: it did not answer), and what each member owns (None: not told)."""
    members: list[MemberSnapshot] = []
    groups: list[GroupSnapshot] = []
    for clock, state, owned in states:
        when = {"snapshot_id": clock, "snapshot_at": at(clock), "group_id": "g"}
        count = None if state is None else len(owned)
        error = "timed out" if state is None else None
        groups.append(row(GROUP_SNAPSHOTS, **when, state=state, member_count=count, error=error))
        for member, partitions in owned.items():
            assignment = None if partitions is None else partitions_of(partitions)
            members.append(row(MEMBER_SNAPSHOTS, **when, member_id=member, assignment=assignment))
    return members, groups


def owned(
    *states: tuple[str, str | None, dict[str, list[int] | None]], window: Window = NIGHT
) -> list[tuple[object, ...]]:
    rows = rebuild_ownership(*readings(*states), window)
    assert all(r.evidence for r in rows)
    clock = "%H:%M:%S"
    return [(r.partition, r.member_id, f"{r.valid_from:{clock}}", f"{r.valid_to:{clock}}", r.is_open) for r in rows]


def test_ownership_lasts_from_first_reading_with_it_to_first_without_it() -> None:
    assert owned(
        ("02:00:10", "stable", {"a": [0, 1]}),
        ("02:00:20", "stable", {"a": [0, 1]}),
        ("02:00:30", "stable", {"a": [0], "b": [1]}),
    ) == [
        (0, "a", "02:00:10", "03:00:00", True),
        (1, "a", "02:00:10", "02:00:30", False),
        (1, "b", "02:00:30", "03:00:00", True),
    ]


def test_empty_group_owns_nothing() -> None:
    assert owned(("02:00:10", "stable", {"a": [0]}), ("02:00:20", "empty", {})) == [
        (0, "a", "02:00:10", "02:00:20", False)
    ]


def test_unanswered_or_rebalancing_reading_ends_no_ownership() -> None:
    expected = [(0, "a", "02:00:10", "02:00:40", False)]
    gone = ("02:00:40", "empty", {})
    first = ("02:00:10", "stable", {"a": [0]})
    assert owned(first, ("02:00:20", None, {}), gone) == expected
    assert owned(first, ("02:00:20", "preparing_rebalancing", {"a": []}), gone) == expected
    assert owned(first, ("02:00:20", "PreparingRebalance", {"a": []}), gone) == expected
    assert owned(first, ("02:00:20", "stable", {"a": None}), gone) == expected


def test_unanswered_member_loses_partition_that_another_member_owns() -> None:
    assert owned(("02:00:10", "stable", {"a": [0]}), ("02:00:20", "stable", {"a": None, "b": [0]})) == [
        (0, "a", "02:00:10", "02:00:20", False),
        (0, "b", "02:00:20", "03:00:00", True),
    ]


def test_ownership_is_cut_to_the_window() -> None:
    states = (("01:59:00", "stable", {"a": [0]}), ("02:30:00", "stable", {"a": [0]}), ("03:10:00", "empty", {}))
    assert owned(*states) == [(0, "a", "02:00:00", "03:00:00", True)]
    assert owned(*states, window=Window(at("03:00:00"), at("04:00:00"))) == [(0, "a", "03:00:00", "03:10:00", False)]
    assert owned(*states, window=Window(at("03:30:00"), at("04:00:00"))) == []


def test_order_of_readings_does_not_change_ownership() -> None:
    members, groups = readings(
        ("02:00:10", "stable", {"a": [0, 1]}), ("02:00:20", "stable", {"a": [0], "b": [1]}), ("02:00:30", "empty", {})
    )
    assert rebuild_ownership(members[::-1], groups[::-1], NIGHT) == rebuild_ownership(members, groups, NIGHT)


def partitions_of(numbers: Iterable[int]) -> list[dict[str, Any]]:
    return [{"topic": "t", "partition": p} for p in numbers]


def stored(*states: tuple[str, int | None, dict[str, list[int]]]) -> list[GroupRecord]:
    """What the coordinator of a classic group wrote: clock, generation (None: a tombstone), and who was given what."""
    return [
        row(
            GROUP_RECORDS,
            group_id="g",
            written_at=at(clock),
            record_offset=n,
            record_type="group_metadata",
            is_tombstone=generation is None,
            generation=generation,
            members=[
                {"member_id": m, "client_id": f"c-{m}", "host": "h", "assignment": partitions_of(owned)}
                for m, owned in assignments.items()
            ],
        )
        for n, (clock, generation, assignments) in enumerate(states)
    ]


def reached(*states: tuple[str, str, int | None, list[int]], revoking: tuple[int, ...] = ()) -> list[GroupRecord]:
    """What the coordinator of a KIP-848 group wrote: clock, member, its epoch (None: a tombstone), its partitions."""

    def named(partitions: Iterable[int]) -> list[dict[str, Any]]:
        return [{"topic_id": "id-of-t", "topic": "t", "partition": p} for p in partitions]

    return [
        row(
            GROUP_RECORDS,
            group_id="g",
            written_at=at(clock),
            record_offset=n,
            record_type="consumer_group_current_member_assignment",
            member_id=member,
            is_tombstone=epoch is None,
            member_epoch=epoch,
            assignment=None if epoch is None else named(partitions),
            pending_revocation=None if epoch is None else named(revoking),
        )
        for n, (clock, member, epoch, partitions) in enumerate(states)
    ]


def recorded(records: list[GroupRecord], *states: Any, window: Window = NIGHT) -> list[tuple[object, ...]]:
    rows = rebuild_ownership(*readings(*states), window, records)
    assert all(r.evidence for r in rows)
    clock = "%H:%M:%S"
    return [(r.partition, r.member_id, f"{r.valid_from:{clock}}", f"{r.valid_to:{clock}}", r.generation) for r in rows]


def test_ownership_of_stored_generation_lasts_until_the_next_one() -> None:
    records = stored(
        ("02:00:10", 1, {"a": [0, 1]}), ("02:10:00", 2, {"a": [0], "b": []}), ("02:10:03", 3, {"a": [0], "b": [1]}),
        ("02:20:00", 4, {}),
    )  # fmt: skip
    assert recorded(records) == [
        (0, "a", "02:00:10", "02:10:00", 1),
        (0, "a", "02:10:00", "02:10:03", 2),
        (0, "a", "02:10:03", "02:20:00", 3),
        (1, "a", "02:00:10", "02:10:00", 1),
        (1, "b", "02:10:03", "02:20:00", 3),
    ]


def test_tombstone_of_group_ends_its_ownership() -> None:
    records = stored(("02:00:10", 1, {"a": [0]}), ("02:30:00", None, {}))
    assert recorded(records) == [(0, "a", "02:00:10", "02:30:00", 1)]


def test_last_record_before_the_window_gives_ownership_at_its_start() -> None:
    records = stored(("01:00:00", 7, {"a": [0]}), ("02:30:00", 8, {"b": [0]}))
    rows = rebuild_ownership([], [], NIGHT, records)
    assert [(r.member_id, r.generation, r.is_open) for r in rows] == [("a", 7, False), ("b", 8, True)]
    assert (rows[0].valid_from, rows[1].valid_to) == (NIGHT.start, NIGHT.end)
    assert rows[0].evidence[0].source == "__consumer_offsets-1@0"
    assert rows[0].client_id == "c-a"


def test_kip_848_member_owns_partition_until_it_has_revoked_it() -> None:
    records = [
        *reached(("02:00:10", "a", 1, [0, 1])),
        *reached(("02:10:00", "a", 1, [0]), revoking=(1,)),
        *reached(("02:10:05", "a", 2, [0]), ("02:10:06", "b", 2, [1]), ("02:20:00", "b", None, [])),
    ]
    assert recorded(records) == [
        (0, "a", "02:00:10", "02:10:05", 1),
        (0, "a", "02:10:05", "03:00:00", 2),
        (1, "a", "02:00:10", "02:10:05", 1),
        (1, "b", "02:10:06", "02:20:00", 2),
    ]


def test_readings_fill_ownership_before_the_first_record() -> None:
    records = stored(("02:10:00", 5, {"a": [0]}))
    states = [
        ("02:00:00", "stable", {"a": [0]}),
        ("02:05:00", "stable", {"a": [0]}),
        ("02:20:00", "stable", {"a": [0]}),
    ]
    assert recorded(records, *states) == [
        (0, "a", "02:00:00", "02:10:00", None),
        (0, "a", "02:10:00", "03:00:00", 5),
    ]


def test_reading_with_other_members_overrides_older_records() -> None:
    records = stored(("02:10:00", 5, {"a": [0]}))
    states = [
        ("02:20:00", "stable", {"a": [0]}),
        ("02:30:00", "stable", {"b": [0]}),
        ("02:40:00", "stable", {"b": [0]}),
    ]
    assert recorded(records, *states) == [
        (0, "a", "02:10:00", "02:30:00", 5),
        (0, "b", "02:30:00", "03:00:00", None),
    ]
