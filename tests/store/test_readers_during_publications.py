"""Foreign readers while nights are published: views and the list show whole nights, newest versions mixed ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import polars
import pytest
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import Table, gold
from kafka_hindsight.lake.publication import DUCKDB, SPARK, views
from tests.support.older_duckdb import OlderDuckDB
from tests.support.publisher import TABLES, night_column, publish

TRIES = int(os.environ.get("TRIES", "10"))
"""How often each kind of reader reads at least; `TRIES=200` takes some minutes."""

PUBLISH = (
    "from itertools import count; from tests.support.publisher import publish;"
    " [publish({lake!r}, f'night {{n}}') for n in count()]"
)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Path]:
    """A lake with one night after the other, as fast as a process publishes them."""
    lake = tmp_path / "lake"
    publish(str(lake), "first night")
    publisher = subprocess.Popen([sys.executable, "-c", PUBLISH.format(lake=str(lake))])
    yield lake
    assert publisher.poll() is None, "nights were published until the last reader ended"
    publisher.kill()
    publisher.wait()


@pytest.fixture
def duck(tmp_path: Path) -> OlderDuckDB:
    return OlderDuckDB(tmp_path)


def duckdb_nights(duck: OlderDuckDB, lake: Path, by_views: bool) -> set[str]:
    """The nights of one query of all tables, in views or in their newest versions."""
    views_first = [(lake / DUCKDB).read_text()] if by_views else []
    query = in_one_query(lambda t: t.full_name if by_views else f"delta_scan('{folder(lake, t)}')")
    return {night for (night,) in duck.rows([*views_first, query])}


def spark_nights(session: SparkSession, lake: Path, by_views: bool) -> set[str]:
    for statement in (lake / SPARK).read_text().split(";\n")[:-1] if by_views else ():
        session.sql(statement)
    query = in_one_query(lambda t: t.name if by_views else f"delta.`{folder(lake, t)}`")
    return {row["night"] for row in session.sql(query).collect()}


def polars_nights(lake: Path, by_list: bool) -> set[str]:
    versions = json.loads((lake / "published.json").read_text())["versions"] if by_list else {}
    frames = {t: polars.scan_delta(folder(lake, t), version=versions.get(t.full_name)) for t in TABLES}
    return {night for t, frame in frames.items() for night in frame.collect()[night_column(t)]}


def in_one_query(source: Callable[[Table], str]) -> str:
    return " UNION ".join(f"SELECT {night_column(t)} AS night FROM {source(t)}" for t in TABLES)


def folder(lake: Path, table: Table) -> str:
    return str(lake / table.layer / table.name)


def mixed_nights(nights: Callable[[bool], set[str]]) -> tuple[int, int]:
    """How often readers of whole nights, and readers of newest versions, see more than one night.

    They read on until newest versions were mixed: only then whole nights say something.
    """
    tries = whole = newest = 0
    while tries < TRIES or not newest:
        tries += 1
        whole += len(nights(True)) > 1
        newest += len(nights(False)) > 1
    print(f"{tries} tries: {whole} mixed nights by the publication, {newest} by newest versions")
    return whole, newest


def test_duckdb_sees_whole_nights_in_views(lake: Path, duck: OlderDuckDB) -> None:
    whole, newest = mixed_nights(partial(duckdb_nights, duck, lake))
    assert whole == 0 < newest


def test_polars_sees_whole_nights_in_listed_versions(lake: Path) -> None:
    whole, newest = mixed_nights(partial(polars_nights, lake))
    assert whole == 0 < newest


def test_views_read_lake_in_folder_of_any_name(duck: OlderDuckDB, spark: SparkSession, tmp_path: Path) -> None:
    lake = tmp_path / "it's `a` lake; with blanks"
    publish(str(lake), "night")
    assert duckdb_nights(duck, lake, True) == spark_nights(spark.newSession(), lake, True) == {"night"}


def test_views_name_lake_on_s3_as_each_engine_does() -> None:
    by_engine = views("s3a://lakes/it's", {gold.REBALANCES: 12})
    assert "gold.rebalances AS FROM delta_scan('s3://lakes/it''s/gold/rebalances', version := 12);" in by_engine[DUCKDB]
    assert "rebalances AS SELECT * FROM delta.`s3a://lakes/it's/gold/rebalances` VERSION AS OF 12;" in by_engine[SPARK]
