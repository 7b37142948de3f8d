"""What a controller decided and took back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.support.nights import WHOLE, events
from tests.unit.judgements.partitions.test_failovers import columns_of, failovers


def test_uncommitted_change_of_deposed_controller_is_no_failover() -> None:
    """Controller 3 wakes at 07:53:56 and leaves the partition without a leader, in epochs that controller 1 counts too.

    What controller 1 decides at 07:54:09 looks the same, and it gives up its office 2.3 s later: that was committed.
    """
    lines = events("reverted-4.3")
    reverted = [e for e in lines if e.kind == "unclean_partition_change" and e.broker == 3 and e.leader == -1][:1]
    assert [f"{e.happened_at:%H:%M:%S.%f}" for e in reverted] == ["07:53:56.020000"]
    week = replace(WHOLE, end=WHOLE.end + timedelta(days=7))
    _, gone, back = failovers(lines, window=week)
    assert [f"{f.happened_at:%H:%M:%S.%f}" for f in (gone, back)] == ["07:54:09.591000", "07:54:17.743000"]
    assert columns_of([gone, back], "kind", "confidence", "epoch_to") == [
        ("offline", "certain", 3),
        ("leader_restored", "certain", 4),
    ]
    assert (gone.leaderless_low_ms, gone.leaderless_high_ms) == (8161, 8161)
    assert not {q.line_id for f in (gone, back) for q in f.evidence} & {e.line_id for e in reverted}


@pytest.mark.parametrize("lost", ["controller_resigned", "controller_known"])
def test_uncommitted_change_is_ignored_without_one_line_of_the_wake_up(lost: str) -> None:
    week = replace(WHOLE, end=WHOLE.end + timedelta(days=7))
    lines = [e for e in events("reverted-4.3") if (e.broker, e.kind) != (3, lost)]
    assert failovers(lines, window=week) == failovers(events("reverted-4.3"), window=week)
