"""Changes of in-sync replicas, on lines as captured, and the law that they lead from the first to the last."""

from __future__ import annotations

import random
from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.catalog.silver import EVENTS
from spark_jobs.transforms.isr import rebuild_isr_changes
from spark_jobs.transforms.windows import Window
from tests.support.nights import WHOLE, Row, at, events
from tests.support.rows import AT, row


def told(rows: list[Row]) -> list[tuple[object, ...]]:
    return [(r["happened_at"], r["change"], r["broker_out_or_in"], r["isr_before"], r["isr_after"]) for r in rows]


def test_out_with_a_crash_and_in_again() -> None:
    assert told(rebuild_isr_changes(events("crash-2.8"), (), WHOLE)) == [
        (at("01:52:31.810"), "shrink", 1, [1, 2, 3], [2, 3]),
        (at("01:52:41.929"), "expand", 1, [2, 3], [1, 2, 3]),
    ]


def test_kraft_tells_of_a_fenced_follower_only_in_the_state_that_brokers_repeat() -> None:
    """fraud-risky-19-0: broker 1 goes on leading in the same leader epoch, without broker 2."""
    first = told(r for r in rebuild_isr_changes(events("unclean-4.1"), (), WHOLE) if r["partition"] == 0)[0]
    assert first == (at("01:52:35.892"), "shrink", 2, [1, 2], [1])
    silent = [e for e in events("unclean-4.1") if e["kind"] not in ("leadership_kept", "unclean_partition_change")]
    assert at("01:52:35.892") not in {r["happened_at"] for r in rebuild_isr_changes(silent, (), WHOLE)}


def test_an_unclean_leader_is_out_and_in_at_once() -> None:
    swap = [r for r in rebuild_isr_changes(events("unclean-2.8"), (), WHOLE) if r["happened_at"] == at("01:54:32.170")]
    assert [(r["change"], r["broker_out_or_in"]) for r in swap] == [("shrink", 1), ("expand", 2)]


def test_a_proposal_is_no_change() -> None:
    proposal = row(EVENTS, kind="isr_shrink_proposed", topic="t", partition=0, previous_isr="1,2", isr="1")
    assert rebuild_isr_changes([proposal], (), Window(AT, AT + timedelta(days=1))) == []


@given(
    st.lists(st.sets(st.sampled_from([1, 2, 3]), min_size=1), min_size=1, max_size=8),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_the_rows_lead_from_the_first_isr_to_the_last(
    history: list[set[int]], late: int, chance: random.Random
) -> None:
    """However often a commit is repeated later, and in whatever order the lines arrive."""
    lines = [
        row(
            EVENTS,
            line_id=f"{version}-{again}",
            source=f"broker-{again}",
            kind="leadership_kept",
            topic="t",
            partition=0,
            partition_epoch=version,
            isr=",".join(map(str, isr)),
            happened_at=AT + timedelta(minutes=version + 60 * again),
        )
        for version, isr in enumerate(history)
        for again in range(late + 1)
    ]
    chance.shuffle(lines)
    rows = rebuild_isr_changes(lines, (), Window(AT, AT + timedelta(days=1)))
    isr = set(history[0])
    for change in rows:
        assert (change["change"] == "shrink") == (change["broker_out_or_in"] in isr)
        isr ^= {change["broker_out_or_in"]}
    assert isr == history[-1]
    assert len(rows) == sum(len(a ^ b) for a, b in pairwise(history))
