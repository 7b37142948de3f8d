"""Maintenance on real tables: what is old goes, what is read stays, and whoever reads an older version still can."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from deltalake import DeltaTable

from kafka_hindsight.catalog import Table
from kafka_hindsight.catalog.bronze import GROUP_RECORDS, LOG_FILES, LOG_RECORDS, OFFSET_COMMITS
from kafka_hindsight.catalog.gold import FINDINGS
from kafka_hindsight.engine.local import LocalWorkers
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.steps import maintain
from tests.support.lake import rows, schema
from tests.support.rows import values

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def settings(lake: Path, keep: str | None) -> Settings:
    return Settings.of({"logs": "/logs", "lake": str(lake), "run_id": "m", "run_at": NOW, "keep": keep})


def append_rows(store: Store, table: Table, *held: dict[str, Any]) -> None:
    if not store.has(table):
        store.create(table)
    store.append(table, pyarrow.Table.from_pylist([values(table, **given) for given in held], schema(table)))


def values_left(store: Store, table: Table, column: str) -> set[str]:
    return {row[column] for row in rows(store.lake, table.full_name)}


def test_maintenance_removes_old_rows_of_named_layer_and_keeps_old_versions(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    for days in (0, 20, 50):
        append_rows(store, LOG_RECORDS, {"line_id": f"{days}", "happened_at": ago(days)})
    append_rows(store, FINDINGS, *({"finding_id": f"{d}", "first_at": ago(d), "last_at": ago(d)} for d in (0, 20)))
    append_rows(store, LOG_FILES, {"source": "50", "modified_at": ago(50)})
    before = store.version(LOG_RECORDS)

    summary = maintain.run_step(LocalWorkers(), settings(tmp_path, "bronze=30"), {})

    assert summary == {"landed_files": 0, "rows": {"bronze.log_records": 1}}
    assert values_left(store, LOG_RECORDS, "line_id") == {"0", "20"}
    assert values_left(store, FINDINGS, "finding_id") == {"0", "20"}, "what is not named is kept"
    assert values_left(store, LOG_FILES, "source") == {"50"}, "a file may lie there for years, and is not read again"
    place = str(tmp_path / "bronze" / "log_records")
    assert len(DeltaTable(place).file_uris()) == len({f"{ago(days):%Y-%m}" for days in (0, 20)})
    assert DeltaTable(place, version=before).to_pyarrow_table().num_rows == 3


@pytest.mark.parametrize(
    ("keep", "word"), [("bronze=9", "10 days or more"), ("brnze=90", "'brnze=90'"), ("gold=x", "'gold=x'")]
)
def test_unusable_or_too_short_retention_is_refused(tmp_path: Path, keep: str, word: str) -> None:
    with pytest.raises(BadInput, match=word):
        maintain.run_step(LocalWorkers(), settings(tmp_path, keep), {})


def test_landed_files_are_removed_when_old_and_taken(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    names = {d: f"c-{ago(d):%Y%m%dT%H%M%SZ}-{'0' * 16}.jsonl" for d in (1, 20, 21)}
    for name in names.values():
        landing.write_atomically(f"{tmp_path}/landing/group_records/{name}", "{}")
    append_rows(store, GROUP_RECORDS, *({"run_landed_as": names[d], "record_offset": d} for d in (1, 20)))
    assert maintain.run_step(LocalWorkers(), settings(tmp_path, "landing=14"), {})["landed_files"] == 1
    assert landing.list_landed(str(tmp_path), landing.GROUP_RECORDS) == sorted([names[1], names[21]])


def test_landed_commits_are_removed_when_each_file_of_their_runs_is_old(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    names = {d: f"c-{ago(d):%Y%m%dT%H%M%SZ}-{'0' * 16}.jsonl" for d in (1, 20, 21, 22)}
    for name in names.values():
        landing.write_atomically(f"{tmp_path}/landing/offset_commits/{name}", "{}")
    append_rows(
        store, OFFSET_COMMITS, {"run_landed_as": [names[22], names[1]]}, {"run_landed_as": [], "first_record": 5}
    )
    append_rows(store, OFFSET_COMMITS, {"run_landed_as": [names[20]], "first_record": 9})
    assert maintain.run_step(LocalWorkers(), settings(tmp_path, "landing=14"), {})["landed_files"] == 2
    assert landing.list_landed(str(tmp_path), landing.OFFSET_COMMITS) == sorted([names[1], names[21]])
