"""A month of a recorded night on disk, and the reader that compares absences with what was done."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Confidence, OutageKind
from lab.answers import DOUBTFUL, RIGHT, WRONG
from lab.drill.absences import AGREEING, Away, away_of
from lab.drill.month import MONTH, in_words, lay
from lab.drill.month import agreement as agreement_with
from lab.drill.truth import read_truth
from lab.expectations import answer_to
from tests.support.less_evidence import night_of
from tests.support.logs import unpack_night

Row = dict[str, Any]


@pytest.fixture(scope="module")
def month(tmp_path_factory) -> Path:
    """Two days of the sample night, with every file."""
    folder = tmp_path_factory.mktemp("month")
    lay(unpack_night(folder / "night"), folder / "month", days=2, missing=0, minutes=60, seed=1)
    return folder / "month"


@pytest.fixture(scope="module")
def truth(month: Path) -> list[Away]:
    return away_of(read_truth((month / "truth.jsonl").read_text().splitlines()))


@pytest.fixture(scope="module")
def rows(month: Path) -> list[Row]:
    return [asdict(o) for o in night_of(month / "logs").outages]


def test_each_day_of_a_laid_month_has_the_outages_of_the_night(rows: list[Row], truth: list[Away]) -> None:
    agreed = agreement_with(rows, truth)
    assert [away for away in truth if away.is_owed] and agreed.missed == []
    assert agreed.counts.keys() == {RIGHT}
    assert agreed.played == 16


def test_controller_epochs_rise_from_day_to_day(month: Path) -> None:
    epochs = [
        int(epoch)
        for log in sorted(month.glob("logs/broker-1/controller.log.*"))
        for epoch in re.findall(r"In the new epoch (\d+)", log.read_text())
    ]
    assert epochs == sorted(epochs) and epochs[0] < 100 and epochs[-1] > 100_000


def test_missing_share_of_files_is_listed(tmp_path: Path) -> None:
    lay(unpack_night(tmp_path / "night"), tmp_path / "month", days=2, missing=0.5, minutes=5, seed=3)
    laid = json.loads((tmp_path / "month" / MONTH).read_text())
    there = {p.relative_to(tmp_path / "month" / "logs").as_posix() for p in tmp_path.glob("month/logs/*/*")}
    assert len(laid["missing"]) == laid["files"] // 2 and not there & set(laid["missing"])
    assert len(there) == laid["files"] - len(laid["missing"])


def spoilt(row: Row) -> Iterator[tuple[str, Row]]:
    """The ways in which a row can be wrong or in doubt."""
    hour = timedelta(hours=1)
    yield WRONG, {**row, "down_at": row["down_at"] + hour, "up_at": row["up_at"] + hour}
    yield WRONG, {**row, "broker": 9}
    yield WRONG, {**row, "kind": OutageKind.UNRESPONSIVE}
    yield DOUBTFUL, {**row, "kind": OutageKind.UNKNOWN}
    yield WRONG, {**row, "up_at": row["down_at"] + timedelta(seconds=1)}
    yield WRONG, {**row, "away_low_ms": 3_600_000}
    yield WRONG, {**row, "away_high_ms": 100}
    yield DOUBTFUL, {**row, "up_at": None}
    yield WRONG, {**row, "up_at": row["up_at"] + timedelta(minutes=10)}
    yield DOUBTFUL, {**row, "up_at": row["up_at"] + timedelta(minutes=10), "confidence": Confidence.LIKELY}


def test_outage_against_the_truth_is_wrong_and_open_outage_is_doubtful(rows: list[Row], truth: list[Away]) -> None:
    crash = next(row for row in rows if row["kind"] == OutageKind.CRASH)
    assert answer_to(AGREEING, crash, truth, {}).outcome == RIGHT
    for verdict, row in spoilt(crash):
        assert answer_to(AGREEING, row, truth, {}).outcome == verdict, row


def test_summary_lists_doubtful_and_missed_outages(rows: list[Row], truth: list[Away]) -> None:
    crash = next(row for row in rows if row["kind"] == OutageKind.CRASH)
    gone = f"broker-1/server.log.{crash['down_at']:%Y-%m-%d}-01-00"
    summary = in_words(agreement_with([{**crash, "kind": OutageKind.UNKNOWN}], truth), [gone])
    assert summary.startswith(
        "1 absences: 1 doubtful; 16 were played, 15 not found\ndoubtful: broker 1 unknown, certain"
    )
    assert f"missing that day: {gone}" in summary and "missing that day: no files" in summary
