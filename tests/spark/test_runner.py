"""The rebuild in Spark's workers gives what it gives in one process."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.engine.judgement_run import ALL_TABLES, StagedFiles, rebuild
from kafka_hindsight.engine.local import LocalRunner
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.lake.staging import Staged, read_staged_rows
from kafka_hindsight.lake.store import Store
from kafka_hindsight.spark.runner import SparkRunner
from tests.support.clocks import clocks_apart
from tests.support.odd_night import SCOPE, made_rows
from tests.support.rows import as_table

OPTIONAL = ("bronze.metadata_records", "bronze.metadata_files", "quality.metadata_states")


def filled(lake: Path, without: Iterable[str] = ()) -> Store:
    """A lake with the rows of the night, each table in two files."""
    store = Store(str(lake))
    for name, own in made_rows().items():
        if name not in without:
            store.create(BY_NAME[name])
            for part in (own[::2], own[1::2]):
                store.append(BY_NAME[name], as_table(part, BY_NAME[name]))
    return store


def contents(store: Store, files: StagedFiles) -> dict[str, list[str]]:
    """The staged rows of each table in no order."""
    staged = Staged("run", files)
    tables = {name: read_staged_rows(store.lake, BY_NAME[name], staged) for name in files}
    return {name: sorted(map(repr, rows.to_pylist())) for name, rows in tables.items()}


@pytest.mark.parametrize("without", [(), OPTIONAL], ids=["all tables", "no metadata"])
def test_spark_rebuild_equals_rebuild_of_one_process(
    spark: SparkSession, tmp_path: Path, without: tuple[str, ...]
) -> None:
    store = filled(tmp_path, without)
    scope = Scope(SCOPE.cluster, SCOPE.window, SCOPE.wide_window, clocks_apart(timedelta(seconds=7), 1, 2))
    here = contents(store, rebuild(LocalRunner(store), scope))
    with SparkRunner(spark, store) as runner:
        assert contents(store, rebuild(runner, scope)) == here
    assert here.keys() == {*ALL_TABLES} - {*without}
    assert {"gold.broker_outages", "gold.rebalances", "gold.failovers", "gold.unavailability", "gold.findings"} <= {
        name for name, rows in here.items() if rows
    }
