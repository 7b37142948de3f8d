"""The verbs that show results: reports, nights, all clusters, all logs, metrics, one row or subject as a story."""

from __future__ import annotations

import json
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer

from kafka_hindsight.cli.options import AsHtml, AsJson, ClustersOption, LakeOption, LakesOption
from kafka_hindsight.lake.publication import newest_versions, note
from kafka_hindsight.report.collection import Collection, collection_lines, collection_page
from kafka_hindsight.report.fleet import Fleet, fleet_lines, fleet_page, late_clusters
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.metrics import metrics_text
from kafka_hindsight.settings.clusters import clusters, lakes
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.shared.page_names import NEWEST

SUBJECT = (
    "a group; a topic; a partition, such as orders-17; 'broker 1'; a client id; worst: the most harmful incident of the"
    " newest night; latest: the incident that started last; the id of a row, its first six characters or more, or its"
    " address in the report"
)


def report(
    lake: LakeOption = str(LAKE),
    in_browser: Annotated[bool, typer.Option("--open", help="open it in the browser")] = False,
    lists: Annotated[bool, typer.Option("--list", help="list every night with its state, the newest first")] = False,
    as_json: AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="print the newest night as Markdown")] = False,
) -> int:
    """Print the path of the newest report, open it, or list the nights. Unfinished publications are reported on stderr.

    Raises:
        BadInput: There is no report.
    """
    if lists:
        return _nights(lake, as_json)
    if as_markdown:
        from kafka_hindsight.sql.lake import open_lake

        with open_lake(lake) as tables:
            print(tables.report().markdown(), end="")
        return DONE
    page = f"{lake.rstrip('/')}/report/{NEWEST}"
    if is_uri(lake) and in_browser:
        raise BadInput(f"{page} is a URI. Needed: a page on this machine. Copy it here and open the copy.")
    if not is_uri(lake) and not Path(page).exists():
        raise BadInput(
            f"There is no report at {page}. Needed: a finished audit of that lake. Run `hindsight audit` first."
        )
    if unfinished := note(lake, newest_versions(lake)):
        print(unfinished, file=sys.stderr)
    print(json.dumps({"report": page}) if as_json else page)
    if in_browser and not webbrowser.open(Path(page).absolute().as_uri()):
        raise BadInput("No browser could be started. Needed: one on this machine. Open the page above by hand.")
    return DONE


def _nights(lake: str, as_json: bool) -> int:
    from kafka_hindsight.sql import answers  # DuckDB is loaded only where it is used
    from kafka_hindsight.sql.fleet_rows import read_nights

    nights = [{**night, "page": f"{lake.rstrip('/')}/report/{night['page']}"} for night in read_nights(lake)]
    if as_json:
        print(json.dumps([answers.plain(night) for night in nights], indent=2))
    for n in nights if not as_json else ():
        print(f"{n['state']:4}  {n['window_from']:%Y-%m-%d %H:%M} to {n['window_to']:%Y-%m-%d %H:%M} UTC  {n['page']}")
        print(f"      {n['cluster']}: {n['headline'] or 'nothing to act on'}")
    return DONE


def fleet(
    lake: LakesOption = None,
    as_json: AsJson = False,
    html: AsHtml = False,
    link: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="the address of a report's page, with {cluster} and {page}"),
    ] = None,
    cluster: ClustersOption = None,
) -> int:
    """Print all clusters of a lake, or of all lakes of the settings, the worst first, and which were not audited."""
    from kafka_hindsight.sql import answers

    overview = _fleet_of([lake] if lake else lakes(), link)
    if cluster:
        overview = overview.among(cluster)
    if html:
        print(render_html(fleet_page(overview)))
    elif as_json:
        summary = {"clusters": [n.as_dict() for n in overview.newest], "not_audited": dict(late_clusters(overview))}
        print(json.dumps(answers.plain(summary), indent=2))
    else:
        print("\n".join(fleet_lines(overview)))
    return DONE


def _fleet_of(lakes: Sequence[str], link: str | None) -> Fleet:
    """The clusters of lakes. A lake that cannot be read is reported on stderr; its clusters count as not audited."""
    from kafka_hindsight.sql import fleet_rows

    at, declared = datetime.now(UTC), clusters()
    fleets = []
    for lake in lakes:
        names = [c.name for c in declared if c.name and c.lake == lake]
        place = lake if is_uri(lake) else Path(lake).absolute().as_uri()
        try:
            fleet = fleet_rows.read_fleet(lake, at, names)
        except BadInput as problem:
            if len(lakes) == 1:
                raise
            print(problem, file=sys.stderr)
            fleet = Fleet.of((), (), at, names)
        fleets.append(fleet.linked(link or f"{place}/report/{{page}}"))
    return Fleet.joined(fleets, at)


def collection(
    lake: LakesOption = None,
    as_json: AsJson = False,
    html: AsHtml = False,
    cluster: ClustersOption = None,
) -> int:
    """Print which logs are behind their cluster, in a lake or in all lakes of the settings, and what is not known."""
    from kafka_hindsight.sql import answers

    overview = _collection_of([lake] if lake else lakes())
    if cluster:
        overview = overview.among(cluster)
    if html:
        print(render_html(collection_page(overview)))
    elif as_json:
        summary = {
            "logs": [asdict(log) for log in overview.logs],
            "clusters_without_logs": overview.clusters_without_logs,
            "unread": dict(overview.unread or {}),
        }
        print(json.dumps(answers.plain(summary), indent=2))
    else:
        print("\n".join(collection_lines(overview)))
    return DONE


def _collection_of(lakes: Sequence[str]) -> Collection:
    """The logs of lakes. Of several lakes one that cannot be read is part of the answer."""
    from kafka_hindsight.intake.last_reads import with_last_reads
    from kafka_hindsight.sql.collection_rows import read_collection

    declared = clusters()
    rows: list[dict[str, Any]] = []
    unread: dict[str, str] = {}
    for lake in lakes:
        names = [c.name for c in declared if c.name and c.lake == lake]
        try:
            rows += with_last_reads(lake, read_collection(lake))
        except BadInput as problem:
            if len(lakes) == 1:
                raise
            unread |= dict.fromkeys(names, " ".join(problem.sentences))
    return Collection.of(rows, datetime.now(UTC), [c.name for c in declared if c.name and c.lake in lakes], unread)


def metrics(lake: LakeOption = str(LAKE)) -> int:
    """Print the newest night of each cluster as OpenMetrics."""
    from kafka_hindsight.sql import fleet_rows

    fleet, subjects = fleet_rows.read_metrics(lake, datetime.now(UTC))
    print(metrics_text(fleet.nights, subjects), end="")
    return DONE


def explain(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help=SUBJECT)],
    lake: LakeOption = str(LAKE),
    at: Annotated[
        str,
        typer.Option("--at", metavar="INSTANT", help="what was going on then, such as 01:43 or 2026-11-21T01:43 (UTC)"),
    ] = "",
    as_json: AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="print Markdown")] = False,
) -> int:
    """Print what happened to one subject. Raises: BadInput if the lake has no such subject."""
    from kafka_hindsight.sql import answers
    from kafka_hindsight.sql.lake import open_lake

    with open_lake(lake) as tables:
        explanation = tables.explain(subject, at)
    if as_json:
        print(json.dumps(answers.plain(explanation.data()), indent=2))
    else:
        print(explanation.markdown() if as_markdown else explanation.text(get_terminal_size((100, 24)).columns))
    return DONE
