"""Validate, then publish: gold changes when every critical expectation holds, and not at all when one does not."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import pyarrow as pa

from expectations.derive import LANDED
from expectations.own import own_suites, suite_text
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, INCIDENTS
from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.order import in_waves
from kafka_hindsight.catalog.quality import (
    COVERAGE,
    GENERATION_GAPS,
    LEADERSHIP_GAPS,
    PUBLICATIONS,
    VALIDATION_RESULTS,
    WITHHELD_ROWS,
)
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.publication import list_newest, take_back
from kafka_hindsight.lake.store import Store, part_of
from kafka_hindsight.report.checks import validation_page
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.exits import PublicationRefused
from kafka_hindsight.shared.page_names import DATA_DOCS, VALIDATION_PAGE
from kafka_hindsight.shared.windows import Window
from spark_jobs.reporting import write_report
from spark_jobs.validator import started
from spark_jobs.withholding import Checked, withhold

Run = Mapping[str, Any]
Verdict = Mapping[str, Any]
Tables = Mapping[str, pa.Table]


def run_step(spark: object, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Publish what rebuild staged, and write the report.

    Returns:
        See `publish` and `write_report`.
    """
    ingested = earlier["ingest"]
    run = {
        "run_id": settings.run_id,
        "run_at": settings.run_at,
        "started_at": settings.run_at,
        "cluster": ingested["cluster"],
        "window_from": datetime.fromisoformat(ingested["window_from"]),
        "window_to": datetime.fromisoformat(ingested["window_to"]),
        **{name: ingested.get(name) for name in ("files_not_read", "left_out", "is_partial")},
        "warnings": ingested["warnings"],
        "inputs": ingested.get("inputs", ()),
        "log_path": os.environ.get(progress.LOG_VARIABLE, ""),
        "owners": settings.owners,
        "expectations": settings.expectations,
    }
    return publish_and_report(Store(settings.lake), run)


def publish_and_report(store: Store, run: Run) -> dict[str, Any]:
    """Publish what was staged, and write the window's report; see `publish` and `write_report`."""
    checked = _check(store, run)
    published = _publish(store, run, checked)
    counts = published["expectations"]
    progress.say(
        f"{counts['evaluated']} expectations evaluated, {counts['failed']} failed; "
        f"{counts['vacuous']} had no row to judge; {len(published['warnings'])} warnings"
    )
    run_with_warnings = {**run, "warnings": [*run.get("warnings", ()), *checked.sentences]}
    return {**published, **write_report(store, run_with_warnings)}


def publish(store: Store, run: Run) -> dict[str, Any]:
    """Check the staged tables and, if every critical expectation holds, replace the window in gold with them.

    Gold's tables are written in the waves of catalog.order, one commit for each that changes, then
    quality.publications, then the list of versions, by which all become visible together. Another run leaves the same
    gold, however this one ended. quality.validation_results and the page are written whatever the verdict.

    A row that breaks a law by itself is left out of gold and kept in quality.withheld_rows, if the rest of its table is
    large enough and breaks nothing.

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
    """Validate the staged tables, without the rows that break a law by themselves if the rest is sound."""
    own = own_suites(run.get("expectations"), store.lake)
    validate = partial(started().validate, own=own)
    tables, views = _tables(store, run["cluster"], _window(run), json.dumps(own))
    of_window = {name: run[name] for name in ("cluster", "window_from", "window_to")}
    verdicts, docs = validate(tables, views, of_window)
    checked = Checked(tables, verdicts, docs)
    remaining = withhold(checked)
    if not remaining.rows or remaining.misleads:
        return checked
    verdicts, _ = validate(remaining.tables, views, of_window)
    return checked if _sentences(verdicts, "critical") else remaining.with_warnings()


def _publish(store: Store, run: Run, checked: Checked) -> dict[str, Any]:
    tables, verdicts = checked.tables, checked.verdicts
    page = _record(store, run, checked)
    if breaches := _sentences(verdicts, "critical"):
        raise PublicationRefused(*_refusal(store.lake, page, verdicts), *breaches)
    if checked.rows:
        rows = [{**_of_run(run), **row, "run_withheld_at": run["run_at"]} for row in checked.rows]
        _keep(store, WITHHELD_ROWS, rows, run)
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
        "warnings": [*checked.sentences, *_sentences(verdicts, "warning")],
        "validation_page": page,
    }


def _tables(
    store: Store, cluster: str, window: Window, own: str = ""
) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """The tables to check, by full name, and other tables that laws read, by the name they use."""
    store.create(*GOLD, VALIDATION_RESULTS, WITHHELD_ROWS, PUBLICATIONS)
    readings = {
        **{t.full_name: partial(store.read_staging, t) for t in GOLD},
        **{t.full_name: partial(store.read_window, t, cluster, window) for t in (COVERAGE, GENERATION_GAPS)},
        LEADERSHIP_GAPS.name: partial(store.read_window, LEADERSHIP_GAPS, cluster, window),
        **{t.full_name: partial(_landed, store, t, part_of(t, cluster, window), own) for t in LANDED},
        **{f"published_{t.name}": partial(store.read, t, Part(cluster), t.key) for t in (INCIDENTS, BROKER_OUTAGES)},
    }
    tables = dict(zip(readings, at_once(*readings.values()), strict=True))
    return {n: t for n, t in tables.items() if "." in n}, {n: t for n, t in tables.items() if "." not in n}


def _landed(store: Store, table: Table, part: Part, own: str) -> pa.Table:
    """Rows of bronze or silver, with the columns that its suite, a user's suites or a law names."""
    if not store.has(table):
        return arrow_schema(table).empty_table()
    words = {*re.findall(r"\w+", own + suite_text(table.full_name)), "preferred_leader"}
    return store.read(table, part, [name for name in table.column_names if name in words])


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
    broken = sum(not v["success"] for v in verdicts if v["severity"] == "critical")
    breaches = "1 critical expectation is broken" if broken == 1 else f"{broken} critical expectations are broken"
    return [
        f"Nothing was published, and gold is as it was: {breaches}. "
        f"The refused rows are in {lake}/staging; {page} lists all checks."
    ]
