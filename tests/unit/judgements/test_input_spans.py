"""The parts of a window in which clients' logs, readings and records were read, and what is said of the others."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import InputKind
from kafka_hindsight.catalog.rows import InputSpan, ParsedHour
from kafka_hindsight.judgements.brokers.input_spans import find_input_spans
from kafka_hindsight.report.not_known import unread_inputs
from kafka_hindsight.shared.windows import Window
from tests.support.rows import AT, row

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
WINDOW = Window(AT, AT + 8 * HOUR)


def hour(first: timedelta, last: timedelta, source: str = "app.log", origin: str = "client") -> ParsedHour:
    return row(ParsedHour.TABLE, source=source, origin=origin, first_at=AT + first, last_at=AT + last)


def spans(
    hours: list[ParsedHour] | None = None, readings: list[datetime] | None = None, records: list[datetime] | None = None
) -> list[InputSpan]:
    return find_input_spans("c", hours or [], readings or [], records or [], WINDOW)


def read(rows: list[InputSpan], kind: InputKind) -> list[tuple[timedelta, timedelta, bool]]:
    return [(r.first_at - AT, r.last_at - AT, r.is_read) for r in rows if r.input is kind]


def every(step: timedelta, first: timedelta, last: timedelta) -> list[datetime]:
    return [AT + first + n * step for n in range((last - first) // step + 1)]


def test_input_that_was_never_read_is_one_unread_part() -> None:
    assert [(r.input, r.first_at, r.last_at, r.is_read) for r in spans()] == [
        (kind, WINDOW.start, WINDOW.end, False) for kind in InputKind
    ]
    assert unread_inputs(spans()) == [], "a standing fact is no gap"


def test_log_of_a_client_covers_its_silence_and_another_log_what_comes_later() -> None:
    night = [hour(timedelta(), MINUTE), hour(2 * HOUR, 3 * HOUR), hour(6 * HOUR, 7 * HOUR, "other.log")]
    of_broker = hour(timedelta(), 8 * HOUR, "broker-1/server.log", "broker")
    assert read(spans([*night, of_broker]), InputKind.CLIENT_LOGS) == [
        (timedelta(), 3 * HOUR, True),
        (3 * HOUR, 6 * HOUR, False),
        (6 * HOUR, 8 * HOUR, True),
    ]


def test_hours_without_readings_are_named_with_what_rests_on_them() -> None:
    readings = [*every(MINUTE, timedelta(), 2 * HOUR), *every(MINUTE, 4 * HOUR, 8 * HOUR)]
    rows = spans(readings=readings)
    assert read(rows, InputKind.READINGS) == [
        (timedelta(), 2 * HOUR, True),
        (2 * HOUR, 4 * HOUR, False),
        (4 * HOUR, 8 * HOUR, True),
    ]
    assert unread_inputs(rows, day=AT.date()) == [
        "Not known from 05:00:00 to 07:00:00: lag, stalls and which member owned what, because no reading with"
        " committed offsets was read. Let hindsight snapshot, or the snapshot DAG, read the cluster all the time."
    ]
    assert unread_inputs(rows, InputKind.RECORDS) == []


def test_readings_that_come_rarely_have_no_gaps_of_their_usual_length() -> None:
    assert read(spans(readings=every(30 * MINUTE, timedelta(), 8 * HOUR)), InputKind.READINGS) == [
        (timedelta(), 8 * HOUR, True)
    ]


def test_records_cover_the_time_from_the_first_to_the_last() -> None:
    rows = spans(records=[AT - HOUR, AT + 5 * HOUR])
    assert read(rows, InputKind.RECORDS) == [(timedelta(), 5 * HOUR, True), (5 * HOUR, 8 * HOUR, False)]


INSTANTS = st.lists(st.integers(-600, 1_200).map(lambda n: AT + n * MINUTE))


@given(INSTANTS, INSTANTS, st.lists(st.tuples(st.integers(-600, 1_200), st.integers(0, 600))))
def test_parts_of_each_input_are_the_window_and_read_ones_hold_all_that_was_read(
    readings: list[datetime], records: list[datetime], logs: list[tuple[int, int]]
) -> None:
    hours = [hour(n * MINUTE, (n + length) * MINUTE, str(place)) for place, (n, length) in enumerate(logs)]
    rows = spans(hours, readings, records)
    for kind in InputKind:
        own = [r for r in rows if r.input is kind]
        assert (own[0].first_at, own[-1].last_at) == (WINDOW.start, WINDOW.end)
        assert all(a.last_at == b.first_at and a.is_read is not b.is_read for a, b in pairwise(own))
    unread = [r for r in rows if r.input is InputKind.CLIENT_LOGS and not r.is_read]
    assert not [h for h in hours for r in unread if h.first_at < r.last_at and r.first_at < h.last_at]
