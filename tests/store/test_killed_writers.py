"""Two writers of one table, each killed at every step: what was done is there once, what was half done is not seen."""

from __future__ import annotations

from pathlib import Path

from deltalake import DeltaTable

from kafka_hindsight.lake import delta_log
from kafka_hindsight.lake.store import Store
from tests.support.writer import EVENTS, kill_writers


def test_killed_writers_lose_and_double_no_commit(tmp_path: Path) -> None:
    store = Store(f"{tmp_path}/lake")
    assert kill_writers(store.lake, tmp_path) >= 8
    folder = Path(store.lake, "silver/events")
    versions = sorted(int(p.stem) for p in (folder / delta_log.FOLDER).glob("?" * 20 + ".json"))
    assert versions == list(range(store.version(EVENTS) + 1))
    assert len(DeltaTable(str(folder)).to_pyarrow_table()) == len(store.read(EVENTS))
