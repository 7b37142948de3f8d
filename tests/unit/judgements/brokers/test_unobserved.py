"""Spans of which nothing shows whether a broker served are rows, and no absences."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kafka_hindsight.catalog.bronze import LOG_FILES
from kafka_hindsight.catalog.rows import Event, LogFile
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.observed import cut_to, find_unobserved_spans, observe
from kafka_hindsight.shared.windows import Window
from tests.support.nights import WHOLE, at
from tests.support.outages import rebuild_outages
from tests.support.rows import row


def line(kind: str, clock: str, broker: int = 1, log: str = "server.log", **columns: object) -> Event:
    source = f"broker-{broker}/{log}"
    return row(EVENTS, kind=kind, broker=broker, source=source, line_id=clock, happened_at=at(clock), **columns)


def log_file(source: str, first: str, last: str) -> LogFile:
    return row(LOG_FILES, origin="broker", source=source, first_at=at(first), last_at=at(last))


LEADS = [line("rebalance_started", "01:00:00"), line("rebalance_started", "06:00:00")]
ITS_FILES = [
    log_file("broker-1/server.log", "00:30:00", "01:59:59"),
    log_file("broker-1/server.log", "05:00:00", "06:00:00"),
]
CONTROLLER = line("broker_unfence_granted", "00:30:00", 4, "controller.log", node=2)


def spans(lines: list[Event], files: list[LogFile]) -> list[tuple[int, object, object]]:
    ordered = sorted(lines, key=lambda e: e.happened_at)
    rows = find_unobserved_spans("c", observe(ordered, [], [], files))
    assert all(r.evidence for r in rows)
    return [(r.broker, r.first_at, r.last_at) for r in rows]


def test_hours_without_logs_are_an_unobserved_span_and_no_outage() -> None:
    assert spans(LEADS, ITS_FILES) == [(1, at("01:59:59"), at("05:00:00"))]
    assert rebuild_outages(LEADS, [], WHOLE, ITS_FILES) == []


def test_wrapped_log_is_covered_by_its_outer_file() -> None:
    wrapped = [replace(e, source=f"{e.source}//kafka-1") for e in LEADS]
    assert spans(wrapped, ITS_FILES) == [(1, at("01:59:59"), at("05:00:00"))]
    assert rebuild_outages(wrapped, [], WHOLE, ITS_FILES) == []


def test_controller_log_makes_a_broker_observed() -> None:
    files = [*ITS_FILES, log_file("broker-4/controller.log", "00:00:00", "08:00:00")]
    assert [s for s in spans([*LEADS, CONTROLLER], files) if s[0] == 1] == []


def test_line_of_another_broker_splits_the_unobserved_span() -> None:
    follows = line("follower_started", "03:00:00", 2, leader=1)
    files = [*ITS_FILES, log_file("broker-2/server.log", "03:00:00", "03:00:00")]
    own = [s for s in spans([*LEADS, follows], files) if s[0] == 1]
    assert own == [(1, at("01:59:59"), at("03:00:00")), (1, at("03:00:00"), at("05:00:00"))]


def test_unobserved_span_is_cut_to_the_window() -> None:
    [span] = find_unobserved_spans("c", observe(LEADS, [], [], ITS_FILES))
    window = Window(at("02:30:00"), at("12:00:00"))
    [inside] = cut_to(window, [span])
    assert (inside.first_at, inside.last_at) == (at("02:30:00"), at("05:00:00"))
    assert cut_to(Window(at("05:30:00"), at("05:30:00") + timedelta(hours=1)), [span]) == []
