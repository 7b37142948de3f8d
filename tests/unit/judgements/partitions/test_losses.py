"""The records that an unclean election lost: the true number lies within the bounds, whichever evidence is missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from kafka_hindsight.catalog.bronze import OFFSET_SNAPSHOTS, PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.rows import Event, OffsetSnapshot, PartitionSnapshot
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.judgements.partitions.partition_readings import PartitionReadings
from kafka_hindsight.judgements.partitions.replicas.losses import Loss, loss_of
from tests.support.build import partition_line
from tests.support.nights import WHOLE, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import readings_of, rebuild_leaders
from tests.support.rows import AT, row

# Both recordings lost the same: the old leader had 68 records of partition 0, the new one 28; of partition 1 none.
TRUE_LOSS = {0: 40, 1: 0}
EXCERPTS = ("unclean-2.8", "unclean-4.1")


def bounds(lines: list[Event]) -> dict[int, tuple[int, int | None]]:
    context = context_of(lines, rebuild_outages(lines, [], WHOLE))
    changes = rebuild_leaders(lines, [], context, WHOLE).failovers
    return {c.partition: (c.records_lost_low, c.records_lost_high) for c in changes if c.kind == "unclean_election"}


def holds(losses: dict[int, tuple[int, int | None]]) -> bool:
    return all(low <= TRUE_LOSS[p] and (high is None or TRUE_LOSS[p] <= high) for p, (low, high) in losses.items())


@pytest.mark.parametrize("excerpt", EXCERPTS)
def test_record_loss_is_exact_with_all_witnesses(excerpt: str) -> None:
    assert {(low, high) for low, high in bounds(events(excerpt)).values()} <= {(40, 40), (0, 0)}
    assert bounds(events(excerpt))[0] == (40, 40)


@pytest.mark.parametrize("excerpt", EXCERPTS)
@pytest.mark.parametrize("column", ["broker", "kind", "source"])
def test_bounds_hold_the_true_loss_whichever_witness_is_missing(excerpt: str, column: str) -> None:
    lines = events(excerpt)
    losses = [
        bounds([e for e in lines if getattr(e, column) != silent]) for silent in {getattr(e, column) for e in lines}
    ]
    assert all(map(holds, losses))
    assert any(f.get(0) == (40, 40) for f in losses), "more than one witness shows it"


@pytest.mark.parametrize("excerpt", EXCERPTS)
def test_bounds_hold_the_true_loss_whichever_line_is_missing(excerpt: str) -> None:
    lines = [e for e in events(excerpt) if e.topic]
    rest = [e for e in events(excerpt) if not e.topic]
    assert all(holds(bounds([*rest, *lines[:i], *lines[i + 1 :]])) for i in range(0, len(lines), 1 + len(lines) // 60))


UNCLEAN = Leadership(3, 2, AT + timedelta(minutes=3), True, (2,), (), ())


def reading(minute: int, epoch: int | None, end: int | None, *isr: int) -> PartitionSnapshot:
    return row(
        PARTITION_SNAPSHOTS,
        snapshot_id=str(minute), topic="t", partition=0, snapshot_at=AT + timedelta(minutes=minute),
        leader_epoch=epoch, end_offset=end, isr=list(isr),
    )  # fmt: skip


def lost(lines: list[Event], readings: Sequence[PartitionSnapshot] = ()) -> Loss:
    """Broker 1 led, broker 2 was elected in minute 3 at epoch 3."""
    return loss_of(UNCLEAN, 1, (1,), lines, readings)


def with_commit(readings: list[PartitionSnapshot], commit: OffsetSnapshot) -> PartitionReadings:
    return readings_of(readings, [commit])


STARTS_AT_28 = partition_line("leader_started", 2, 180, leader_epoch=3, log_offset=28)


def test_committed_offset_beyond_new_log_proves_lost_records() -> None:
    """Its committed offset outlives the records: it proves them, where no broker logs how many there were."""
    commit = row(OFFSET_SNAPSHOTS, snapshot_id="4", topic="t", partition=0, group_id="g", committed_offset=60)
    loss = lost([STARTS_AT_28], with_commit([reading(4, 3, 30), reading(5, 3, 35)], commit))
    assert (loss.low, loss.high) == (32, None)
    assert any("group g has committed offset 60" in q.text for q in loss.quotes)


def test_committed_offset_that_new_leader_reaches_later_proves_no_loss() -> None:
    """It was written after the election, between the question for the ends and the one for the commits."""
    commit = row(OFFSET_SNAPSHOTS, snapshot_id="4", topic="t", partition=0, group_id="g", committed_offset=33)
    assert lost([STARTS_AT_28], with_commit([reading(4, 3, 30), reading(5, 3, 35)], commit)).low == 0


def test_high_watermark_while_both_in_sync_bounds_the_loss_from_above() -> None:
    end = partition_line("log_end_loaded", 1, 300, log_offset=68)
    assert (lost([end], [reading(1, 2, 20, 1, 2)]).low, lost([end], [reading(1, 2, 20, 1, 2)]).high) == (0, 48)
    assert lost([end], [reading(1, 2, 20, 1)]).high is None, "the new leader was not in sync then"


def test_log_of_former_leader_may_diverge_where_the_next_epoch_began() -> None:
    """It had 28 records when it came back, but the old leader had begun with the first 20 of them only."""
    created = partition_line("partition_state_changed", 3, 0, leader=2, leader_epoch=0, isr="1,2")
    began = partition_line("leader_started", 1, 60, leader_epoch=1, log_offset=20, isr="1")
    leaderless = partition_line("partition_state_changed", 3, 120, leader=-1, leader_epoch=2, isr="1")
    end = partition_line("log_end_loaded", 1, 300, log_offset=68)
    loss = lost([created, began, leaderless, STARTS_AT_28, end])
    assert (loss.low, loss.high) == (40, 48)
    assert loss.says == "at least 40 (offset 28 to 68), at most 48 (offset 20 to 68)"
    unseen = lost([created, leaderless, STARTS_AT_28, end])
    assert (unseen.low, unseen.high) == (40, None), "who led in epoch 1 is not known"


def test_log_shorter_than_a_former_reading_gives_no_upper_bound() -> None:
    """Power failed with the old leader: it comes back shorter than what had been read from it."""
    lines = [
        STARTS_AT_28,
        partition_line("log_end_loaded", 1, 300, log_offset=50),
        partition_line("log_truncated", 1, 360, log_offset=28),
    ]
    assert (lost(lines).low, lost(lines).high) == (22, 22)
    assert (lost(lines, [reading(2, 2, 68, 1)]).low, lost(lines, [reading(2, 2, 68, 1)]).high) == (40, None)


def test_log_truncated_before_gives_no_upper_bound() -> None:
    back = partition_line("isr_updated", 2, 300, isr="2,1")
    again = partition_line("log_end_loaded", 1, 420, log_offset=28)
    assert lost([STARTS_AT_28, back, again]).high is None
