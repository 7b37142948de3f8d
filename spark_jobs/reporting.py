"""The report of a published window: a page beside the tables, words for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

from kafka_hindsight.lake import landing
from kafka_hindsight.lake.store import Store
from kafka_hindsight.report.build import night_of, report_of
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.terminal import render_terminal
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.page_names import NEWEST, page_name
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql import report_rows
from kafka_hindsight.sql.lake_views import open_views
from spark_jobs.fleet_page import write_fleet

_VERSIONS = {"Delta (deltalake)": "deltalake", "DuckDB": "duckdb", "Great Expectations": "great-expectations"}
"""What writes gold and checks it, whichever engine reads and judges."""


def write_report(store: Store, run: Mapping[str, Any]) -> dict[str, str]:
    """Write the window's own page and, where the cluster has no later one, the newest: `<LAKE>/report/index.html`.

    Args:
        store: The lake, in which the window is published.
        run: run_id, run_at, cluster, window_from and window_to, and where known started_at, log_path, files_not_read
            and warnings.

    Returns:
        `report`, where the page lies, and `terminal`, the summary in plain text.
    """
    cluster, window = run["cluster"], Window(run["window_from"], run["window_to"])
    versions = {name: version(package) for name, package in _VERSIONS.items()}
    with open_views(store.lake, report_rows.READ) as connection:
        rows, is_newest = report_rows.page_rows(connection, {**run, "lake": store.lake, "versions": versions})
    own = f"{store.lake}/report/{page_name(cluster, window.start, window.end)}"
    place = f"{store.lake}/report/{NEWEST}" if is_newest else own
    report = report_of(rows, place)
    page = render_html(report)
    at_once(
        *(partial(landing.write_atomically, path, page) for path in {own, place}),
        partial(write_fleet, store, night_of(rows, run["run_id"], run["run_at"]), window),
    )
    return {"report": place, "terminal": render_terminal(report)}
