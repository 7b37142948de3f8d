"""Names of the pages in a lake's folder `report`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import quote

from kafka_hindsight.catalog.ids import row_id

NEWEST = "index.html"
VALIDATION_PAGE = "validation.html"
DATA_DOCS = "data_docs"
FLEET_PAGE = "fleet.html"
METRICS = "metrics.prom"


def page_name(cluster: str, start: datetime, end: datetime) -> str:
    """The name of a window's page, safe for any file system: a cluster's name comes from outside."""
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    return f"{_plain(cluster)}-{start:%Y%m%dT%H%M%SZ}-{row_id(cluster, start, end)[:8]}.html"


def is_page_of(page: str, cluster: str) -> bool:
    """Whether a page is named after a window of this cluster."""
    return re.fullmatch(rf"{re.escape(_plain(cluster))}-\d{{8}}T\d{{6}}Z-[0-9a-f]{{8}}\.html", page) is not None


def page_address(template: str, cluster: str, page: str) -> str:
    """The address of a page, by a template with {cluster} and {page}."""
    return template.replace("{cluster}", quote(cluster, safe="")).replace("{page}", quote(page, safe=""))


def _plain(cluster: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", cluster)[:60].strip("-.") or "cluster"
