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
from kafka_hindsight.shared.page_names import FLEET_PAGE, METRICS, NEWEST
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.fleet_rows import read_fleet


def write_fleet(store: Store, night: Night, window: Window) -> bool:
    """Puts the night into quality.nights, and writes `<LAKE>/report/fleet.html` and `metrics.prom` again.

    Gives: whether the lake has several clusters. Then `index.html` is that page too.
    """
    store.create(NIGHTS)
    row = pa.Table.from_pylist([night.as_dict()], arrow_schema(NIGHTS))
    store.replace_window(NIGHTS, row, night.cluster, window)
    fleet = read_fleet(store.lake, night.run_published_at)
    page, has_several = render_html(fleet_page(fleet)), len(fleet.newest) > 1
    files = {FLEET_PAGE: page, METRICS: metrics_text(fleet.nights), **({NEWEST: page} if has_several else {})}
    at_once(*(partial(landing.write_atomically, f"{store.lake}/report/{name}", text) for name, text in files.items()))
    return has_several
