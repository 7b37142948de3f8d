"""Of how many partitions the first screen says all are: only where a reading of the whole cluster shows it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.report.blocks import Item
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_rows import DAY, coverage, empty, made, run, witnesses

CUT = {"kind": "leaders_lost", "harm": "partitions_offline", "harm_rank": 1, "incident_id": "a" * 32}


def sentences_and_tiles(*readings: int | None, offline: int = 2, still: int = 0) -> tuple[str, str]:
    """The first sentence of a night in which partitions had no leader, and the tile about them."""
    times = {"started_at": DAY + timedelta(hours=1), "low_ms": 9_000, "high_ms": 9_000, "confidence": "certain"}
    ends = [None if n < still else DAY + timedelta(hours=1, seconds=9) for n in range(offline)]
    intervals: list[dict[str, Any]] = [
        made(
            "gold.unavailability", kind="no_leader", topic="t", partition=n, ended_at=end, incident_id="a" * 32, **times
        )
        for n, end in enumerate(ends)
    ]
    headline = f"{offline} partitions of t had no leader: the leader moved from broker 1"
    incident = made(
        "gold.incidents", **CUT, headline=headline, is_over=not still, partitions_offline=offline, confidence="certain"
    )
    listed = [
        {"snapshot_at": DAY + timedelta(minutes=n), "broker": 1, "leaders": 1, "partitions": count}
        for n, count in enumerate(readings)
    ]
    rows = {
        "quality.coverage": [coverage()],
        "quality.witnesses": witnesses(),
        "gold.unavailability": intervals,
        "gold.incidents": [incident],
        "bronze.partition_snapshots": listed,
    }
    page = build_report(empty() | rows, run())
    texts = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    return texts[0], next(text for text in texts if "no leader" in text and text is not texts[0])


@pytest.mark.parametrize(
    ("readings", "share", "tile"),
    [
        ((), "", "2 partitions had no leader, 18 partition-seconds"),
        ((None, None), "", "2 partitions had no leader, 18 partition-seconds"),
        ((9, 12, None), " That is 2 of 12.", "2 of 12 partitions had no leader, 18 partition-seconds"),
        ((2,), " That is every partition, 2 of 2.", "2 of 2 partitions had no leader, 18 partition-seconds"),
        ((1,), "", "2 partitions had no leader, 18 partition-seconds"),
    ],
)
def test_number_of_all_partitions_comes_from_a_whole_reading(readings: Any, share: str, tile: str) -> None:
    sentence, label = sentences_and_tiles(*readings)
    assert f"the leader moved from broker 1 (declared).{share} Check" in sentence
    assert label == tile


def test_tile_says_what_is_still_without_a_leader() -> None:
    assert sentences_and_tiles(12, still=1)[1].startswith("2 of 12 partitions had no leader, 1 of them still when")
    assert sentences_and_tiles(12, still=2)[1].startswith("2 of 12 partitions still had no leader when the logs end")
