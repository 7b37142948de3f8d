"""How the pages of a lake are called, in its folder `report`."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from spark_jobs.catalog.ids import row_id

NEWEST = "index.html"
VALIDATION_PAGE = "validation.html"
FLEET_PAGE = "fleet.html"
METRICS = "metrics.prom"


def page_name(cluster: str, start: datetime, end: datetime) -> str:
    """The page of a window, by a name that any file system takes: a cluster's name is written by strangers."""
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", cluster)[:60].strip("-.") or "cluster"
    return f"{plain}-{start:%Y%m%dT%H%M%SZ}-{row_id(cluster, start, end)[:8]}.html"
