"""What spans a time in which no broker's log was read is known within bounds: on lines as captured, of two days.

A recorded excerpt and the same one a day later are read as two files of each log. What the first leaves open, the
second does not show to have lasted.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import LOG_FILES
from kafka_hindsight.catalog.codes import Outcome, UnavailabilityKind
from kafka_hindsight.catalog.rows import LogFile
from kafka_hindsight.judgements.reasoning.read_times import ALL_READ, ReadTimes
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.timelines import Interval
from lab.bench.nights import later
from tests.support.build import after
from tests.support.judged_lines import Tables, judged_folders
from tests.support.nights import EXCERPTS, events
from tests.support.rows import row

DAY = timedelta(days=1)
ENDS_OPEN = (
    "crash-2.8",
    "deleted-4.3",
    "disk-3.9",
    "disk-4.3",
    "failed-start-3.9",
    "handover-3.9",
    "logs-lost-4.3",
    "offsets-4.3",
    "shared-out-4.4",
    "slow-streams-4.4",
    "groups/deployment-4.1/logs",
    "groups/emptied-2.8/logs",
    "groups/kafka-go-4.3/logs",
    "groups/silent-kip848-4.3/logs",
)
"""Excerpts at the end of which a broker is away, a partition has no leader, a group has no member, or it rebalances."""


@cache
def two_days(excerpt: str) -> Tables:
    """What is judged of an excerpt, and of the same one a day later."""
    with TemporaryDirectory() as temporary:
        second = Path(temporary)
        for path in sorted(p for p in (EXCERPTS / excerpt).rglob("*") if p.is_file()):
            copy = second / path.relative_to(EXCERPTS / excerpt)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(later(path.read_text(encoding="utf-8"), DAY), encoding="utf-8")
        return judged_folders([EXCERPTS / excerpt, second])


def unread(excerpt: str) -> Interval[None]:
    """The time between the last line of the first day and the first one of the second."""
    ats = [e.happened_at for e in events(excerpt)]
    return Interval(max(ats), min(ats) + DAY, None)


def spanning(excerpt: str, table: str, start: str, *ends: str) -> list[Any]:
    """The rows of a table that begin before the time that was not read and have an end after it."""
    gap = unread(excerpt)
    rows = two_days(excerpt)[table]
    known_end = [next((end for name in ends if (end := getattr(r, name))), None) for r in rows]
    return [
        r for r, end in zip(rows, known_end, strict=True)
        if getattr(r, start) <= gap.start and end is not None and gap.end is not None and end >= gap.end
    ]  # fmt: skip


@pytest.mark.parametrize("excerpt", ENDS_OPEN)
def test_nothing_is_shown_to_have_lasted_while_no_log_was_read(excerpt: str) -> None:
    """Not even what began on the first day and is over, or goes on, on the second."""
    gap, tables = unread(excerpt), two_days(excerpt)
    of_first_day = [u for u in tables["gold.unavailability"] if u.started_at <= gap.start]
    assert [u for u in of_first_day if u.low_ms * MS > gap.start - u.started_at + MS] == []
    outages = [o for o in tables["gold.broker_outages"] if o.down_at <= gap.start]
    assert [o for o in outages if o.away_low_ms and o.away_low_ms * MS > gap.start - o.down_at + MS] == []


@pytest.mark.parametrize("excerpt", ENDS_OPEN)
def test_no_replica_is_said_to_have_been_out_of_sync_while_no_log_was_read(excerpt: str) -> None:
    assert spanning(excerpt, "gold.out_of_sync_periods", "started_at", "ended_at") == []


def test_length_across_unread_time_has_both_bounds() -> None:
    """A disk fails, and the partition has no leader when the logs end; a day later its epochs begin again."""
    [offline] = [
        u
        for u in two_days("disk-3.9")["gold.unavailability"]
        if u.kind is UnavailabilityKind.NO_LEADER and (u.high_ms or 0) > 3_600_000
    ]
    assert offline.explanation.startswith("disk-single-4 had no leader for 31.2 s to 23 h 59 min.")
    assert offline.ended_at <= unread("disk-3.9").start < offline.latest_end_at
    incidents = [i for i in two_days("disk-3.9")["gold.incidents"] if i.partitions_offline]
    assert incidents
    assert all(i.offline_ms < 60_000 for i in incidents)


def cut_in_two(excerpt: str, at: str) -> Tables:
    """What is judged of an excerpt whose lines from an instant on are a day later, in files of their own."""
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        for path in sorted((EXCERPTS / excerpt).rglob("*.log")):
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            is_later = [line[12:20] >= at for line in lines]
            for folder, half in ((first, False), (second, True)):
                text = "".join(line for line, own in zip(lines, is_later, strict=True) if own is half)
                copy = Path(folder) / path.relative_to(EXCERPTS / excerpt)
                if text:
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_text(later(text, DAY) if half else text, encoding="utf-8")
        return judged_folders([Path(first), Path(second)])


def test_epochs_that_follow_on_show_that_no_leader_was_between() -> None:
    """The partition has no leader in epoch 1, and the next line about it, a day later, shows its leader in epoch 2."""
    tables = cut_in_two("offline-3.9", "02:03:50")
    [offline] = tables["gold.unavailability"]
    assert (offline.low_ms, offline.high_ms, offline.confidence) == (86_408_761, 86_416_950, "certain")
    [outage] = tables["gold.broker_outages"]
    assert (outage.away_low_ms, outage.confidence) == (0, "possible"), "the broker may have served meanwhile"


def test_rebalance_without_an_end_does_not_last_until_the_next_one() -> None:
    [rebalance] = [r for r in two_days("crash-2.8")["gold.rebalances"] if r.from_generation == 1][:1]
    assert (rebalance.outcome, rebalance.ended_at, rebalance.duration_ms) == (Outcome.UNFINISHED, None, None)


def test_member_came_back_at_most_so_much_later() -> None:
    """It may have come and gone meanwhile."""
    gap = unread("groups/deployment-4.1/logs")
    back = [
        r for r in two_days("groups/deployment-4.1/logs")["gold.rebalances"] if r.started_at >= (gap.end or gap.start)
    ]
    sentences = [r.explanation for r in back if "came back" in r.explanation and " h " in r.explanation]
    assert sentences
    assert all("came back at most 23 h" in s for s in sentences)


def file(first: float, last: float) -> LogFile:
    return row(LOG_FILES, origin="broker", first_at=after(first), last_at=after(last))


@pytest.mark.parametrize(
    ("since", "end", "until"),
    [
        (0, 90, 90),
        (0, 400, 100),
        (100, 400, 100),
        (50, 100, 100),
        # It began where nothing was read.
        (200, 400, 200),
        (300, 400, 400),
        (300, 300, 300),
    ],
)
def test_logs_were_read_up_to_the_first_gap(since: float, end: float, until: float) -> None:
    """Files of which one begins within two minutes after another leave no gap."""
    read_times = ReadTimes.of([file(220, 400), file(0, 40), file(100, 100), file(60, 90)])
    assert read_times.until(after(since), after(end)) == after(end)
    read_times = ReadTimes.of([file(300, 400), file(0, 40), file(60, 100)])
    assert read_times.until(after(since), after(end)) == after(until)
    assert read_times.is_whole(after(since), after(end)) == (until == end)
    assert ALL_READ.until(after(since), after(end)) == after(end)
