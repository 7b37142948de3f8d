"""What members print of the records that they read, and what follows from it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lab.drill.reads import (
    Span,
    as_fields,
    bill_of,
    from_fields,
    jumps_of,
    read_batches,
    read_folder,
    spans_of,
    surplus_of,
)

# As members of Java and librdkafka printed it: the first died, and the second read its records again.
KILLED = """\
1796055424163 assigned [orders-eu-0]
1796055424200 read orders-eu-0 0 49 50
1796055424300 read orders-eu-0 50 199 150
1796055424400 read orders-e"""
NEXT = """\
1796055444103 read orders-eu-0 50 50 1
1796055444103 read orders-eu-0 51 199 149
"""


def _spans(*texts: str) -> list[Span]:
    return spans_of(span for number, text in enumerate(texts) for _, span in read_batches(text, f"c{number}"))


def test_batches_of_a_member_make_one_span_and_a_cut_line_none() -> None:
    spans = _spans(KILLED, NEXT)
    assert [(s.client, s.first, s.last, s.records) for s in spans] == [("c0", 0, 199, 200), ("c1", 50, 199, 150)]
    assert from_fields(as_fields(spans)) == spans


def test_member_that_pauses_prints_two_spans() -> None:
    paused = "1796055424200 read t-0 0 9 10\n1796055429300 read t-0 10 19 10\n"
    assert [(s.first, s.last) for s in _spans(paused)] == [(0, 9), (10, 19)]
    assert jumps_of(_spans(paused)) == []


def test_jump_is_where_the_next_batch_does_not_go_on() -> None:
    (back,) = jumps_of(_spans(KILLED, NEXT))
    assert (back.offset_from, back.offset_to, back.records, back.client) == (200, 50, 150, "c1")
    (on,) = jumps_of(_spans("1 read t-0 0 49 50\n", "2 read t-0 120 129 10\n"))
    assert (on.offset_from, on.offset_to, on.records) == (50, 120, 70)


def test_records_read_again_are_a_surplus_and_skipped_ones_are_missing() -> None:
    assert surplus_of(_spans(KILLED, NEXT)) == 150
    assert surplus_of(_spans("1 read t-0 0 49 50\n", "2 read t-0 120 129 10\n")) == -70


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), min_size=1, max_size=12))
def test_surplus_is_what_went_back_less_what_was_skipped(batches: list[tuple[int, int]]) -> None:
    text = "".join(f"{n * 10_000} read t-0 {first} {first + c - 1} {c}\n" for n, (first, c) in enumerate(batches))
    spans = _spans(text)
    assert surplus_of(spans) == sum(j.offset_from - j.offset_to for j in jumps_of(spans))


def test_bill_counts_each_record_that_was_read_more_than_once_or_never() -> None:
    assert bill_of(_spans(KILLED, NEXT)) == (150, 0)
    assert bill_of(_spans("1 read t-0 0 49 50\n", "2 read t-0 120 129 10\n", "3 read t-0 125 129 5\n")) == (5, 70)


def test_folder_is_read_by_partition_for_the_members_named(tmp_path: Path) -> None:
    (tmp_path / "a.out").write_text(KILLED)
    (tmp_path / "b.out").write_text(NEXT.replace("eu-0", "eu-1"))
    (tmp_path / "c.out").write_text(NEXT)
    assert {place: len(spans) for place, spans in read_folder(tmp_path, ["a", "b", "absent"]).items()} == {
        ("orders-eu", 0): 1,
        ("orders-eu", 1): 1,
    }
