"""How long what is kept: a table stands above its layer, landed files never outlive their rows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kafka_hindsight.catalog.bronze import LOG_FILES, LOG_RECORDS
from kafka_hindsight.catalog.gold import FINDINGS
from kafka_hindsight.lake.landing import landed_at, landed_name
from kafka_hindsight.settings.retention import retention_of
from kafka_hindsight.shared.exits import BadInput

NOW = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)


def day(number: int) -> datetime:
    return datetime(2026, 11, number, tzinfo=UTC)


def test_retention_of_a_table_overrides_its_layer_and_default_is_forever() -> None:
    keep = retention_of(" bronze=20, bronze.log_files=25 ", 24, 2)
    assert [keep.oldest(t, NOW) for t in (LOG_RECORDS, LOG_FILES, FINDINGS)] == [day(10), day(5), None]
    assert retention_of(None, 24, 2).oldest(LOG_RECORDS, NOW) is None


@pytest.mark.parametrize(
    ("text", "oldest"),
    [("gold=20", None), ("landing=14", day(16)), ("bronze=20", day(10)), ("landing=25,bronze=20", day(10))],
)
def test_landed_files_are_kept_no_longer_than_bronze_rows(text: str, oldest: datetime | None) -> None:
    assert retention_of(text, 24, 2).oldest_landed(NOW) == oldest


def test_all_invalid_retentions_are_reported_at_once() -> None:
    with pytest.raises(BadInput) as problem:
        retention_of("bronze=3,gld=90,gold", 24, 2)
    assert len(problem.value.sentences) == 3


def test_timestamp_of_landed_file_is_read_from_its_name() -> None:
    assert landed_at(landed_name("a-b", NOW)) == NOW
    assert landed_at("c-20261130T123000Z-0123456789abcdef.jsonl") == NOW
    assert landed_at("readme.jsonl") is None
