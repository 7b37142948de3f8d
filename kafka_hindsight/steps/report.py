"""The step report: the page of a published window beside the tables, and words for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog.quality import NIGHTS
from kafka_hindsight.catalog.rows import NightSummary
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.claims import hold_publication
from kafka_hindsight.lake.store import Store
from kafka_hindsight.report.build import night_of, report_of
from kafka_hindsight.report.fleet import fleet_page
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.markdown import document
from kafka_hindsight.report.metrics import metrics_text
from kafka_hindsight.report.terminal import render_terminal
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import plain
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.page_names import FLEET_PAGE, METRICS, NEWEST, page_name
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql import report_rows
from kafka_hindsight.sql.fleet_rows import read_metrics
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.steps.run_account import run_of

_VERSIONS = {"Delta (deltalake)": "deltalake", "DuckDB": "duckdb", "Great Expectations": "great-expectations"}
"""What writes gold and checks it, whichever engine reads and judges."""


def run_step(workers: object, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Write the report of the window that was published.

    Returns:
        What publish returned, `report` and `terminal`; see `write_report`.
    """
    return {**earlier["publish"], **write_report(Store(settings.lake), run_of(settings, earlier["ingest"]))}


def write_report(store: Store, run: Mapping[str, Any]) -> dict[str, str]:
    """Write the window's own page, the same as Markdown, and `<LAKE>/report/index.html`.

    The latter is the same page where the cluster has no later one; in a lake of several clusters the page of all.

    Args:
        store: The lake, in which the window is published.
        run: run_id, run_at, cluster, window_from and window_to, and where known started_at, log_path, files_not_read
            and warnings.

    Returns:
        `report`, where the page lies (its Markdown lies beside it), and `terminal`, the summary in plain text.
    """
    cluster, window = run["cluster"], Window(run["window_from"], run["window_to"])
    versions = {name: version(package) for name, package in _VERSIONS.items()}
    with open_views(store.lake, report_rows.READ) as connection:
        rows, is_newest = report_rows.page_rows(connection, {**run, "lake": store.lake, "versions": versions})
    own, newest = (f"{store.lake}/report/{name}" for name in (page_name(cluster, window.start, window.end), NEWEST))
    report, place = report_of(rows), own
    page = render_html(report)
    at_once(
        partial(landing.write_atomically, own, page),
        partial(landing.write_atomically, own.removesuffix(".html") + ".md", document(report)),
    )
    with hold_publication(store.lake, run["run_id"]):
        has_several = write_fleet(store, night_of(rows, run["run_id"], run["run_at"]), window)
        if is_newest and not has_several:
            place = newest
            landing.write_atomically(place, page)
    return {"report": place, "terminal": render_terminal(replace(report, place=plain.visible(place)))}


def write_fleet(store: Store, night: NightSummary, window: Window) -> bool:
    """Puts the night into quality.nights, and writes `<LAKE>/report/fleet.html` and `metrics.prom` again.

    Gives: whether the lake has several clusters. Then `index.html` is that page too.
    """
    store.create(NIGHTS)
    row = pa.Table.from_pylist([night.as_dict()], arrow_schema(NIGHTS))
    store.replace_window(NIGHTS, row, night.cluster, window)
    fleet, subjects = read_metrics(store.lake, night.run_published_at)
    page, has_several = render_html(fleet_page(fleet)), len(fleet.newest) > 1
    files = {FLEET_PAGE: page, METRICS: metrics_text(fleet.nights, subjects), **({NEWEST: page} if has_several else {})}
    at_once(*(partial(landing.write_atomically, f"{store.lake}/report/{name}", text) for name, text in files.items()))
    return has_several
