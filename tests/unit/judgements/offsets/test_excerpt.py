"""Groups of a recorded night went on elsewhere as they were made to, and fewer witnesses make no row surer."""

from __future__ import annotations

import pytest

from kafka_hindsight.catalog.codes import Confidence, JumpHarm
from kafka_hindsight.catalog.rows import OffsetJump
from tests.support.offsets import DELETED, HANDOVER, Without, excerpt_jumps

ACTS = {
    "ads-dormant-1": ("offsets_expired", "records_read_again", 60, 0, 60),
    "ads-nextgen-13": ("crash_before_commit", "records_read_again", 200, 50, 150),
    "ads-shaky-37": ("log_truncated", "records_gone", 90, 50, 40),
    "audit-erased-15": ("group_deleted", "records_read_again", 50, 0, 50),
    "crm-jump-16": ("records_deleted", "records_skipped", 50, 200, 150),
    "crm-overrun-28": ("retention", "records_skipped", 60, 150, 90),
    "email-dormant-2": ("offsets_expired", "records_skipped", 60, 100, 40),
    "email-lapse-14": ("records_deleted", "records_skipped", 50, 120, 70),
    "mobile-rewind-17": ("reset_by_administrator", "records_read_again", 50, 10, 40),
    "orders-replay-8": ("seek_by_application", "records_read_again", 100, 30, 70),
    "stock-refused-6": ("commit_failed", "records_read_again", 103, 3, 100),
}
"""What was done to each group: the cause, the harm, from where to where it went on, and how many records lie between.

By the acts of those who recorded the night, and by what the members printed.
"""


@pytest.mark.parametrize("group", ACTS)
def test_each_act_is_one_jump_within_its_bounds(group: str) -> None:
    cause, harm, begin, end, records = ACTS[group]
    (jump,) = excerpt_jumps()[group]
    assert (jump.cause, jump.harm) == (cause, harm)
    assert jump.offset_to == end
    assert jump.offset_from == (None if cause == "crash_before_commit" else begin)
    assert jump.records_low <= records <= (jump.records_high or records)
    assert jump.confidence == ("possible" if cause == "crash_before_commit" else "certain")


def test_no_other_group_of_the_excerpt_went_on_elsewhere() -> None:
    assert {*excerpt_jumps()} == {*ACTS}


LESS: list[tuple[Without, ...]] = [
    ("clients",), ("records",), ("readings",), ("clients", "records"), ("records", "readings"), ("clients", "readings"),
]  # fmt: skip


@pytest.mark.parametrize("without", LESS, ids="-".join)
def test_fewer_witnesses_widen_bounds_and_make_no_row_surer(without: tuple[Without, ...]) -> None:
    order = [*Confidence]
    for group, rows in excerpt_jumps(*without).items():
        cause, harm, _, _, records = ACTS[group]
        for row in rows:
            assert _holds(row, harm, records), (group, row)
            for full in excerpt_jumps()[group]:
                assert order.index(row.confidence) >= order.index(full.confidence) or row.cause != full.cause
                if row.cause == full.cause and row.harm == full.harm:
                    assert row.records_low <= full.records_low
                    assert row.records_high is None or row.records_high >= (full.records_high or 0)
            if row.confidence is Confidence.CERTAIN:
                assert row.cause == cause


def _holds(row: OffsetJump, harm: str, records: int) -> bool:
    """Whether a row's harm and bounds hold the truth."""
    is_within = row.records_low <= records and (row.records_high is None or records <= row.records_high)
    return is_within and row.harm in (harm, JumpHarm.UNKNOWN)


READ_AGAIN = {(2, 589, 587), (3, 396, 390), (4, 302, 297), (5, 312, 309), (5, 613, 587)}
"""What a cooperative group printed twice: the partition, up to where an owner read, and where the next one began."""


@pytest.mark.parametrize("without", [(), ("records",)], ids="-".join)
def test_a_cooperative_handover_reads_again_what_its_owner_read_while_it_joined(without: tuple[Without, ...]) -> None:
    jumps = excerpt_jumps(*without, excerpt=HANDOVER)
    rows = {(j.partition, j.offset_to): j for j in jumps["billing-relay-99"]}
    assert {*rows} == {(partition, begin) for partition, _, begin in READ_AGAIN}
    for partition, end, begin in READ_AGAIN:
        row = rows[partition, begin]
        assert (row.harm, row.cause, row.confidence) == ("records_read_again", "read_while_joining", "possible")
        assert row.records_low == 0 and end - begin <= (row.records_high or 0)
        assert row.rebalance_id is not None


def test_a_handover_is_no_claim_without_the_log_of_the_owner_before() -> None:
    assert excerpt_jumps("clients", excerpt=HANDOVER) == {}


def test_an_offset_that_was_deleted_had_not_expired_though_its_group_went_seconds_later() -> None:
    (jump,) = excerpt_jumps(excerpt=DELETED)["rides.writer.v54"]
    assert (jump.cause, jump.confidence) == ("offsets_deleted", "likely")
    assert (jump.offset_from, jump.offset_to) == (50, 0)
