"""Validate, then publish: gold changes without the rows that break an expectation, or not at all.

It does not change where the account as a whole is in doubt.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.order import in_waves
from kafka_hindsight.catalog.quality import (
    COVERAGE,
    GENERATION_GAPS,
    OF_USER,
    PUBLICATIONS,
    VALIDATION_RESULTS,
    WITHHELD_ROWS,
)
from kafka_hindsight.catalog.rows import WithheldRow
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.publication import list_newest, take_back
from kafka_hindsight.lake.store import Store
from kafka_hindsight.report.checks import validation_page
from kafka_hindsight.report.withheld import withheld_sentences
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.exits import PublicationRefused
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.page_names import DATA_DOCS, VALIDATION_PAGE
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.steps.reporting import write_report
from kafka_hindsight.steps.validator import Docs, Verdict, started

Run = Mapping[str, Any]


def run_step(workers: object, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Publish what rebuild staged, and write the report.

    Returns:
        See `publish` and `write_report`.
    """
    ingested = earlier["ingest"]
    window = Window(datetime.fromisoformat(ingested["window_from"]), datetime.fromisoformat(ingested["window_to"]))
    return publish_and_report(Store(settings.lake), run_of(settings, ingested["cluster"], window, ingested))


_LISTS = ("files_not_read", "left_out", "cluster_ids", "warnings", "inputs")
"""What the summary of an ingest lists for the report."""


def run_of(settings: Settings, cluster: str, window: Window, ingested: Mapping[str, Any]) -> Run:
    """A run as the publication and the report need it. `ingested` is the summary of its ingest."""
    return {
        "run_id": settings.run_id,
        "run_at": settings.run_at,
        "started_at": settings.run_at,
        "cluster": cluster,
        "window_from": window.start,
        "window_to": window.end,
        **{name: ingested.get(name, []) for name in _LISTS},
        "is_partial": ingested.get("is_partial"),
        "log_path": os.environ.get(progress.LOG_VARIABLE, ""),
        "owners": settings.owners,
        "expectations": settings.expectations,
    }


def publish_and_report(store: Store, run: Run) -> dict[str, Any]:
    """Publish what was staged, and write the window's report; see `publish` and `write_report`."""
    checked = _check(store, run)
    published = _publish(store, run, checked)
    counts = published["expectations"]
    progress.say(
        f"{counts['evaluated']} expectations evaluated, {counts['failed']} failed; "
        f"{counts['vacuous']} had no row to judge; {len(published['warnings'])} warnings"
    )
    return {**published, **write_report(store, run)}


def publish(store: Store, run: Run) -> dict[str, Any]:
    """Check the staged tables and replace the window in gold with the rows that hold.

    Gold's tables are written in the waves of catalog.order, one commit for each that changes, then
    quality.publications, then the list of versions, by which all become visible together. Another run leaves the same
    gold, however this one ended. quality.validation_results and the page are written whatever the verdict.

    A row that breaks a critical expectation is left out and kept in quality.withheld_rows. Refused is what shakes the
    account as a whole: columns that are not those declared, lines that do not add up, links between rows or tables
    that are broken in many rows, and a law of the user's own.

    Args:
        store: The lake, with staged gold, coverage and generation gaps of the window.
        run: run_id, cluster, window_from, window_to and run_at, and `expectations` if a user's suites lie elsewhere
            than in the lake.

    Returns:
        `published` (rows and version of each gold table), `expectations` (how many were `evaluated`, `vacuous` and
        `failed`), `warnings` (sentences) and `validation_page`.

    Raises:
        PublicationRefused: Sentences that name rows. Gold is as it was.
    """
    return _publish(store, run, _check(store, run))


def _check(store: Store, run: Run) -> Checked:
    """Validate the staged tables, and take out the rows that break a critical expectation."""
    cluster, window = run["cluster"], _window(run)
    store.create(*GOLD, VALIDATION_RESULTS, WITHHELD_ROWS, PUBLICATIONS)
    verdicts, docs = started().validate(store.lake, cluster, window, run.get("expectations"))
    readings = {
        **{t.full_name: partial(store.read_staging, t) for t in GOLD},
        **{t.full_name: partial(store.read_window, t, cluster, window) for t in (COVERAGE, GENERATION_GAPS)},
    }
    tables = dict(zip(readings, at_once(*readings.values()), strict=True))
    return withhold(Checked(tables, verdicts, docs))


def _publish(store: Store, run: Run, checked: Checked) -> dict[str, Any]:
    tables, verdicts = checked.tables, checked.verdicts
    page = _record(store, run, checked)
    if breaches := _sentences(verdicts, "critical"):
        raise PublicationRefused(*_refusal(store.lake, page, verdicts), *breaches)
    withheld = [{**_of_run(run), **row, "run_withheld_at": run["run_at"]} for row in checked.rows]
    if withheld:
        _keep(store, WITHHELD_ROWS, withheld, run)
    take_back(store.lake, store.restore)
    for wave in in_waves(GOLD):
        at_once(*(partial(store.renew_window, t, tables[t.full_name], run["cluster"], _window(run)) for t in wave))
    published = _account(store, run, {t: len(tables[t.full_name]) for t in GOLD})
    list_newest(store.lake)
    return {
        "published": published,
        "expectations": {
            "evaluated": sum(not v["is_vacuous"] for v in verdicts),
            "vacuous": sum(v["is_vacuous"] for v in verdicts),
            "failed": sum(not v["success"] for v in verdicts),
        },
        "warnings": [*withheld_sentences(map(WithheldRow.of, withheld)), *_sentences(verdicts, "warning")],
        "validation_page": page,
    }


def _record(store: Store, run: Run, checked: Checked) -> str:
    """Write the results of the checks, their page and Data Docs, and return the page's place."""
    rows = [{**_of_run(run), **verdict, "run_checked_at": run["run_at"]} for verdict in checked.verdicts]
    _keep(store, VALIDATION_RESULTS, rows, run)
    page = f"{store.lake}/report/{VALIDATION_PAGE}"
    landing.remove(f"{store.lake}/report/{DATA_DOCS}")
    for path, content in checked.docs.items():
        landing.write_atomically(f"{store.lake}/report/{DATA_DOCS}/{path}", content)
    pages = sorted(f"{DATA_DOCS}/{path}" for path in checked.docs if path.startswith("validations/"))
    landing.write_atomically(page, validation_page(rows, run, pages))
    return page


def _account(store: Store, run: Run, row_counts: Mapping[Table, int]) -> dict[str, dict[str, int]]:
    """Write the version of each gold table that has the window now, and its row count."""
    rows = [
        _of_run(run)
        | {
            "table": t.full_name,
            "version": store.version(t),
            "row_count": row_counts[t],
            "run_published_at": run["run_at"],
        }
        for t in GOLD
    ]
    _keep(store, PUBLICATIONS, rows, run)
    return {r["table"]: {"rows": r["row_count"], "version": r["version"]} for r in rows}


def _keep(store: Store, table: Table, rows: list[dict[str, Any]], run: Run) -> None:
    """Put rows of the account of runs in the place of those that this run wrote before."""
    of_run = pa.Table.from_pylist(rows, arrow_schema(table))
    store.replace_rows_of_run(table, of_run, run["cluster"], _window(run), run["run_id"])


def _window(run: Run) -> Window:
    return Window(run["window_from"], run["window_to"])


def _of_run(run: Run) -> dict[str, Any]:
    return {name: run[name] for name in ("run_id", "cluster", "window_from", "window_to")}


def _sentences(verdicts: Iterable[Verdict], severity: str) -> list[str]:
    return [s for v in verdicts if v["severity"] == severity for s in v["sentences"] or ()]


def _refusal(lake: str, page: str, verdicts: Iterable[Verdict]) -> list[str]:
    broken = [v for v in verdicts if _is_broken(v)]
    breaches = (
        "1 critical expectation is broken" if len(broken) == 1 else f"{len(broken)} critical expectations are broken"
    )
    return [
        f"Nothing was published, and gold is as it was: {breaches}. "
        f"The refused rows are in {lake}/staging; {page} lists all checks.",
        *dict.fromkeys(_advice(v) for v in broken),
    ]


_ADVICE = {
    COVERAGE.full_name: "Audit into a new lake (--lake): each line is then counted again. Report it if it is the same.",
    GENERATION_GAPS.full_name: "Add the logs of each broker for all of the window, or audit a part of it (--from and"
    " --to) that the logs cover.",
}
"""What to do where a table of quality is refused."""


def _advice(verdict: Verdict) -> str:
    """The advice to a user about a refusal."""
    if verdict["expectation"].startswith(OF_USER):
        return "The expectation is your own: audit again with what it asks for, or change your suite."
    return _ADVICE.get(verdict["table"], "Audit a shorter window (--from and --to), and report the sentences below.")


MOST_UNLINKED = 5
MOST_UNLINKED_SHARE = 0.25
"""If a link is broken in more rows of a table, and in a larger share, gold shows another history than the night. Our
choice, as for breaks in generations."""

_CUT_AT = 2000


@dataclass(frozen=True)
class Checked:
    """Tables with their verdicts.

    `docs` are the files of Data Docs. `rows` are the withheld ones, with columns of quality.withheld_rows.
    """

    tables: Mapping[str, pa.Table]
    verdicts: Sequence[Verdict]
    docs: Docs = field(default_factory=dict)
    rows: Sequence[Mapping[str, Any]] = ()


def _is_broken(verdict: Verdict) -> bool:
    return not verdict["success"] and verdict["severity"] == "critical"


def withhold(checked: Checked) -> Checked:
    """Take out the rows that break critical expectations: a breach that is gone with its rows is a warning."""
    is_withheld = [_is_broken(v) and _is_of_rows(v, checked.tables[v["table"]]) for v in checked.verdicts]
    withheld = grouped((v for v, it_is in zip(checked.verdicts, is_withheld) if it_is), lambda v: v["table"])
    tables, rows = dict(checked.tables), list[Mapping[str, Any]]()
    for name, breaches in withheld.items():
        table = tables[name]
        bad = sorted({number for breach in breaches for number in breach["row_numbers"]})
        tables[name] = table.filter(pc.invert(pc.is_in(pa.array(range(len(table))), pa.array(bad))))
        rows += [
            _row_of(row, name, [breach for breach in breaches if number in breach["row_numbers"]])
            for number, row in zip(bad, table.take(bad).to_pylist(), strict=True)
        ]
    verdicts = [{**v, "severity": "warning"} if it_is else v for v, it_is in zip(checked.verdicts, is_withheld)]
    return replace(checked, tables=tables, verdicts=verdicts, rows=rows)


def _is_of_rows(verdict: Verdict, table: pa.Table) -> bool:
    """Whether a breach is that of its rows alone, and not of the account: of a link it may only be that of few rows."""
    most = max(MOST_UNLINKED, MOST_UNLINKED_SHARE * len(table))
    return bool(verdict["row_numbers"]) and not (verdict["is_link"] and len(verdict["row_numbers"]) > most)


def _row_of(row: Mapping[str, Any], name: str, breaches: Sequence[Verdict]) -> dict[str, Any]:
    """A row of quality.withheld_rows without its run and its window."""
    text = json.dumps(_plain(row), ensure_ascii=False, separators=(",", ":"))
    return {
        "table": name,
        "withheld_row_id": hashlib.sha256(text.encode()).hexdigest(),
        "happened_at": row[str(BY_NAME[name].time_column)],
        "row": text[:_CUT_AT],
        "sentences": [f"{breach['expectation']}: {breach['description']}" for breach in breaches],
    }


def _plain(value: Any) -> Any:
    """A value for JSON, without columns that are null."""
    match value:
        case dict():
            return {name: _plain(of_it) for name, of_it in value.items() if of_it is not None}
        case list():
            return [_plain(each) for each in value]
        case datetime():
            return f"{value.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
    return value
