"""The rebuild in frames gives what it gives in one process, and its plans say what they do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.engine.judgement_run import ALL_TABLES, StagedFiles, rebuild
from kafka_hindsight.engine.local import LocalRunner
from kafka_hindsight.engine.reduce import key_of
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.published import PUBLISHED
from kafka_hindsight.judgements.rebuild.sources import condition_of, judgements_in_order
from kafka_hindsight.lake.kept_files import KeptFile
from kafka_hindsight.lake.landing import scratch
from kafka_hindsight.lake.staging import Staged, clear, read_staged_rows
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.timings import KEY, STAGE, pop_longest
from spark_jobs import jobs, rebuild_timelines
from spark_jobs.rebuild_timelines import FEW, FrameRunner
from spark_jobs.tables import unreadable
from tests.support.clocks import clocks_apart
from tests.support.logs import conf
from tests.support.odd_night import SCOPE, made_rows
from tests.support.rows import as_table

OPTIONAL = ("bronze.metadata_records", "bronze.metadata_files", "quality.metadata_states")
JUDGEMENTS = judgements_in_order(PUBLISHED.values())


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
    tables = {name: read_staged_rows(store.lake, SCOPE.cluster, BY_NAME[name], staged) for name in files}
    return {name: sorted(map(repr, rows.to_pylist())) for name, rows in tables.items()}


@pytest.mark.parametrize(
    ("without", "few", "tasks"), [((), 0, "1"), (OPTIONAL, FEW, "5")], ids=["by all", "by one task, no metadata"]
)
def test_rebuild_in_frames_equals_rebuild_of_one_process(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    without: tuple[str, ...],
    few: int,
    tasks: str,
) -> None:
    store = filled(tmp_path, without)
    scope = Scope(SCOPE.cluster, SCOPE.window, SCOPE.wide_window, clocks_apart(timedelta(seconds=7), 1, 2))
    here = contents(store, rebuild(LocalRunner(store), scope))
    plans: dict[str, str] = {}

    def explained(spark: SparkSession, what: str, frame: DataFrame) -> list[KeptFile]:
        files = jobs.files_of(spark, what, frame)
        plans[what] = re.sub(r"#\d+L?", "", frame._jdf.queryExecution().toString())
        return files

    monkeypatch.setattr(rebuild_timelines, "files_of", explained)
    whole = {"spark__sql__maxPlanStringLength": "200000", "spark__sql__debug__maxToStringFields": "1000"}
    with conf(spark, spark__sql__shuffle__partitions=tasks, **whole), FrameRunner(spark, store, few) as runner:
        clear(store.lake, scope.cluster)
        pop_longest()
        assert contents(store, rebuild(runner, scope)) == here
    longest = pop_longest()
    assert longest[STAGE].seconds >= longest[KEY].seconds > 0
    assert longest[KEY].what.split(" of ")[0] in {judgement.name for judgement in JUDGEMENTS if key_of(judgement)}
    assert here.keys() == {*ALL_TABLES} - {*without}
    assert {"gold.broker_outages", "gold.rebalances", "gold.failovers", "gold.unavailability", "gold.findings"} <= {
        name for name, rows in here.items() if rows
    }
    assert not Path(scratch(store.lake), "between").exists()
    assert not [f for f in (tmp_path / "staging").rglob("*.parquet") if f.stat().st_mode & 0o077]
    keyed = [j for j in JUDGEMENTS if key_of(j)]
    for judgement in keyed:
        plan = plans[jobs.title(judgement)]
        leaves = [pair for source in judgement.reads.values() for pair in source.leaves()]
        tables = {leaf.table for leaf, _ in leaves if leaf.table}
        columns = {condition.column for _, functions in leaves if (condition := condition_of(functions))}
        assert all(re.search(rf"Filter .*\b{column} IN", plan) for column in columns)
        assert {f"{tmp_path}/{name.replace('.', '/')}" for name in tables} <= {
            *re.findall(r"delta\.`file://([^`]*)`", plan)
        }
        assert f"judge_{judgement.name}({', '.join(judgement.key)}" in plan
        reads = [name for name in judgement.reads if here.get(f"gold.{name}") != []]  # a frame without rows is left out
        assert all(re.search(rf"(\b|_to_){name}\b", plan) for name in (*reads, *judgement.outputs, "cluster = night"))
    assert plans.keys() >= {*map(jobs.title, keyed)} and not [p for p in plans.values() if "binary" in p.lower()]


@pytest.mark.parametrize("few", [FEW, 0], ids=["few", "by all"])
def test_damaged_file_is_refused_before_it_is_judged(spark: SparkSession, tmp_path: Path, few: int) -> None:
    store = filled(tmp_path)
    place = Path(store.path(EVENTS), max(store.files(EVENTS), key=lambda file: file.size).path)
    content = bytearray(place.read_bytes())
    content[len(content) // 2] ^= 1
    place.write_bytes(content)
    with FrameRunner(spark, store, few) as runner, pytest.raises(Exception, match=f"{place.name} of silver.events has"):
        rebuild(runner, SCOPE)


def test_every_judgement_has_a_title() -> None:
    assert jobs.TITLES.keys() == {judgement.name for judgement in JUDGEMENTS}


def test_spark_without_delta_says_so(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert unreadable(spark, store) is None
    with conf(spark, spark__sql__catalog__spark_catalog="org.example.Catalog"):
        sentence = unreadable(spark, store)
    assert sentence and sentence.startswith(f"Spark {spark.version} has no Delta, so this process judges")
