"""What rebalances cost and what would have helped, from captured lines to published tables and the page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.catalog import gold
from spark_jobs.steps import publish, rebuild
from tests.support.logs import rows, run, settings
from tests.support.nights import EXCERPTS

PAUSED = EXCERPTS / "groups" / "pause-4.1"


@pytest.fixture
def clients(tmp_path: Path) -> Path:
    """The logs of the paused group's clients, with the lines that tell which partitions they held."""
    shutil.copytree(PAUSED / "clients", tmp_path / "clients")
    shutil.copytree(EXCERPTS / "assignments" / "pause-4.1", tmp_path / "clients" / "assignments")
    return tmp_path / "clients"


def test_costs_and_remedies_of_a_night_are_published(spark: SparkSession, tmp_path: Path, clients: Path) -> None:
    given = settings(tmp_path / "lake", PAUSED / "logs", client_logs=clients)
    store, said = run(spark, tmp_path / "lake", PAUSED / "logs", client_logs=clients)
    rebuild.run_step(spark, given, {"ingest": said})
    told = publish.run_step(spark, given, {"ingest": said})

    rebalances = rows(store, gold.REBALANCES, "started_at")
    assert [r["partition_seconds"] for r in rebalances] == [9 * r["duration_ms"] / 1_000 for r in rebalances]
    incidents = rows(store, gold.INCIDENTS)
    assert sum(i["partition_seconds"] for i in incidents) == pytest.approx(
        sum(r["partition_seconds"] for r in rebalances)
    )

    cooperative, longer = rows(store, gold.REMEDIES, "setting")
    assert (cooperative["setting"], cooperative["rebalance_ids"]) == ("cooperative_assignment", [])
    assert (longer["setting"], longer["value_now"], longer["value_smallest"]) == ("session_timeout", 7_000, 12_044)
    assert longer["rebalance_ids"] == [r["rebalance_id"] for r in rebalances[2:4]]
    assert longer["partition_seconds_avoided"] == pytest.approx(sum(r["partition_seconds"] for r in rebalances[2:4]))

    page = Path(told["report"]).read_text(encoding="utf-8")
    assert "A session timeout of 13 s (now 7 s) would have avoided 2 of 5 rebalances" in page
