"""Which windows of before are judged again: those whose records came late, and no others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.quality import LATE_WINDOWS
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.steps.late_windows import Published, earlier_windows, keep_late_windows
from tests.support.lake import rows, write_lake
from tests.support.logs import settings
from tests.support.rows import values

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MIDNIGHT = datetime(2026, 11, 21, tzinfo=UTC)
TONIGHT = Window(MIDNIGHT, MIDNIGHT + DAY)
RUN_AT = TONIGHT.end + 2 * HOUR


def night(days_ago: int) -> Window:
    return Window(TONIGHT.start - days_ago * DAY, TONIGHT.end - days_ago * DAY)


def publication(window: Window, at: datetime, cluster: str = "prod") -> dict[str, Any]:
    about = {"cluster": cluster, "window_from": window.start, "window_to": window.end, "run_published_at": at}
    return values(BY_NAME["quality.publications"], run_id=f"{cluster}{at}", **about)


def record(source: str, happened_at: datetime, collected_at: datetime, cluster: str = "prod") -> dict[str, Any]:
    about = {"cluster": cluster, "source": source, "happened_at": happened_at, "run_collected_at": collected_at}
    return values(BY_NAME["bronze.log_records"], line_id=f"{source}{happened_at}", **about)


def test_window_is_judged_again_when_its_records_came_after_publication(tmp_path: Path) -> None:
    """Windows end at midnight and are judged at two; the third night before was judged again by now."""
    judged = [publication(night(n), night(n).end + 2 * HOUR) for n in range(1, 9)]
    judged += [publication(night(3), RUN_AT), publication(night(1), RUN_AT, cluster="other")]
    four, one = night(4), night(1)
    records = [
        record("1/server.log", four.start + HOUR, RUN_AT),
        record("2/server.log", four.end - HOUR, RUN_AT),
        record("2/server.log", one.end + HOUR, one.end + 2 * HOUR),
        record("2/server.log", one.end + 2 * HOUR - timedelta(minutes=5), RUN_AT),
        record("2/server.log", night(8).start + HOUR, RUN_AT),
        record("3/server.log", night(2).start + HOUR, RUN_AT, cluster="other"),
    ]
    lake = write_lake(tmp_path / "lake", {"quality.publications": judged, "bronze.log_records": records})
    store = Store(str(lake))
    store.create(LATE_WINDOWS)
    given_ = settings(lake, tmp_path, run_id="tonight", run_at=RUN_AT)
    for _ in range(2):
        sentences = keep_late_windows(store, given_, "prod", TONIGHT)
        assert [sentence.partition(" for ")[0] for sentence in sentences] == [
            "1 record came late",
            "1 record came late",
            "2 records came late",
        ], "the run that is tried again finds the same"
    assert sentences[-1].endswith("(1/server.log, 2/server.log): it is judged again.")
    late = {r["window_from"]: r for r in rows(lake, LATE_WINDOWS.full_name)}
    assert sorted(late) == [night(n).start for n in (7, 5, 4)]
    assert late[four.start]["sources"] == ["1/server.log", "2/server.log"]
    assert (late[four.start]["records"], late[night(5).start]["records"]) == (2, 1)
    assert late[night(5).start]["first_at"] == four.start + HOUR, "within its look-ahead"


def test_empty_lake_has_no_late_windows(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert keep_late_windows(store, settings(tmp_path, tmp_path), "prod", TONIGHT) == []


@given(st.lists(st.tuples(st.integers(-300, 60), st.integers(1, 48), st.integers(0, 20)), max_size=12))
def test_window_covered_by_younger_publication_is_not_judged_again(shapes: list[tuple[int, int, int]]) -> None:
    published = {
        Window(TONIGHT.start + start * HOUR, TONIGHT.start + (start + length) * HOUR): RUN_AT - at * HOUR
        for start, length, at in shapes
    }
    kept = earlier_windows([Published(window, at) for window, at in published.items()], TONIGHT)
    assert [p.window.start for p in kept] == sorted(p.window.start for p in kept)
    for each in kept:
        assert each.window.start < TONIGHT.start
        assert each.window.end > TONIGHT.start - 7 * DAY
    for window, at in published.items():
        is_asked = window.start < TONIGHT.start and window.end > TONIGHT.start - 7 * DAY
        answered = any(k.window.start <= window.start and window.end <= k.window.end and k.at >= at for k in kept)
        assert not is_asked or answered, "every window that is near is kept, or lies in one that is and is younger"
