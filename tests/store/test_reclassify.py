"""A published night on real tables: what its rebalances cost and what would have helped; and the past judged again.

What changed is named, gold is what today's knowledge says, once.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from kafka_hindsight.catalog import gold, quality, silver
from kafka_hindsight.catalog.codes import ClockMeaning
from kafka_hindsight.catalog.quality import VERDICT_CHANGES
from kafka_hindsight.catalog.steps import VALIDATE
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine import judgement_run
from kafka_hindsight.engine.local import LocalWorkers
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.staging import Staged, list_staged, read_staged
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.steps import publish, rebuild, reclassify, report, validate
from kafka_hindsight.steps.run import _claim_staging
from tests.support.lake import content_of
from tests.support.logs import ingested, rows, settings
from tests.support.nights import EXCERPTS

PAUSED = EXCERPTS / "groups" / "pause-4.1"
LOGS = PAUSED / "logs"


class Night(NamedTuple):
    """The settings of the run that published it, and what ingest and publish said."""

    settings: Settings
    ingest_summary: dict[str, Any]
    publish_summary: dict[str, Any]


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Night:
    """The paused group's night, published; not to be changed.

    Its clients' logs hold the lines that tell which partitions they held. The publish finds another run's rows in
    staging, then a part of its own, so it rebuilds its own first.
    """
    clients = shutil.copytree(PAUSED / "clients", tmp_path_factory.mktemp("night") / "clients")
    shutil.copytree(EXCERPTS / "assignments" / "pause-4.1", clients / "assignments")
    lake = tmp_path_factory.mktemp("published") / "lake"
    given = settings(lake, LOGS, client_logs=clients)
    store, summary = ingested(lake, LOGS, client_logs=clients)
    list_staged(store.lake, summary["cluster"], Staged("another", {}))
    write, claim = judgement_run.stage_files, partial(_claim_staging, LocalWorkers(), VALIDATE, given)

    def dies(lake: str, cluster: str, table: Table, batches: Any) -> Any:
        if table is not gold.OWNERSHIP:
            raise MemoryError
        return write(lake, cluster, table, batches)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(judgement_run, "stage_files", dies)
        patched.setattr(rebuild, "rebuild", partial(rebuild.rebuild, names=("gold.ownership", "gold.partition_stalls")))
        with pytest.raises(MemoryError):
            claim({"ingest": summary})
        assert read_staged(store.lake, summary["cluster"]) is None, "what a kill leaves in staging belongs to no run"
        patched.undo()
        claim({"ingest": summary})
        assert owner(store, summary) == given.run_id
        patched.setattr(judgement_run, "stage_files", dies)
        claim({"ingest": summary})
        assert owner(store, summary) == given.run_id, "what is whole and ours is not rebuilt"
    earlier = {"ingest": summary}
    for step in (validate, publish, report):
        earlier[step.__name__.rpartition(".")[2]] = step.run_step(LocalWorkers(), given, earlier)
    return Night(given, summary, earlier["report"])


def owner(store: Store, summary: dict[str, Any]) -> Any:
    staged = read_staged(store.lake, summary["cluster"])
    return staged and staged.run_id


def test_costs_and_remedies_of_night_are_published(night: Night) -> None:
    store = Store(night.settings.lake)
    rebalances = rows(store, gold.REBALANCES, "started_at")
    assert [r["partition_seconds"] for r in rebalances] == [9 * r["duration_ms"] / 1_000 for r in rebalances]
    incidents = rows(store, gold.INCIDENTS)
    assert sum(i["partition_seconds"] or 0 for i in incidents) == pytest.approx(
        sum(r["partition_seconds"] for r in rebalances)
    )

    cooperative, longer = rows(store, gold.REMEDIES, "setting")
    assert (cooperative["setting"], cooperative["rebalance_ids"]) == ("cooperative_assignment", [])
    assert (longer["setting"], longer["value_now"], longer["value_smallest"]) == ("session_timeout", 7_000, 12_044)
    assert longer["rebalance_ids"] == [r["rebalance_id"] for r in rebalances[2:4]]
    assert longer["partition_seconds_avoided"] == pytest.approx(sum(r["partition_seconds"] for r in rebalances[2:4]))

    (page,) = Path(night.publish_summary["report"]).parent.glob("*.md")
    assert "A session timeout of 13 s (now 7 s) would have avoided 2 of 5 rebalances" in page.read_text(
        encoding="utf-8"
    )


def test_reclassification_names_changed_verdicts_and_is_repeatable(
    night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(night.settings.lake, tmp_path / "lake")
    store = Store(str(tmp_path / "lake"))
    verdicts = {r["rebalance_id"]: r["cause"] for r in rows(store, gold.REBALANCES, "started_at")}
    (other, lost, *_) = verdicts
    content = content_of(Path(store.lake), gold.REBALANCES)
    window = {name: datetime.fromisoformat(night.ingest_summary[name]) for name in ("window_from", "window_to")}
    unknown = {"cause": "unknown", "confidence": "unknown", "knowledge_version": "older"}
    held = [row for row in store.read(gold.REBALANCES).to_pylist() if row["rebalance_id"] != lost]
    older = [row | unknown if row["rebalance_id"] == other else row for row in held]
    earlier = pa.Table.from_pylist(older, arrow_schema(gold.REBALANCES))
    store.replace_window(gold.REBALANCES, earlier, night.ingest_summary["cluster"], Window(*window.values()))
    DeltaTable(f"{store.lake}/silver/events").delete()

    ahead = [ClockError(ClockMeaning.AHEAD, frozenset(), frozenset({1}), timedelta(seconds=7)).summary()]
    landing.write_json(f"{store.lake}/runs/{night.settings.run_id}/ingest.json", {"clocks": ahead})
    handed: list[Any] = []
    step = rebuild.run_step

    def noting(*given: Any) -> Any:
        handed.append(given[2]["ingest"]["clocks"])
        return step(*given)

    monkeypatch.setattr(rebuild, "run_step", noting)
    at = datetime(2026, 12, 1, tzinfo=UTC)
    again = night.settings.model_copy(update={**window, "lake": store.lake, "run_id": "again", "run_at": at})
    outcome = reclassify.run_step(LocalWorkers(), again, {})

    assert handed == [ahead], "what ingest found of the clocks counts again"
    assert outcome["changes"] == {"appeared": 1, "changed": 1}
    changes = rows(store, VERDICT_CHANGES, "change")
    assert [(c["row_id"], c["verdict_before"], c["verdict_after"], c["knowledge_before"]) for c in changes] == [
        (lost, None, verdicts[lost], None),
        (other, "unknown", verdicts[other], "older"),
    ]
    assert content_of(Path(store.lake), gold.REBALANCES) == content
    assert rows(store, silver.EVENTS)

    page = Path(night.publish_summary["report"].replace(night.settings.lake, store.lake))
    nights, written = rows(store, quality.NIGHTS), page.read_text(encoding="utf-8")
    page.unlink()
    DeltaTable(f"{store.lake}/quality/nights").delete()
    assert reclassify.run_step(LocalWorkers(), again, {})["changes"] == outcome["changes"]
    assert rows(store, VERDICT_CHANGES, "change") == changes, "run again by its own name it takes nothing back"
    assert rows(store, quality.NIGHTS) == nights, "a kill after the publication had kept them from it"
    assert page.read_text(encoding="utf-8") == written


def test_reclassification_needs_published_window(tmp_path: Path) -> None:
    given = settings(tmp_path, LOGS)
    with pytest.raises(BadInput, match="FROM and TO are not given"):
        reclassify.run_step(LocalWorkers(), given, {})
    day = {"window_from": datetime(2026, 10, 1, tzinfo=UTC), "window_to": datetime(2026, 10, 2, tzinfo=UTC)}
    with pytest.raises(BadInput, match="was never published"):
        reclassify.run_step(LocalWorkers(), given.model_copy(update=day), {})
