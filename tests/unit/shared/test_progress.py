"""What long work says while it runs."""

from __future__ import annotations

import pytest

from kafka_hindsight.shared import progress


def test_long_work_reports_megabytes_read_and_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 0.0, 6.0, 12.0, 18.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    sizes = [1_000_000, 2_000_000, 1_000_000, 4_000_000]
    assert list(progress.reported(sizes, lambda size: size)) == sizes
    assert capsys.readouterr().out.splitlines() == ["3 of 8 MB of this pass are read; about 20 s left"]


def test_short_work_reports_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress.reported([1, 2], lambda size: size)) == [1, 2]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("elapsed", "share", "phrase"),
    [(60, 0.5, "about 60 s left"), (60, 0.25, "about 3 min left"), (10, 1.0, "about 0 s left")],
)
def test_time_left_is_in_seconds_up_to_a_minute_and_a_half(elapsed: float, share: float, phrase: str) -> None:
    assert progress.time_left(elapsed, share) == phrase
