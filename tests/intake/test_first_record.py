"""Whether a night lies before everything that is recorded, by real files and a real lake."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog import bronze
from kafka_hindsight.engine.local import LocalWorkers
from kafka_hindsight.intake.first_record import is_before_first_record
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.steps import collect
from tests.support.logs import collected, ingested, lay, resigned, settings

FIRST = datetime(2026, 11, 21, 1, 44, 29, 117_000, tzinfo=UTC)
LINES = resigned(1) + resigned(2, "02:00:00,000")
NIGHT = {"window_from": FIRST - timedelta(days=2), "window_to": FIRST - timedelta(days=1)}


def is_before(folder: Path, logs: str = "logs", **given: object) -> bool:
    place = logs if "://" in logs else folder / logs
    return is_before_first_record(settings(folder / "lake", place, **{**NIGHT, **given}))


def test_night_is_before_first_record_up_to_its_instant(tmp_path: Path) -> None:
    lay(tmp_path / "logs", {"b1/server.log": LINES, "b2/server.log.gz": gzip.compress(LINES.encode()), "b3/x.log": ""})
    assert is_before(tmp_path)
    assert is_before(tmp_path, window_to=FIRST)
    assert not is_before(tmp_path, window_to=FIRST + timedelta(milliseconds=1))
    assert not is_before(tmp_path, window_from=None, window_to=None)


@pytest.mark.parametrize(
    "files",
    [
        {"b2/server.log": resigned(1).replace("2026-11-21", "2026-11-19")},
        {"b2/server.log": "no head\n"},
        {"b2/logs.tar": b"not read"},
        {"b2/server.log": f'{{"log":"{resigned(1).rstrip()}\\n","stream":"stdout","time":"2026-11-21T03:00:00Z"}}\n'},
    ],
    ids=["earlier record", "without an instant", "archive", "envelope"],
)
def test_one_file_that_may_hold_earlier_record_is_enough(tmp_path: Path, files: Mapping[str, str | bytes]) -> None:
    lay(tmp_path / "logs", {"b1/server.log": LINES, **files})
    assert not is_before(tmp_path)


def test_records_of_lake_count_when_their_files_are_gone(tmp_path: Path) -> None:
    early = lay(tmp_path / "early", {"b1/server.log": resigned(1).replace("2026-11-21", "2026-11-19")})
    lay(tmp_path / "logs", {"b1/server.log": LINES})
    collected(tmp_path / "lake", tmp_path / "logs")
    assert is_before(tmp_path)
    collected(tmp_path / "lake", early)
    assert not is_before(tmp_path)


def test_input_that_cannot_be_listed_is_left_to_step(tmp_path: Path) -> None:
    assert not is_before(tmp_path)
    assert not is_before(tmp_path, "source://nosuch")
    assert not is_before(tmp_path, "{date}")


def test_night_before_first_record_widens_only_where_it_may(tmp_path: Path) -> None:
    lay(tmp_path / "logs", {"b1/server.log": LINES})
    _, summary = ingested(tmp_path / "lake", tmp_path / "logs", **NIGHT, may_widen=True)
    assert summary["window_from"] == FIRST.isoformat()
    assert any(w.startswith("The first record is later than the night") for w in summary["warnings"])
    with pytest.raises(BadInput, match="No record lies between"):
        ingested(tmp_path / "lake", tmp_path / "logs", **NIGHT)


def test_collect_takes_what_lies_outside_of_its_interval(tmp_path: Path) -> None:
    """An interval of the schedule is older than the brokers of a new stack."""
    logs = lay(tmp_path / "logs", {"b1/server.log": LINES})
    collect.run_step(LocalWorkers(), settings(tmp_path / "new", logs, **NIGHT), {})
    assert Store(str(tmp_path / "new")).read(bronze.LOG_RECORDS).num_rows == 2
