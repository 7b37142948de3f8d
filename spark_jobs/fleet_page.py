"""A night's row among those of all clusters, and what is made of them: the page of all clusters, and metrics."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka_hindsight.catalog.code import Code
from kafka_hindsight.catalog.quality import NIGHTS
from kafka_hindsight.catalog.rows import Night
from kafka_hindsight.lake import landing
from kafka_hindsight.report.fleet import fleet_page
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.metrics import metrics_text
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.page_names import FLEET_PAGE, METRICS
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.tables.store import Store
from kafka_hindsight.sql.fleet_rows import read_fleet


def write_fleet(store: Store, night: Night, window: Window) -> None:
    """Puts the night into quality.nights, and writes `<LAKE>/report/fleet.html` and `metrics.prom` again."""
    store.create(NIGHTS)
    row = frame_of(store.spark, [plain_values(night)], NIGHTS).coalesce(1)
    store.replace_window(NIGHTS, row, night.cluster, window)
    fleet = read_fleet(store.lake, night.run_published_at)
    at_once(
        partial(landing.write_atomically, f"{store.lake}/report/{FLEET_PAGE}", render_html(fleet_page(fleet))),
        partial(landing.write_atomically, f"{store.lake}/report/{METRICS}", metrics_text(fleet.nights)),
    )


def plain_values(night: Night) -> dict[str, Any]:
    """The row as a frame of few rows takes it: Spark's JVM knows no class of ours, so that a code is the text it is."""
    return {name: v.value if isinstance(v, Code) else v for name, v in night.as_dict().items()}
