"""The report of a published window: its rows, bounded; a page beside the tables; words for a terminal."""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.bronze import OFFSET_SNAPSHOTS
from kafka_hindsight.report.build import read_rows, report_of
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.nights import night_of
from kafka_hindsight.report.page_rows import LagReading
from kafka_hindsight.report.sections import READS
from kafka_hindsight.report.sections.danger import WORST_RISK
from kafka_hindsight.report.terminal import render_terminal
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.page_names import NEWEST, page_name
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark import lake_files
from kafka_hindsight.spark.tables.store import Store
from spark_jobs.earlier_nights import published_since, windows_before
from spark_jobs.fleet_page import write_fleet

MOST_ROWS = 20_000
"""Of one table, on one page: more than anyone reads. What is left out is said, and stays in the lake."""

_VERSIONS = {"Spark": "pyspark", "Delta": "delta-spark", "Great Expectations": "great-expectations"}
_QUOTES = {"gold.isr_changes": 1, "gold.coordinator_moves": 1, "gold.partition_risks": 4}
"""Tables of many rows that the page counts and hardly quotes: the rest of their evidence stays in the lake."""


def write_report(
    store: Store, run: Mapping[str, Any], published: Mapping[str, DataFrame], empty: Container[str] = ()
) -> dict[str, str]:
    """Writes the window's own page and, where the cluster has no later one, the newest: `<LAKE>/report/index.html`.

    Takes: what publish takes, and where known started_at, log_path, files_not_read, warnings; the window's rows as
        they were published, by full table name: the others are read; the names of those that have no row
    Gives: `report`, where the page lies, and `terminal`, the summary in plain text.
    """
    window = Window(run["window_from"], run["window_to"])
    (tables, left_out), (history, is_newest) = at_once(
        partial(_rows, store, run, window, published, empty), partial(_among_others, store, run["cluster"], window)
    )
    own = f"{store.lake}/report/{page_name(run['cluster'], window.start, window.end)}"
    place = f"{store.lake}/report/{NEWEST}" if is_newest else own
    rows = read_rows(
        tables,
        {
            **run,
            "history": history,
            "lake": store.lake,
            "report_path": place,
            "versions": {name: version(package) for name, package in _VERSIONS.items()},
            "warnings": [*run.get("warnings", ()), *left_out],
        },
    )
    report = report_of(rows)
    page = render_html(report)
    at_once(
        *(partial(lake_files.write_text, store.spark, path, page) for path in {own, place}),
        partial(write_fleet, store, night_of(rows, run["run_id"], run["run_at"]), window),
    )
    return {"report": place, "terminal": render_terminal(report)}


def _among_others(store: Store, cluster: str, window: Window) -> tuple[dict[str, Any], bool]:
    """The windows before, and whether the cluster has no later one."""
    published = published_since(store, cluster, window)
    return windows_before(store, cluster, window, published), all(w.end <= window.end for w in published)


def _rows(
    store: Store, run: Mapping[str, Any], window: Window, published: Mapping[str, DataFrame], empty: Container[str]
) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    def read(name: str) -> list[dict[str, Any]]:
        frame = published[name] if name in published else _of_window(store, name, run, window)
        return _collected(_shown(name, frame))

    names = [kind.TABLE for kind in READS if kind is not LagReading or store.has(OFFSET_SNAPSHOTS)]
    asked = [name for name in names if name not in empty]
    found = dict(zip(asked, at_once(*(partial(read, name) for name in asked)), strict=True))
    tables = {name: found.get(name, []) for name in names}
    full = [name for name, rows in tables.items() if len(rows) > MOST_ROWS]
    said = [f"{name} has more than {MOST_ROWS} rows: the page shows the first ones, the lake has all." for name in full]
    return {name: rows[:MOST_ROWS] for name, rows in tables.items()}, said


def _of_window(store: Store, name: str, run: Mapping[str, Any], window: Window) -> DataFrame:
    table = BY_NAME[name]
    if name == "quality.validation_results":
        return store.read(table).where(F.col("run_id") == run["run_id"])
    return store.read_window(table, run["cluster"], window)


def _shown(name: str, frame: DataFrame) -> DataFrame:
    """What a page shows of a table, in an order of its own where rows may be left out."""
    if name == "quality.unparsed_lines":
        return (
            frame.groupBy("template")
            .agg(
                F.count("*").alias("records"),
                F.sum("line_count").alias("lines"),
                F.min_by("text", F.struct("happened_at", "line_id")).alias("sample"),
            )
            .orderBy(F.desc("lines"), "template")
        )
    if name == OFFSET_SNAPSHOTS.full_name:
        readings = frame.groupBy("snapshot_at").agg(F.sum("lag").alias("lag"))
        return readings.where("lag IS NOT NULL").orderBy("snapshot_at")
    if name in _QUOTES:
        frame = frame.withColumn("evidence", F.slice("evidence", 1, _QUOTES[name]))
    table = BY_NAME[name]
    if name == "gold.partition_risks":
        return frame.orderBy(*(F.col(column).desc_nulls_last() for column in WORST_RISK), *table.key)
    return frame.orderBy(*(f"`{column}`" for column in (table.time_column, *table.key) if column))


def _collected(frame: DataFrame) -> list[dict[str, Any]]:
    return list(frame.limit(MOST_ROWS + 1).toArrow().to_pylist())
