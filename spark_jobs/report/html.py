"""The report as one page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from spark_jobs.report import vocabulary, words
from spark_jobs.report.model import Rebalance
from spark_jobs.report.page import Item, Report

# What is shown opened, and how many rows a browser lays out at once.
INCIDENTS_OPEN = 3
INCIDENTS_TOLD = 200
ROWS_OPEN = 6
ROWS_PER_CHUNK = 100

# Where a mark lies in the height of its lane: its top and its height, in pixels.
STRIPS = {
    ("broker", "bar"): (5, 10),
    ("broker", "tail"): (9, 3),
    ("broker", "tick"): (20, 9),
    ("partition", "bar"): (7, 7),
    ("partition", "tick"): (16, 13),
    "other": (9, 16),
}


def render_html(report: Report) -> str:
    """The page: style, script and pictures inline, and a policy that lets a browser run and load nothing else.

    Keeps: every text of the report is escaped; addresses inside the page come from hashes; it asks no network.
    """
    style, script = _asset("page.css"), _asset("page.js") + _asset("timeline.js")
    day = report.masthead.day
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            at=lambda instant, precise=False: _time(instant, day, precise),
            chunks=_chunks(report.rebalances),
            families=vocabulary.FAMILIES,
            broker_families=vocabulary.BROKER_FAMILIES,
            tones={rebalance.tone for rebalance in report.rebalances},
            lane_tones={"Groups": _tones(report, "group"), "Brokers": _tones(report, "broker", "partition")},
            lane_titles={"partition": "Partitions without a leader, worst first", "group": "Groups, worst first"},
            strips=STRIPS,
            style=Markup(style),
            script=Markup(script),
            policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'",
            incidents_open=INCIDENTS_OPEN,
            incidents_told=INCIDENTS_TOLD,
            rows_open=ROWS_OPEN,
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("spark_jobs.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "duration": words.duration,
        "percent": words.percent,
        "listed": words.listed,
        "counted": words.counted,
        "sentence": words.sentence,
        "time_at_risk": lambda ms: "?" if ms is None else words.duration(ms) if ms else "",
        "packed": _packed,
        "epoch_ms": lambda instant: round(1_000 * instant.timestamp()),
        "exact": lambda value: "" if value is None else f"{value:,.0f}",
    }
    return environment


@cache
def _asset(name: str) -> str:
    return files("spark_jobs.report").joinpath("templates", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _time(instant: datetime | None, day: date | None, precise: bool) -> Markup:
    return Markup(f"<time>{words.instant(instant, day, precise)}</time>") if instant else Markup("")


def _tones(report: Report, *kinds: str) -> set[str]:
    return {mark.tone for lane in report.timeline.lanes if lane.kind in kinds for mark in lane.marks}


def _packed(items: Sequence[Item]) -> str:
    """Items as lines of fields: texts of a report hold neither tab nor line break."""
    return "\n".join(
        "\t".join((i.shape, str(i.start_ms), str(i.length_ms), i.tone, "01"[i.is_planned], i.anchor, i.short, i.says))
        for i in items
    )


def _chunks(rebalances: Sequence[Rebalance]) -> Iterator[Sequence[Rebalance]]:
    # A browser lays out a chunk only when it comes near the screen; one table of thousands it would lay out whole.
    for i in range(0, len(rebalances), ROWS_PER_CHUNK):
        yield rebalances[i : i + ROWS_PER_CHUNK]
