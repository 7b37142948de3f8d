"""What a controller decided and took back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.support.nights import WHOLE, events
from tests.unit.test_failovers import columns_of, failovers


def test_what_a_controller_decided_and_took_back_moved_no_leader() -> None:
    """Controller 3 wakes at 07:53:56 and leaves the partition without a leader, in epochs that controller 1 counts too.

    What controller 1 decides at 07:54:09 looks the same, and it gives up its office 2.3 s later: that was committed.
    """
    found = events("reverted-4.3")
    reverted = [e for e in found if e.kind == "unclean_partition_change" and e.broker == 3 and e.leader == -1][:1]
    assert [f"{e.happened_at:%H:%M:%S.%f}" for e in reverted] == ["07:53:56.020000"]
    week = replace(WHOLE, end=WHOLE.end + timedelta(days=7))
    _, gone, back = failovers(found, window=week)
    assert [f"{f.happened_at:%H:%M:%S.%f}" for f in (gone, back)] == ["07:54:09.591000", "07:54:17.743000"]
    assert columns_of([gone, back], "kind", "confidence", "epoch_to") == [
        ("offline", "certain", 3),
        ("leader_restored", "certain", 4),
    ]
    assert (gone.leaderless_low_ms, gone.leaderless_high_ms) == (8161, 8161)
    assert not {q.line_id for f in (gone, back) for q in f.evidence} & {e.line_id for e in reverted}


@pytest.mark.parametrize("lost", ["controller_resigned", "controller_known"])
def test_a_controller_has_taken_back_what_it_decided_whichever_line_of_its_awakening_is_lost(lost: str) -> None:
    week = replace(WHOLE, end=WHOLE.end + timedelta(days=7))
    found = [e for e in events("reverted-4.3") if (e.broker, e.kind) != (3, lost)]
    assert failovers(found, window=week) == failovers(events("reverted-4.3"), window=week)
