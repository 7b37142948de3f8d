"""The strip of the first screen: lanes of the window for what happened, and one for what is not known."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kafka_hindsight.report.blocks import At, TimelineStrip
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.sections.strip import BROKERS, strip
from kafka_hindsight.report.terminal import Terminal
from tests.support.report_night import night
from tests.support.report_rows import DAY, END, coverage, empty, made, outage, rebalance, run, witnesses


def strips(*outages: dict, **tables: list) -> list[TimelineStrip]:
    of_night = {"quality.coverage": [coverage()], "quality.witnesses": witnesses()}
    rows = empty() | {"gold.broker_outages": [*outages], **of_night, **tables}
    return [*strip(PageRows.from_tables(rows, run()))]


def away(broker: int, start: float, length: float | None) -> dict:
    """A broker that was away, in parts of the window."""
    window = END - DAY
    up_at = None if length is None else DAY + window * (start + length)
    return outage(broker, DAY + window * start, "crash", up_at=up_at)


def test_lanes_show_when_each_broker_was_away() -> None:
    (picture,) = strips(away(2, 0.25, 0.5), away(1, 0.5, None))
    assert [(lane.label, lane.says) for lane in picture.lanes] == [
        ("Broker 1", "away once"), ("Broker 2", "away once"),
    ]  # fmt: skip
    assert [lane.marks[0][:3] for lane in picture.lanes] == [(50.0, 50.0, 100.0), (25.0, 50.0, 100.0)]
    assert picture.instants[0] == At(DAY) and picture.instants[-1] == At(END)


def test_partitions_without_a_leader_are_as_high_as_their_share_of_the_most() -> None:
    def gone(partition: int, hours: float) -> dict:
        times = {"started_at": DAY + timedelta(hours=1), "ended_at": DAY + timedelta(hours=1 + hours)}
        return made("gold.unavailability", kind="no_leader", topic="t", partition=partition, low_ms=1_000, **times)

    (picture,) = strips(**{"gold.unavailability": [gone(0, 1), gone(1, 2)]})
    (lane,) = picture.lanes
    assert (lane.label, lane.says) == ("No leader", "up to 2 partitions at once")
    assert [height for _, _, height, _ in lane.marks] == [100.0, 50.0]


def test_count_is_a_least_one_where_the_logs_could_not_show_all() -> None:
    def says(**tables: list) -> list[str]:
        (picture,) = strips(**tables)
        return [lane.says for lane in picture.lanes if lane.label == "Rebalancing"]

    def rebalanced(group: str, **columns: Any) -> dict:
        return rebalance(group, DAY + timedelta(hours=1), "member_joined", **columns)

    whole, unended = rebalanced("a"), rebalanced("b", ended_at=None)
    assert says(**{"gold.rebalances": [whole]}) == ["up to 1 group at once"]
    assert says(**{"gold.rebalances": [whole, unended]}) == ["1+ groups at once"]
    hidden = {"gold.rebalances": [whole], "quality.witnesses": witnesses(gap="no_log")}
    assert says(**hidden) == ["1+ groups at once"]


def test_night_on_which_nothing_happened_has_no_strip() -> None:
    assert strips() == []


def test_strip_says_what_is_not_known() -> None:
    hidden = witnesses(gap="no_log", last_at=DAY + (END - DAY) / 4)
    (picture,) = strips(away(1, 0.5, 0.1), **{"quality.witnesses": hidden})
    assert (picture.lanes[-1].label, picture.lanes[-1].marks) == ("Not known", ((0.0, 25.0, 100.0, "unknown"),))


def test_absence_ends_on_the_strip_where_no_log_was_read_from_then_on() -> None:
    """Its files of the time before its return are missing; where others show the absence, it has its whole length."""
    second, window = timedelta(seconds=1), END - DAY
    absence = away(1, 0.25, 0.5)
    unread = {"first_at": DAY + window * 0.25 + 5 * second, "last_at": DAY + window * 0.75 - 5 * second}
    hidden = {"quality.witnesses": witnesses(gap="no_lines", **unread)}

    def first_mark(low_ms: float, **tables: list) -> tuple[float, ...]:
        (picture,) = strips(absence | {"away_low_ms": int(low_ms), "detected_at": None}, **tables)
        return picture.lanes[0].marks[0][:2]

    assert first_mark(3_000, **hidden) == (25.0, 0.01)
    assert first_mark(window / 2 / timedelta(milliseconds=1), **hidden) == (25.0, 50.0)
    assert first_mark(3_000) == (25.0, 50.0)


def test_brokers_beyond_the_first_share_a_lane() -> None:
    (picture,) = strips(*(away(n, n / 10, 0.05) for n in range(BROKERS + 2)))
    assert [lane.label for lane in picture.lanes][BROKERS:] == ["2 more brokers"]
    assert picture.lanes[-1].says == "away twice"


def test_terminal_draws_lanes_of_one_width() -> None:
    (picture,) = strip(PageRows.from_tables(*night()))
    *lanes, axis = Terminal(80, DAY.date()).strip(picture, 0)
    assert len(lanes) == len(picture.lanes)
    assert all(len(line) <= 80 for line in [*lanes, axis])
    assert axis.split()[0] == "00:00:00"
    assert axis.endswith(" 2026-10-04 00:00:00")
    assert all("█" in line for line in lanes)
