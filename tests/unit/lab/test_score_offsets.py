"""What groups skip and read again, and partitions that stand: expectations, and rows against what members printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.answers import EXACT, MISSED, RIGHT, WEAKER
from lab.drill import score
from lab.drill.harms import truth_lines
from lab.drill.reads import as_fields, read_batches, spans_of
from lab.drill.result import bounds_of
from lab.drill.truth import read_truth
from lab.drill.wrong import FALSE_ALARM, PlayedNight
from lab.drill.wrong_offsets import wrong_jump, wrong_stall
from lab.expectations import answer_to
from tests.support.rows import AT
from tests.support.scored_rows import act, at

Row = dict[str, Any]
PLACE = {"topic": "t", "partition": 0}
OF_ACT = {"group": "g", **PLACE}
JUMPED = {
    **OF_ACT,
    "offset_from": 200, "offset_to": 50, "records": 150, "cause": "crash_before_commit", "is_exact": False,
    "left_at": at(10).isoformat(), "resumed_at": at(30).isoformat(),
}  # fmt: skip
STOOD = {**OF_ACT, "since": at(10).isoformat(), "client": "a", "offset": 100, "cause": "stands_alone"}


def jump(**columns: Any) -> Row:
    return {
        "group_id": "g", **PLACE, "jumped_at": at(28), "resumed_at": at(28), "offset_from": None, "offset_to": 50,
        "records_low": 0, "records_high": 150, "harm": "records_read_again", "cause": "crash_before_commit", **columns,
    }  # fmt: skip


def stall(**columns: Any) -> Row:
    return {
        "group_id": "g", **PLACE, "kind": "stands_alone", "started_at": at(22), "ended_at": at(70),
        "committed_offset": 100, "client_id": "a", **columns,
    }  # fmt: skip


def outcome(done: Row, **tables: list[Row]) -> str:
    acts = read_truth([done])
    return answer_to(str(acts[0].expect), acts[0], acts, tables).outcome


def printed(*batches: tuple[float, str, int, int]) -> Row:
    """A truth's row of what members printed: seconds, client, first and last offset of each batch."""
    start = AT.timestamp()
    lines = [
        (c, f"{(start + s) * 1000:.0f} read t-0 {first} {last} {last - first + 1}\n") for s, c, first, last in batches
    ]
    spans = spans_of(span for client, line in lines for _, span in read_batches(line, client))
    return act(100, "records_read", "books_balance", **OF_ACT, spans=as_fields(spans))


READ_TWICE = printed((10, "a", 0, 199), (30, "b", 50, 199))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, RIGHT),
        ({"records_high": None}, RIGHT),
        ({"offset_from": 200, "records_low": 150}, EXACT),
        ({"records_high": 149}, MISSED),
        ({"records_low": 151, "records_high": None}, MISSED),
        ({"harm": "records_skipped"}, MISSED),
        ({"cause": "commit_failed"}, MISSED),
        ({"partition": 1}, MISSED),
        ({"group_id": "h"}, MISSED),
        ({"jumped_at": at(33), "resumed_at": at(33)}, MISSED),
        ({"jumped_at": at(5), "resumed_at": at(7)}, MISSED),
        ({"jumped_at": at(5), "resumed_at": at(29)}, RIGHT),
    ],
)
def test_jump_is_met_by_bounds_that_hold_its_records(columns: Row, expected: str) -> None:
    assert outcome(act(40, "offset_jumped", "records_read_again", **JUMPED), offset_jumps=[jump(**columns)]) == expected


def test_jump_with_evidence_of_both_ends_needs_both() -> None:
    exact = act(40, "offset_jumped", "records_read_again", **JUMPED | {"is_exact": True})
    assert outcome(exact, offset_jumps=[jump()]) == WEAKER
    assert outcome(exact, offset_jumps=[jump(offset_from=200, records_low=150)]) == EXACT


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([jump()], RIGHT),
        ([], MISSED),
        ([jump(records_high=149)], MISSED),
        ([jump(harm="records_skipped", records_low=1)], MISSED),
        ([jump(), jump(harm="records_skipped", records_low=0, records_high=5)], RIGHT),
        ([jump(harm="unknown")], MISSED),
        ([jump(resumed_at=None)], MISSED),
        ([jump(records_low=100, records_high=None)], RIGHT),
    ],
)
def test_books_balance_with_rows_whose_bounds_hold_what_was_read_again(rows: list[Row], expected: str) -> None:
    assert outcome(READ_TWICE, offset_jumps=rows) == expected


def test_books_without_a_jump_balance_without_rows() -> None:
    assert outcome(printed((10, "a", 0, 99), (30, "b", 100, 199))) == RIGHT
    gone = jump(harm="records_gone", offset_from=90, records_low=40, records_high=40)
    assert outcome(printed((10, "a", 0, 89), (30, "a", 50, 74)), offset_jumps=[gone]) == RIGHT


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 60, RIGHT), (10, None, RIGHT), (0, 52, MISSED), (54, 60, MISSED), (None, None, MISSED)],
)
def test_bill_is_met_by_the_sums_of_the_group(low: int | None, high: int | None, expected: str) -> None:
    bill = act(50, "records_billed", "records_billed", group="g", read_again={"2": 26, "3": 27}, skipped={"2": 0})
    none = {"read_again_low": 0, "read_again_high": 0, "skipped_low": 0, "skipped_high": 0, "group_id": "g"}
    other = {**none, "group_id": "h", "read_again_low": 900, "read_again_high": 900}
    row = {**none, "read_again_low": low, "read_again_high": high}
    assert outcome(bill, rebalances=[row, *([none] if low is not None else []), other]) == expected


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, RIGHT),
        ({"client_id": None, "ended_at": None}, RIGHT),
        ({"client_id": "b"}, MISSED),
        ({"kind": "owner_stands"}, MISSED),
        ({"committed_offset": 90}, RIGHT),
        ({"committed_offset": 101}, MISSED),
        ({"started_at": at(40)}, MISSED),
        ({"started_at": at(7)}, MISSED),
        ({"ended_at": at(60)}, MISSED),
    ],
)
def test_stall_is_met_by_its_kind_offset_owner_and_time(columns: Row, expected: str) -> None:
    done = act(65, "partition_stood", "partition_stood", **STOOD)
    assert outcome(done, partition_stalls=[stall(**columns)]) == expected


def test_lag_is_met_by_a_row_of_its_time_that_falls_behind() -> None:
    times = {"since": at(10).isoformat(), "slow_until": at(70).isoformat()}
    done = act(75, "partition_fell_behind", "partition_fell_behind", **OF_ACT, **times)
    assert outcome(done, partition_stalls=[stall(kind="falls_behind")]) == RIGHT
    assert outcome(done, partition_stalls=[stall()]) == MISSED
    assert outcome(done, partition_stalls=[stall(kind="falls_behind", started_at=at(71))]) == MISSED


def test_group_that_nothing_held_up_has_no_row_of_a_stall() -> None:
    done = act(75, "group_unhindered", "no_stall", **OF_ACT)
    assert outcome(done, partition_stalls=[stall(partition=1), stall(group_id="h")]) == RIGHT
    assert outcome(done, partition_stalls=[stall()]) == MISSED


def contradiction(row: Row, *truth: Row) -> str | None:
    night = PlayedNight(read_truth(truth), {}, [], frozenset())
    return (wrong_stall if "kind" in row else wrong_jump)(row, night, {})


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({}, None),
        ({"harm": "unknown"}, None),
        ({"resumed_at": None, "records_low": 900, "records_high": None}, None),
        ({"records_high": 100}, "its members printed 200 to 50"),
        ({"harm": "records_skipped"}, "its members printed 200 to 50"),
        ({"offset_from": 180}, "its members printed 200 to 50"),
        ({"jumped_at": at(5), "resumed_at": at(6)}, None),
        ({"jumped_at": at(5), "resumed_at": at(6), "records_low": 1}, "its members printed no jump"),
    ],
)
def test_jump_is_wrong_where_members_printed_another_one(columns: Row, why: str | None) -> None:
    assert contradiction(jump(**columns), READ_TWICE) == why


def test_skip_of_a_group_to_which_nothing_was_done_is_a_false_alarm() -> None:
    skipped = jump(harm="records_skipped", records_low=5)
    assert contradiction(skipped, act(0, group="g")) == FALSE_ALARM
    assert contradiction(skipped, act(40, "offset_jumped", "records_skipped", **JUMPED)) is None
    assert contradiction(jump(records_low=5), act(0, group="g")) is None


def test_stall_is_wrong_where_the_partition_was_read_meanwhile() -> None:
    still = printed((10, "a", 0, 99), (66, "a", 100, 120))
    moves = printed((10, "a", 0, 99), (40, "a", 100, 120))
    assert contradiction(stall(), still) is None
    assert contradiction(stall(), moves) == "a read 100 to 120 meanwhile"
    assert contradiction(stall(kind="falls_behind"), moves) is None


def test_score_counts_bounds_and_prints_their_widths() -> None:
    result = score.score({}, [act(40, "offset_jumped", "records_read_again", **JUMPED), READ_TWICE])
    assert bounds_of(result.jumps, result.books).played == 1
    text = score.show.as_text(result, 0.9).splitlines()
    assert "records_read_again crash_before_commit          1       0      0" in [line.rstrip() for line in text]
    assert "books that balance: 0 of 1 partitions" in text


def test_recording_of_harms_expects_what_a_drill_would(tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "g-a.out").write_text("1796055424163 read t-0 0 49 50\n")
    start = act(0, "member_start", "member_join", group="g", client="g-a", trace="1")
    ends = {"offset_from": 50, "offset_to": 120, "records": 70, "policy": "earliest"}
    rows = [
        start,
        act(20, "offset_out_of_range", **OF_ACT, **ends, by="retention", harm="records_skipped"),
        act(30, "crash_before_commit", **OF_ACT, **ends, harm="records_read_again"),
        act(40, "partition_stalled", **OF_ACT, client="g-a", offset=50, harm="partition_stalled"),
        act(90, "stall_over", group="g", topic="t"),
        act(95, "rival_producer", transactional_id="tx", topic="t", harm="producer_fenced"),
    ]
    path = tmp_path / "truth.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    acts = {a.action: a for a in read_truth(truth_lines(path))}
    skipped, crash, stalled = (acts[n] for n in ("offset_out_of_range", "crash_before_commit", "partition_stalled"))
    assert (skipped.expect, skipped.fields["cause"], skipped.fields["is_exact"]) == (
        "records_skipped",
        "retention",
        True,
    )
    assert (crash.expect, crash.fields["cause"], crash.fields["is_exact"]) == (
        "records_read_again", "crash_before_commit", False,
    )  # fmt: skip
    assert (stalled.expect, stalled.at, stalled.fields["since"]) == ("partition_stood", at(90), rows[3]["at"])
    assert acts["rival_producer"].expect is None
    assert [(s["first"], s["last"]) for s in acts["records_read"].fields["spans"]] == [(0, 49)]
    path.write_text(json.dumps(start))
    assert truth_lines(path) == [json.dumps(start)]
