"""The verbs that look at a lake: the newest report, the nights, one row or one subject as a story."""

from __future__ import annotations

import argparse
import json
import os
import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from shutil import get_terminal_size

from kafka_hindsight.catalog.steps import Step
from kafka_hindsight.lake.landing import read_text
from kafka_hindsight.lake.publication import newest_versions, note
from kafka_hindsight.report.fleet import Fleet, fleet_lines, fleet_page, late_clusters
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.metrics import metrics_text
from kafka_hindsight.settings.clusters import clusters, lakes
from kafka_hindsight.settings.config import Settings, is_uri
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.shared.page_names import NEWEST, page_name

SUBJECT = (
    "the id of a row, its first six characters or more, or its address in the report; a group; a partition; worst:"
    " the most harmful incident of the newest night; latest: the incident that started last"
)


def lake_of(given: argparse.Namespace) -> str:
    """The lake that is asked: the option, LAKE, else the one in the folder where we work."""
    return given.lake or os.environ.get("LAKE", "").strip() or str(LAKE)


def report(given: argparse.Namespace) -> int:
    """Prints where the newest report lies, opens it, or lists the nights. Says on stderr what is not whole in the lake.

    Raises: BadInput where there is none.
    """
    lake = lake_of(given)
    if given.list:
        return _nights(lake, given.json)
    page = f"{lake.rstrip('/')}/report/{NEWEST}"
    if is_uri(lake) and given.opened:
        raise BadInput(f"{page} is behind a URI. Needed: a page on this machine. Copy it here and open the copy.")
    if not is_uri(lake) and not Path(page).exists():
        raise BadInput(
            f"There is no report at {page}. Needed: a finished audit of that lake. Run `hindsight audit` first."
        )
    if unfinished := note(lake, newest_versions(lake)):
        print(unfinished, file=sys.stderr)
    print(json.dumps({"report": page}) if given.json else page)
    if given.opened and not webbrowser.open(Path(page).absolute().as_uri()):
        raise BadInput("No browser could be started. Needed: one on this machine. Open the page that is named above.")
    return DONE


def _nights(lake: str, as_json: bool) -> int:
    from kafka_hindsight.sql import answers  # DuckDB is loaded only where it is used
    from kafka_hindsight.sql.lake import open_lake

    with open_lake(lake) as tables:
        nights = tables.nights
    pages = {n: f"{lake.rstrip('/')}/report/{page_name(n.cluster, n.window.start, n.window.end)}" for n in nights}
    if as_json:
        rows = [
            {
                "cluster": n.cluster,
                "window_from": n.window.start,
                "window_to": n.window.end,
                "published_at": n.published_at,
                "page": page,
            }
            for n, page in pages.items()
        ]
        print(json.dumps([answers.plain(row) for row in rows], indent=2))
        return DONE
    for n, page in pages.items():
        print(f"{n.window.start:%Y-%m-%d %H:%M} to {n.window.end:%Y-%m-%d %H:%M} UTC  {page}")
    return DONE


def fleet(given: argparse.Namespace) -> int:
    """Prints all clusters of a lake, or of all lakes of the settings, the worst first, and which were not audited."""
    from kafka_hindsight.sql import answers

    named = given.lake or os.environ.get("LAKE", "").strip()
    found = _fleet_of([named] if named else lakes(), given.link)
    if given.clusters:
        found = found.among(given.clusters)
    if given.html:
        print(render_html(fleet_page(found)))
    elif given.json:
        said = {"clusters": [n.as_dict() for n in found.newest], "not_audited": dict(late_clusters(found))}
        print(json.dumps(answers.plain(said), indent=2))
    else:
        print("\n".join(fleet_lines(found)))
    return DONE


def _fleet_of(lakes: Sequence[str], link: str | None) -> Fleet:
    """The clusters of lakes. A lake that cannot be read is named on stderr, and its clusters count as not audited."""
    from kafka_hindsight.sql import fleet_rows

    at, known = datetime.now(UTC), clusters()
    fleets = []
    for lake in lakes:
        expected = [c.name for c in known if c.name and c.lake == lake]
        place = lake if is_uri(lake) else Path(lake).absolute().as_uri()
        try:
            fleet = fleet_rows.read_fleet(lake, at, expected)
        except BadInput as problem:
            if len(lakes) == 1:
                raise
            print(problem, file=sys.stderr)
            fleet = Fleet.of((), (), at, expected)
        fleets.append(fleet.linked(link or f"{place}/report/{{page}}"))
    return Fleet.joined(fleets, at)


def metrics(given: argparse.Namespace) -> int:
    """Prints the newest night of each cluster as OpenMetrics."""
    from kafka_hindsight.sql import fleet_rows

    print(metrics_text(fleet_rows.read_nights(lake_of(given))), end="")
    return DONE


def explain(given: argparse.Namespace) -> int:
    """Prints one row, group or partition as a story. Raises: BadInput where nothing of the lake is meant."""
    from kafka_hindsight.sql import answers
    from kafka_hindsight.sql.lake import open_lake

    with open_lake(lake_of(given)) as lake:
        explanation = lake.explain(given.subject)
    if given.json:
        print(json.dumps(answers.plain(explanation.data()), indent=2))
    else:
        print(explanation.text(get_terminal_size((100, 24)).columns))
    return DONE


def summed_up(given: argparse.Namespace, settings: Settings, step: Step, act: Callable[[], int]) -> int:
    """Acts. Where JSON is asked for, stdout has the summary that the step left in the lake, and nothing else."""
    if not given.json:
        return act()
    with redirect_stdout(sys.stderr):
        code = act()
    said = json.loads(read_text(f"{settings.lake}/runs/{settings.run_id}/{step.name}.json")) if code == DONE else {}
    print(json.dumps({"exit_code": code, "run_id": settings.run_id, **said}, indent=2))
    return code
