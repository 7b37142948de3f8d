"""The reports of every lake as a page inside Airflow: read-only, for whoever may see DAGs, inert."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import quote

from airflow.api_fastapi.core_api.security import requires_access_dag
from airflow.plugins_manager import AirflowPlugin
from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from spark_jobs.edges.lake_state import notes_on
from spark_jobs.edges.publication import newest_versions
from spark_jobs.shared.clusters import clusters
from spark_jobs.shared.config import is_uri, masked

PREFIX = "/hindsight"
NEWEST = "index.html"
_PAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}\.html")

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
_OURS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""The list is ours: out of a sandbox its links would reach Airflow without the cookie of who reads it."""

HEADERS = _OURS | {"Content-Security-Policy": f"{_POLICY}; sandbox allow-scripts"}
"""Each page brings a narrower policy of its own. The sandbox keeps a page away from the session of who reads it."""

app = FastAPI(dependencies=[Depends(requires_access_dag("GET"))], openapi_url=None)


class NotThere(Exception):
    """There is no such page; the text says why."""


@app.exception_handler(NotThere)
def not_there(_: Request, why: NotThere) -> Response:
    """The reason, for people: it is read inside a frame."""
    return HTMLResponse(_page(f"<p>{html.escape(str(why))}</p>"), status_code=404, headers=HEADERS)


@app.get("/")
def reports() -> Response:
    """The one report there is; the list of clusters where there are several."""
    names = list(_lakes())
    if len(names) == 1:
        return RedirectResponse(f"{quote(names[0])}/{NEWEST}", headers=_OURS)
    rows = "".join(f'<li><a href="{quote(name)}/{NEWEST}">{html.escape(name)}</a></li>' for name in names)
    return HTMLResponse(_page(f"<h1>Clusters</h1><ul>{rows}</ul>"), headers=_OURS)


@app.get("/{cluster}/{page}")
def report(cluster: str, page: str) -> Response:
    """One page of a cluster's lake, by its name and by no path."""
    lakes = _lakes()
    lake = next(iter(lakes.values())) if len(lakes) == 1 else lakes.get(cluster)
    if lake is None or not _PAGE.fullmatch(page):
        raise NotThere("There is no such page.")
    if is_uri(lake):
        raise NotThere(
            f"The lake {masked(lake)} is behind a URI, and Airflow serves local lakes alone: open its report there."
        )
    place = Path(lake) / "report" / page
    if place.is_symlink() or not place.is_file():
        raise NotThere("There is no such page yet. Needed: a night that was audited.")
    return HTMLResponse(_noted(place.read_bytes(), lake), headers=HEADERS)


def _noted(page: bytes, lake: str) -> bytes:
    """A page, with what is not whole in its lake above it. The page itself was written after a whole publication."""
    notes = "".join(
        f"<p role=status style='margin:1rem'>{html.escape(note)}</p>" for note in notes_on(lake, newest_versions(lake))
    )
    head, body, rest = page.partition(b"<body>")
    return head + body + notes.encode() + rest if body else notes.encode() + page


def _page(body: str) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Kafka Hindsight</title>'
        '<meta name="color-scheme" content="light dark"><style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem}'
        f"</style>{body}</html>"
    )


def _lakes() -> dict[str, str]:
    return {c.name or "night": c.lake for c in clusters()}


class HindsightReport(AirflowPlugin):
    """The page, and its place in the navigation."""

    name = "hindsight_report"
    fastapi_apps = [{"app": app, "url_prefix": PREFIX, "name": "Kafka Hindsight"}]  # noqa: RUF012 - as Airflow reads it
    external_views = [  # noqa: RUF012
        {
            "name": "Kafka Hindsight",
            "href": f"{PREFIX}/",
            "destination": "nav",
            "category": "browse",
            "url_route": "hindsight_report",
        }
    ]
