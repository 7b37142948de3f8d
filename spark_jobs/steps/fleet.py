"""A night's row among those of all clusters, and what is made of them: the page of all clusters, and metrics."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from pyspark.sql import functions as F

from spark_jobs.catalog.gold import INCIDENTS
from spark_jobs.catalog.quality import NIGHTS
from spark_jobs.catalog.rows import Night
from spark_jobs.edges import lake_files
from spark_jobs.edges.store import Store, at_once
from spark_jobs.report.fleet import DAYS, HARMS, OF_LATE, Fleet, fleet_page
from spark_jobs.report.html import render_html
from spark_jobs.report.metrics import metrics_text
from spark_jobs.report.places import FLEET_PAGE, METRICS
from spark_jobs.shared.conform import frame_of
from spark_jobs.transforms.windows import Window


def write_fleet(store: Store, night: Night, window: Window) -> None:
    """Puts the night into quality.nights, and writes `<LAKE>/report/fleet.html` and `metrics.prom` again."""
    store.create(NIGHTS)
    own = night.as_dict()
    row = frame_of(store.spark, [own], NIGHTS).coalesce(1)
    nights, incidents, _ = at_once(
        partial(_nights, store, window),
        partial(_incidents, store, window),
        partial(store.replace_window, NIGHTS, row, night.cluster, window),
    )
    known = [n for n in nights if n["cluster"] != night.cluster or not window.start <= n["window_from"] < window.end]
    rows = [*known, own]
    page = render_html(fleet_page(Fleet.of(rows, incidents, night.run_published_at)))
    text = metrics_text(map(Night.of, rows))
    at_once(
        partial(lake_files.write_text, store.spark, f"{store.lake}/report/{FLEET_PAGE}", page),
        partial(lake_files.write_text, store.spark, f"{store.lake}/report/{METRICS}", text),
    )


def _nights(store: Store, window: Window) -> list[dict[str, Any]]:
    since = window.end - timedelta(days=DAYS + 1)
    return list(store.read(NIGHTS).where(F.col("window_to") >= since).toArrow().to_pylist())


def _incidents(store: Store, window: Window) -> list[dict[str, Any]]:
    shown = store.read(INCIDENTS).where((F.col("started_at") >= window.end - OF_LATE) & F.col("harm").isin(*HARMS))
    return list(shown.select("cluster", "incident_id", "headline", "started_at").toArrow().to_pylist())
