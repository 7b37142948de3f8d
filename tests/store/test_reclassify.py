"""The past judged anew on real tables: what changed is named, gold is what today's knowledge says, once."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from spark_jobs.catalog import gold, silver
from spark_jobs.catalog.quality_verdicts import VERDICT_CHANGES
from spark_jobs.catalog.steps import PUBLISH
from spark_jobs.edges import lake_files
from spark_jobs.edges.session import for_few_rows
from spark_jobs.edges.store import Store
from spark_jobs.shared.config import Settings
from spark_jobs.shared.exits import BadInput
from spark_jobs.steps import publish, reclassify
from spark_jobs.steps.run import _claimed
from tests.support.logs import rows, run, settings
from tests.support.nights import EXCERPTS

PAUSED = EXCERPTS / "groups" / "pause-4.1" / "logs"


def run_of(given: Settings, said: dict[str, Any]) -> dict[str, Any]:
    window = {name: datetime.fromisoformat(said[name]) for name in ("window_from", "window_to")}
    return {"run_id": given.run_id, "run_at": given.run_at, "cluster": said["cluster"], **window}


def owner(lake: str) -> Any:
    path = Path(lake, "staging", "_run.json")
    return json.loads(path.read_text())["run_id"] if path.exists() else None


def test_a_window_is_judged_anew(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And before: a publish that finds another run's rows in staging, or half of its own, rebuilds its own first."""
    given = settings(tmp_path / "lake", PAUSED)
    store, said = run(spark, tmp_path / "lake", PAUSED)
    lake_files.write_json(spark, f"{store.lake}/staging/_run.json", {"run_id": "another"})
    overwrite = Store.overwrite_staging

    def dies(*of_table: Any) -> None:
        if of_table[1] is gold.INCIDENTS:
            raise MemoryError
        overwrite(*of_table)

    with monkeypatch.context() as patched, pytest.raises(MemoryError), for_few_rows(spark):
        patched.setattr(Store, "overwrite_staging", dies)
        with _claimed(spark, PUBLISH, given, {"ingest": said}):
            raise AssertionError("half of staging was to be published")
    assert owner(store.lake) is None, "what a kill leaves in staging belongs to no run"
    with for_few_rows(spark), _claimed(spark, PUBLISH, given, {"ingest": said}):
        assert owner(store.lake) == given.run_id
    with monkeypatch.context() as patched, for_few_rows(spark):
        patched.setattr(Store, "overwrite_staging", dies)
        with _claimed(spark, PUBLISH, given, {"ingest": said}):
            assert owner(store.lake) == given.run_id, "what is whole and ours is not rebuilt"
    publish.publish(spark, store.lake, run_of(given, said))
    verdicts = {r["rebalance_id"]: r["cause"] for r in rows(store, gold.REBALANCES, "started_at")}
    (other, lost, *_) = verdicts
    content = store.content_hash(gold.REBALANCES)
    table = DeltaTable.forPath(spark, f"{store.lake}/gold/rebalances")
    table.update(
        f"rebalance_id = '{other}'", {"cause": "'unknown'", "confidence": "'unknown'", "knowledge_version": "'older'"}
    )
    table.delete(f"rebalance_id = '{lost}'")
    DeltaTable.forPath(spark, f"{store.lake}/silver/events").delete()

    window = {name: run_of(given, said)[name] for name in ("window_from", "window_to")}
    again = replace(given, **window, run_id="again", run_at=datetime(2026, 12, 1, tzinfo=UTC))
    told = reclassify.run_step(spark, again, {})

    assert told["changes"] == {"appeared": 1, "changed": 1}
    changes = rows(store, VERDICT_CHANGES, "change")
    assert [(c["row_id"], c["verdict_before"], c["verdict_after"], c["knowledge_before"]) for c in changes] == [
        (lost, None, verdicts[lost], None),
        (other, "unknown", verdicts[other], "older"),
    ]
    assert store.content_hash(gold.REBALANCES) == content
    assert rows(store, silver.EVENTS)

    assert reclassify.run_step(spark, again, {})["changes"] == {}
    assert rows(store, VERDICT_CHANGES, "change") == changes, "run again by its own name it takes nothing back"


def test_a_window_must_be_given_and_have_been_published(spark: SparkSession, tmp_path: Path) -> None:
    given = settings(tmp_path, PAUSED)
    with pytest.raises(BadInput, match="FROM and TO are not given"):
        reclassify.run_step(spark, given, {})
    day = {"window_from": datetime(2026, 10, 1, tzinfo=UTC), "window_to": datetime(2026, 10, 2, tzinfo=UTC)}
    with pytest.raises(BadInput, match="was never published"):
        reclassify.run_step(spark, replace(given, **day), {})
