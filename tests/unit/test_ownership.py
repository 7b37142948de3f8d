"""Who owned a partition, from when to when, by readings."""

from __future__ import annotations

from spark_jobs.catalog.bronze import GROUP_SNAPSHOTS, MEMBER_SNAPSHOTS
from spark_jobs.transforms.ownership import rebuild_ownership
from spark_jobs.transforms.windows import Window
from tests.support.nights import Row, at
from tests.support.rows import row

NIGHT = Window(at("02:00:00"), at("03:00:00"))


def readings(*told: tuple[str, str | None, dict[str, list[int] | None]]) -> tuple[list[Row], list[Row]]:
    """Readings of one group: clock, state (None: it did not answer), and what each member owns (None: not told)."""
    members: list[Row] = []
    groups: list[Row] = []
    for clock, state, owned in told:
        when = {"snapshot_id": clock, "snapshot_at": at(clock), "group_id": "g"}
        count = None if state is None else len(owned)
        error = "timed out" if state is None else None
        groups.append(row(GROUP_SNAPSHOTS, **when, state=state, member_count=count, error=error))
        for member, partitions in owned.items():
            assignment = None if partitions is None else [{"topic": "t", "partition": p} for p in partitions]
            members.append(row(MEMBER_SNAPSHOTS, **when, member_id=member, assignment=assignment))
    return members, groups


def owned(
    *told: tuple[str, str | None, dict[str, list[int] | None]], window: Window = NIGHT
) -> list[tuple[object, ...]]:
    rows = rebuild_ownership(*readings(*told), window)
    assert all(r["evidence"] for r in rows)
    clock = "%H:%M:%S"
    return [
        (r["partition"], r["member_id"], f"{r['valid_from']:{clock}}", f"{r['valid_to']:{clock}}", r["is_open"])
        for r in rows
    ]


def test_from_the_first_reading_that_saw_it_to_the_first_that_did_not() -> None:
    assert owned(
        ("02:00:10", "stable", {"a": [0, 1]}),
        ("02:00:20", "stable", {"a": [0, 1]}),
        ("02:00:30", "stable", {"a": [0], "b": [1]}),
    ) == [
        (0, "a", "02:00:10", "03:00:00", True),
        (1, "a", "02:00:10", "02:00:30", False),
        (1, "b", "02:00:30", "03:00:00", True),
    ]


def test_a_group_that_emptied_owns_nothing() -> None:
    assert owned(("02:00:10", "stable", {"a": [0]}), ("02:00:20", "empty", {})) == [
        (0, "a", "02:00:10", "02:00:20", False)
    ]


def test_what_did_not_answer_concludes_nothing() -> None:
    held = [(0, "a", "02:00:10", "02:00:40", False)]
    gone = ("02:00:40", "empty", {})
    first = ("02:00:10", "stable", {"a": [0]})
    assert owned(first, ("02:00:20", None, {}), gone) == held
    assert owned(first, ("02:00:20", "preparing_rebalancing", {"a": []}), gone) == held
    assert owned(first, ("02:00:20", "PreparingRebalance", {"a": []}), gone) == held
    assert owned(first, ("02:00:20", "stable", {"a": None}), gone) == held


def test_a_silent_member_loses_what_another_one_holds() -> None:
    assert owned(("02:00:10", "stable", {"a": [0]}), ("02:00:20", "stable", {"a": None, "b": [0]})) == [
        (0, "a", "02:00:10", "02:00:20", False),
        (0, "b", "02:00:20", "03:00:00", True),
    ]


def test_rows_are_cut_at_the_edges_of_the_window() -> None:
    told = (("01:59:00", "stable", {"a": [0]}), ("02:30:00", "stable", {"a": [0]}), ("03:10:00", "empty", {}))
    assert owned(*told) == [(0, "a", "02:00:00", "03:00:00", True)]
    assert owned(*told, window=Window(at("03:00:00"), at("04:00:00"))) == [(0, "a", "03:00:00", "03:10:00", False)]
    assert owned(*told, window=Window(at("03:30:00"), at("04:00:00"))) == []


def test_the_order_of_arrival_does_not_matter() -> None:
    members, groups = readings(
        ("02:00:10", "stable", {"a": [0, 1]}), ("02:00:20", "stable", {"a": [0], "b": [1]}), ("02:00:30", "empty", {})
    )
    assert rebuild_ownership(members[::-1], groups[::-1], NIGHT) == rebuild_ownership(members, groups, NIGHT)
