"""A night's row among those of all clusters, and what is made of them: the page of all clusters, and metrics."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from pyspark.sql import functions as F

from kafka_hindsight.catalog.code import Code
from kafka_hindsight.catalog.gold import INCIDENTS
from kafka_hindsight.catalog.quality import NIGHTS
from kafka_hindsight.catalog.rows import Night
from kafka_hindsight.lake import landing
from kafka_hindsight.report.fleet import DAYS, HARMS, OF_LATE, Fleet, fleet_page
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.metrics import metrics_text
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.page_names import FLEET_PAGE, METRICS
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.tables.store import Store


def write_fleet(store: Store, night: Night, window: Window) -> None:
    """Puts the night into quality.nights, and writes `<LAKE>/report/fleet.html` and `metrics.prom` again."""
    store.create(NIGHTS)
    own = plain_values(night)
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
        partial(landing.write_atomically, f"{store.lake}/report/{FLEET_PAGE}", page),
        partial(landing.write_atomically, f"{store.lake}/report/{METRICS}", text),
    )


def plain_values(night: Night) -> dict[str, Any]:
    """The row as a frame of few rows takes it: Spark's JVM knows no class of ours, so that a code is the text it is."""
    return {name: v.value if isinstance(v, Code) else v for name, v in night.as_dict().items()}


def _nights(store: Store, window: Window) -> list[dict[str, Any]]:
    since = window.end - timedelta(days=DAYS + 1)
    return list(store.read(NIGHTS).where(F.col("window_to") >= since).toArrow().to_pylist())


def _incidents(store: Store, window: Window) -> list[dict[str, Any]]:
    shown = store.read(INCIDENTS).where((F.col("started_at") >= window.end - OF_LATE) & F.col("harm").isin(*HARMS))
    return list(shown.select("cluster", "incident_id", "headline", "started_at").toArrow().to_pylist())
