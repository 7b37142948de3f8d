"""A night's row among those of all clusters, and what is made of them: the page of all clusters, and metrics."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from kafka_hindsight.catalog.quality import NIGHTS
from kafka_hindsight.catalog.rows import Night
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.store import Store
from kafka_hindsight.report.fleet import fleet_page
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.metrics import metrics_text
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.page_names import FLEET_PAGE, METRICS
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.fleet_rows import read_fleet


def write_fleet(store: Store, night: Night, window: Window) -> None:
    """Puts the night into quality.nights, and writes `<LAKE>/report/fleet.html` and `metrics.prom` again."""
    store.create(NIGHTS)
    row = pa.Table.from_pylist([night.as_dict()], arrow_schema(NIGHTS))
    store.replace_window(NIGHTS, row, night.cluster, window)
    fleet = read_fleet(store.lake, night.run_published_at)
    at_once(
        partial(landing.write_atomically, f"{store.lake}/report/{FLEET_PAGE}", render_html(fleet_page(fleet))),
        partial(landing.write_atomically, f"{store.lake}/report/{METRICS}", metrics_text(fleet.nights)),
    )
