"""The reports of every lake as pages inside Airflow: read-only, sandboxed, for users who may read the DAGs."""

from __future__ import annotations

import html
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from os.path import realpath
from typing import Annotated
from urllib.parse import quote

from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from airflow.exceptions import AirflowException
from airflow.plugins_manager import AirflowPlugin
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from hindsight_child import child, last_line
from hindsight_hook import clusters

from kafka_hindsight.lake import landing
from kafka_hindsight.lake.publication import newest_versions, note
from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.page_names import DATA_DOCS, FLEET_PAGE, METRICS, NEWEST, VALIDATION_PAGE, is_page_of

PREFIX = "/hindsight"
_DAG = "kafka_night_audit"
_OF_ALL_CLUSTERS = (DATA_DOCS, FLEET_PAGE, METRICS, VALIDATION_PAGE)
"""Files and folders of a lake that may name each of its clusters."""
_DOCTYPE = "<!doctype html>"
_BODY = re.compile(rb"<body[^>]*>")
_PAGE = re.compile(rf"({DATA_DOCS}/([\w-][\w.-]*/)*)?[A-Za-z0-9][\w.-]{{0,149}}\.html", re.ASCII)

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
_LIST_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""The headers of pages that lead to others. In a sandbox their links would reach Airflow without a cookie."""

HEADERS = _LIST_HEADERS | {"Content-Security-Policy": f"{_POLICY}; sandbox allow-scripts"}
"""Each page brings a narrower policy of its own. The sandbox keeps a page away from the reader's session."""

app = FastAPI(dependencies=[Depends(requires_access_dag("GET"))], openapi_url=None)

MayRead = Callable[[str | None], bool]


class PageMissing(Exception):
    """There is no such page, or the reader may not see it; the text says why."""


def readers(request: Request, user: GetUserDep) -> MayRead:
    """The check whether the user may read a cluster's reports: those who may read the cluster's DAG may."""

    def may_read(cluster: str | None) -> bool:
        try:
            requires_access_dag("GET", param_dag_id=f"{_DAG}_{cluster}" if cluster else _DAG)(request, user)
        except HTTPException:
            return False
        return True

    return may_read


Readers = Annotated[MayRead, Depends(readers)]


@app.exception_handler(AirflowException)
@app.exception_handler(PageMissing)
def page_missing(_: Request, problem: Exception) -> Response:
    """The reason as a page: people read it inside a frame."""
    return HTMLResponse(_page(f"<p>{html.escape(str(problem))}</p>"), status_code=404, headers=HEADERS)


@app.get("/")
def reports(may_read: Readers) -> Response:
    """The report of the only cluster, or a list of the clusters that the reader may see."""
    readable = [c for c in clusters() if may_read(c.name)]
    if len(clusters()) == 1 and readable:
        return RedirectResponse(f"{quote(_link_name(readable[0]))}/{NEWEST}", headers=_LIST_HEADERS)
    rows = "".join(
        f'<li><a href="{quote(_link_name(c))}/{NEWEST}">{html.escape(_link_name(c))}</a></li>' for c in readable
    )
    every = f'<p><a href="all">All {len(readable)} clusters, the worst first</a></p>' if len(readable) > 1 else ""
    logs = '<p><a href="collection">Collection: the last line of each log</a></p>' if readable else ""
    return HTMLResponse(_page(f"<h1>Clusters</h1>{every}<ul>{rows}</ul>{logs}"), headers=_LIST_HEADERS)


@app.get("/all")
def fleet(may_read: Readers) -> Response:
    """The clusters of all lakes that the reader may see, the worst first."""
    names = [c.name for c in clusters() if c.name and may_read(c.name)]
    if not names:
        raise PageMissing(
            "There is no cluster to show. Needed: clusters in hindsight.toml, and the right to their DAGs."
        )
    return _made_page(
        child("fleet", "--html", "--link", "{cluster}/{page}", *(f"--cluster={cluster}" for cluster in names)),
        _LIST_HEADERS,
    )


@app.get("/collection")
def collection(may_read: Readers) -> Response:
    """Each log of all lakes by its last line, of the clusters that the reader may see."""
    configured = clusters()
    readable = [c for c in configured if may_read(c.name)]
    if not readable:
        raise PageMissing("There is no cluster to show. Needed: the right to the DAG of one.")
    # A cluster without a name is the only one, and its lake is not one that hindsight.toml names.
    options = ("--lake", readable[0].lake) if not readable[0].name else [f"--cluster={c.name}" for c in readable]
    return _made_page(child("collection", "--html", *options), HEADERS)


@app.get("/{cluster}/metrics")
def metrics(cluster: str, may_read: Readers) -> Response:
    """The metrics of a lake for scraping, for readers who may see all of its clusters."""
    figures = _page_bytes(_readable_cluster(cluster, may_read), METRICS, may_read)
    return Response(figures, media_type="application/openmetrics-text; version=1.0.0; charset=utf-8")


@app.get("/{cluster}/{page:path}")
def report(cluster: str, page: str, may_read: Readers) -> Response:
    """One page of a cluster or of its lake, by its name. Only Great Expectations' pages lie in folders."""
    readable = _readable_cluster(cluster, may_read)
    if not _PAGE.fullmatch(page):
        raise PageMissing("There is no such page.")
    return HTMLResponse(_with_note(_page_bytes(readable, page, may_read), readable.lake), headers=HEADERS)


def _made_page(process: subprocess.Popen[str], headers: Mapping[str, str]) -> Response:
    """The page that a process prints, after what it says of lakes that cannot be read."""
    notes, doctype, page = process.communicate()[0].partition(_DOCTYPE)
    if not doctype:
        raise PageMissing(f"The page cannot be made: {last_line(notes)}")
    return HTMLResponse(doctype + page, headers=headers)


def _readable_cluster(name: str, may_read: MayRead) -> Cluster:
    """The cluster of that name, if the reader may see it. Where only one cluster is set up, any name is its name."""
    configured = clusters()
    match = configured[0] if len(configured) == 1 else next((c for c in configured if c.name == name), None)
    if match is None or not may_read(match.name):
        raise PageMissing("There is no such page.")
    return match


def _page_bytes(cluster: Cluster, page: str, may_read: MayRead) -> bytes:
    """Read a page. In a lake of several clusters each has its own; a page of all needs the right to all."""
    folder, others = f"{cluster.lake.rstrip('/')}/report", [c for c in clusters() if c.lake == cluster.lake]
    try:
        if len(others) > 1 and page == NEWEST:
            names = landing.names_in(folder)
            page = max((name for name in names if is_page_of(name, _link_name(cluster))), default=NEWEST)
        place = f"{folder}/{page}"
        if _is_allowed(cluster, page, others, may_read) and realpath(place) == f"{realpath(folder)}/{page}":
            return landing.read_bytes(place)
    except FileNotFoundError:
        pass
    except (OSError, BadInput) as problem:
        raise PageMissing(f"The page cannot be read: {masked(str(problem))}") from None
    raise PageMissing("There is no such page yet. Needed: a night that was audited.")


def _is_allowed(cluster: Cluster, page: str, others: Sequence[Cluster], may_read: MayRead) -> bool:
    if page.partition("/")[0] in _OF_ALL_CLUSTERS:
        return all(may_read(c.name) for c in others)
    return len(others) == 1 or is_page_of(page, _link_name(cluster))


def _with_note(page: bytes, lake: str) -> bytes:
    """A page below a note about an unfinished publication. The page itself was written after a complete one."""
    unfinished = note(lake, newest_versions(lake))
    above = f"<p role=status style='margin:1rem'>{html.escape(unfinished)}</p>" if unfinished else ""
    body = _BODY.search(page)
    begins = body.end() if body else 0
    return page[:begins] + above.encode() + page[begins:]


def _link_name(cluster: Cluster) -> str:
    return cluster.name or "night"


def _page(body: str) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Kafka Hindsight</title>'
        '<meta name="color-scheme" content="light dark"><style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem}'
        f"</style>{body}</html>"
    )


class HindsightReport(AirflowPlugin):
    """The plugin: the pages, and their place in the navigation."""

    name = "hindsight_report"
    fastapi_apps = [{"app": app, "url_prefix": PREFIX, "name": "Kafka Hindsight"}]  # noqa: RUF012 - as Airflow reads it
    external_views = [  # noqa: RUF012
        {
            "name": "Kafka Hindsight",
            "href": f"{PREFIX}/",
            "destination": "nav",
            "category": "browse",
            "url_route": "hindsight_report",
        },
        {
            "name": "Kafka Hindsight: collection",
            "href": f"{PREFIX}/collection",
            "destination": "nav",
            "category": "browse",
            "url_route": "hindsight_collection",
        },
    ]
