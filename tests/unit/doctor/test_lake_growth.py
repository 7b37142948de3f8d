"""How fast a lake grows, and what retention removes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.doctor.lake_growth import growth, overdue
from kafka_hindsight.lake.parts import DataFile
from kafka_hindsight.settings.retention import Retention
from tests.support.rows import AT

DAY = timedelta(days=1)
BEGIN = AT.replace(hour=0, minute=0, second=0, microsecond=0)
NOW = BEGIN + 100 * DAY


def file(day: int, length: timedelta = DAY) -> DataFile:
    """A file with the raw lines of a day."""
    ends = [(BEGIN + day * DAY).isoformat(), (BEGIN + day * DAY + length).isoformat()]
    stats = {side: {"happened_at": at} for side, at in zip(("minValues", "maxValues"), ends, strict=True)}
    return DataFile(f"{day}.parquet", 2_000_000, stats)


HUNDRED = [file(day) for day in range(100)]
GROWS = ["200.0 MB in the newest versions: bronze 200.0 MB", "raw lines grow by 2.0 MB a day of logs"]


@pytest.mark.parametrize(
    ("files", "keep", "sentences"),
    [
        (
            HUNDRED,
            {},
            [
                *GROWS,
                "raw lines are kept for ever, since KEEP names no days for bronze;"
                " KEEP=bronze=90,silver=90 would free about 20.0 MB",
            ],
        ),
        (HUNDRED, {"bronze": 50}, [*GROWS, "KEEP is bronze=50: the next maintenance frees about 100.0 MB"]),
        (
            [file(99, DAY / 24)],
            {"bronze": 50},
            [
                "2.0 MB in the newest versions: bronze 2.0 MB",
                "raw lines of 1 h take 2.0 MB: too short to say how fast they grow",
                "KEEP is bronze=50: the next maintenance frees about 0.0 MB",
            ],
        ),
        (
            [],
            {"bronze": 50},
            ["0.0 MB in the newest versions: no rows", "KEEP is bronze=50: the next maintenance frees about 0.0 MB"],
        ),
    ],
    ids=["for ever", "fifty days", "an hour of lines", "no line"],
)
def test_growth_and_what_retention_frees(files: list[DataFile], keep: dict[str, int], sentences: list[str]) -> None:
    assert list(growth({LOG_RECORDS: files}, Retention(keep), NOW)) == sentences


@pytest.mark.parametrize(
    ("days", "sentence"),
    [
        (range(400), None),
        (
            range(401),
            "overdue: bronze.log_records has 401 small files, and a question over all of them takes 602 ms longer;"
            " 401 files of the lake are small.\nRun the step maintain, or the DAG kafka_maintenance each week.",
        ),
    ],
)
def test_maintenance_is_overdue_where_a_table_has_many_small_files(days: range, sentence: str | None) -> None:
    in_one_month = [file(day % 28) for day in days]
    assert overdue({LOG_RECORDS: in_one_month}) == sentence


def test_maintenance_is_not_overdue_in_a_lake_without_rows() -> None:
    assert overdue({}) is None
    assert overdue({LOG_RECORDS: []}) is None
