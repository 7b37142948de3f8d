"""Which instants widen a window, where one line has a garbled year and another clock is far off."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_hindsight.intake.outliers import Day, is_suspicious, outliers, sentence_about

NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)
NIGHT = NOW - timedelta(days=1)


def day(at: datetime, records: int = 1, source: str = "broker-1/server.log") -> Day:
    return Day(source, records, at, at + timedelta(minutes=5))


@pytest.mark.parametrize(
    "at",
    [
        datetime(9999, 12, 31, 23, 54, 59, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(2926, 11, 21, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2016, 11, 21, tzinfo=UTC),
        NOW + timedelta(days=2),
    ],
)
def test_one_record_of_a_garbled_year_is_left_out_of_the_window(at: datetime) -> None:
    kept, left_out = outliers([day(at), day(NIGHT, 5_000)], NOW)
    assert (kept, left_out) == ([day(NIGHT, 5_000)], [day(at)])
    assert "1 records lie far" in sentence_about(left_out)
    assert f"broker-1/server.log {at.date().isoformat()}" in sentence_about(left_out)


def test_months_of_logs_with_gaps_are_kept_whole() -> None:
    months = [day(NIGHT - timedelta(days=20 * n), 40) for n in range(9)]
    assert outliers(months, NOW) == (months[::-1], [])


def test_early_records_near_those_of_another_log_are_kept() -> None:
    early, beside = day(NIGHT - timedelta(days=30)), day(NIGHT - timedelta(days=28), 900, "broker-2/server.log")
    assert outliers([early, beside, day(NIGHT, 5_000)], NOW)[1] == []


def test_early_record_in_a_small_folder_is_kept() -> None:
    assert outliers([day(NIGHT - timedelta(days=30)), day(NIGHT, 90)], NOW)[1] == []


def test_records_are_kept_where_every_clock_is_ahead_of_the_run() -> None:
    ahead = [day(NOW + timedelta(days=400), 50), day(NOW + timedelta(days=401), 50)]
    assert outliers(ahead, NOW) == (ahead, [])


def test_future_or_week_old_window_is_suspicious_and_last_night_is_not() -> None:
    assert not is_suspicious(NIGHT, NOW, NOW)
    assert is_suspicious(NIGHT, NOW + timedelta(days=2), NOW)
    assert is_suspicious(NIGHT - timedelta(days=8), NOW, NOW)
