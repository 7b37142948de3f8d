"""The balance of leaders, where logs alone show who led what and who is preferred."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import NOBODY
from kafka_hindsight.catalog.rows import LeaderSpan
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_imbalance_periods
from kafka_hindsight.judgements.partitions.leaders.imbalance_in_logs import imbalance_in_logs
from kafka_hindsight.shared.windows import Window
from tests.support.brokers_logs import whole_night
from tests.support.lake import rows
from tests.support.rows import AT, QUOTE, row

WINDOW = Window(AT, AT + timedelta(hours=1))
Balance = dict[int, tuple[int, int, float | None, bool | None]]


def minute(n: float) -> datetime:
    return AT + timedelta(minutes=n)


def span(partition: int, since: float | None, until: float | None, leader: int | None, *replicas: int) -> LeaderSpan:
    """One partition of topic t from one minute to another."""
    return row(
        LeaderSpan.TABLE,
        topic="t", partition=partition, leader=leader, replicas=list(replicas) or None,
        since=None if since is None else minute(since), until=None if until is None else minute(until),
        evidence=[QUOTE],
    )  # fmt: skip


def balance_at(spans: list[LeaderSpan], n: float, listed_from: float | None = 0) -> Balance:
    """The counts, ratio and verdict of each broker at one minute."""
    listed = None if listed_from is None else minute(listed_from)
    found = imbalance_in_logs(spans, listed, WINDOW, minute(59))
    last = max(r.snapshot_at for r in found if r.snapshot_at <= minute(n))
    at = (r for r in found if r.snapshot_at == last)
    return {r.broker: (r.preferred_partitions, r.led_elsewhere, r.ratio, r.over_threshold) for r in at}


LED = [span(n, 0, None, 1, 1, 2) for n in range(9)]


def test_one_of_ten_is_at_the_threshold_and_not_above() -> None:
    spans = [*LED, span(9, 0, 5, 1, 1, 2), span(9, 5, None, 2, 1, 2)]
    assert balance_at(spans, 4)[1] == (10, 0, 0.0, False)
    assert balance_at(spans, 5)[1] == (10, 1, 0.1, False)
    assert balance_at([*spans, span(10, 6, None, NOBODY, 1, 2)], 6)[1] == (11, 2, 2 / 11, True)
    assert balance_at(spans, 5)[2] == (0, 0, None, False), "broker 2 is preferred for none"


def test_no_ratio_is_known_before_all_partitions_are_listed() -> None:
    assert balance_at(LED, 4, listed_from=5)[1] == (9, 0, None, None)
    assert balance_at(LED, 5, listed_from=5)[1] == (9, 0, 0.0, False)
    assert balance_at(LED, 59, listed_from=None)[1] == (9, 0, None, None)


def test_unknown_partition_leaves_only_what_no_answer_could_change() -> None:
    before_first_line = span(9, None, 30, None)
    without_replicas = span(9, 30, None, 1)
    assert balance_at([*LED, before_first_line], 10)[1] == (9, 0, None, None)
    assert balance_at([*LED, before_first_line, without_replicas], 40)[1] == (9, 0, None, None)
    away = [span(n, 0, None, 2, 1, 2) for n in range(9)]
    assert balance_at([*away, before_first_line], 10)[1] == (9, 9, None, True), "9 of 10 at least"


def test_changes_of_one_moment_are_one_instant() -> None:
    spans = [s for n in range(9) for s in (span(n, 0, 5 + n / 60, 1, 1, 2), span(n, 5 + n / 60, None, 2, 1, 2))]
    found = {r.snapshot_at for r in imbalance_in_logs(spans, minute(0), WINDOW, minute(59))}
    assert found == {minute(0), minute(5 + 8 / 60), minute(59)}


def test_period_of_logs_ends_where_it_ends_and_skips_what_is_not_known() -> None:
    spans = [
        *(s for n in range(9) for s in (span(n, 0, 5, 1, 1, 2), span(n, 5, 20, 2, 1, 2), span(n, 20, None, 1, 1, 2))),
        span(9, 10, 15, None, 1, 2),
    ]
    (period,) = rebuild_imbalance_periods(imbalance_in_logs(spans, minute(0), WINDOW, minute(59)), [])
    assert (period.started_at, period.ended_at, period.max_ratio) == (minute(5), minute(20), 1.0)


@st.composite
def histories(draw: st.DrawFn) -> list[LeaderSpan]:
    """Partitions from change to change, each with gaps in which nothing is known, or in which it is not there."""
    spans = []
    for partition in range(draw(st.integers(1, 6))):
        cuts = sorted(draw(st.sets(st.integers(0, 58), min_size=2, max_size=5)))
        for since, until in zip(cuts, [*cuts[1:], None], strict=True):
            leader = draw(st.sampled_from((None, NOBODY, 1, 2, 3)))
            replicas = draw(st.sampled_from(((), (1, 2), (2, 3), (3, 1))))
            spans.append(span(partition, since, until, leader, *replicas))
    return spans


def counted_at(spans: list[LeaderSpan], at: datetime) -> tuple[Counter[int], Counter[int], int]:
    """The partitions that each broker is preferred for, those led elsewhere, and how many are not known, one by one."""
    alive = [s for s in spans if s.since <= at and (s.until is None or at < s.until)]
    known = [s for s in alive if s.leader is not None and s.replicas]
    elsewhere = Counter(s.replicas[0] for s in known if s.leader != s.replicas[0])
    return Counter(s.replicas[0] for s in known), elsewhere, len(alive) - len(known)


@given(histories())
def test_each_row_counts_what_holds_at_its_instant(spans: list[LeaderSpan]) -> None:
    for found in imbalance_in_logs(spans, minute(0), WINDOW, minute(59)):
        preferred, elsewhere, unknown = counted_at(spans, found.snapshot_at)
        own, away = preferred[found.broker], elsewhere[found.broker]
        assert (found.preferred_partitions, found.led_elsewhere, found.unknown_partitions) == (own, away, unknown)
        possible = {10 * (away + n) > own + unknown for n in range(unknown + 1)}
        assert found.over_threshold in (None, *possible)
        assert found.over_threshold is not None or len(possible) == 2 or unknown


def counts_in(reading: dict[str, Any]) -> Counter[tuple[int, bool]]:
    partitions = (p for topic in reading["topics"] for p in topic["partitions"])
    return Counter((p["replicas"][0], p["leader"] == p["replicas"][0]) for p in partitions)


@pytest.mark.long
def test_logs_alone_show_the_ratio_of_each_reading() -> None:
    night, lake = whole_night()
    readings = [json.loads(line) for line in (night / "snapshots.jsonl").read_text(encoding="utf-8").splitlines()]
    shown = rows(str(lake), "gold.leader_imbalance")
    compared = Counter[bool]()
    for reading in (r for r in readings if r.get("topics")):
        at, counts = datetime.fromisoformat(reading["at"]), counts_in(reading)
        newest = max((r["snapshot_at"] for r in shown if r["snapshot_at"] <= at), default=None)
        for found in (r for r in shown if r["snapshot_at"] == newest):
            is_known = found["over_threshold"] is not None and found["unknown_partitions"] == 0
            compared[is_known] += 1
            if is_known:
                led, elsewhere = counts[found["broker"], True], counts[found["broker"], False]
                assert (found["preferred_partitions"], found["led_elsewhere"]) == (led + elsewhere, elsewhere), at
    assert compared[True] >= 0.95 * compared.total()
