"""Validate, then publish: gold changes when every critical expectation holds, and not at all when one does not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, INCIDENTS
from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.model import Table
from kafka_hindsight.catalog.order import in_waves
from kafka_hindsight.catalog.quality import (
    COVERAGE,
    GENERATION_GAPS,
    LEADERSHIP_GAPS,
    PUBLICATIONS,
    VALIDATION_RESULTS,
    WITHHELD_ROWS,
)
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
from kafka_hindsight.shared.page_names import VALIDATION_PAGE
from kafka_hindsight.shared.windows import Window
from spark_jobs.reporting import write_report
from spark_jobs.validator import started
from spark_jobs.withholding import Checked, withhold

Run = Mapping[str, Any]
Verdict = Mapping[str, Any]
Tables = Mapping[str, pa.Table]


def run_step(spark: object, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Publishes what rebuild staged and writes the report.

    Takes: the summary of ingest. Gives: what publish gives, `report` and `terminal`.
    """
    said = earlier["ingest"]
    run = {
        "run_id": settings.run_id,
        "run_at": settings.run_at,
        "started_at": settings.run_at,
        "cluster": said["cluster"],
        "window_from": datetime.fromisoformat(said["window_from"]),
        "window_to": datetime.fromisoformat(said["window_to"]),
        **{name: said.get(name) for name in ("files_not_read", "left_out", "is_partial")},
        "warnings": said["warnings"],
        "inputs": said.get("inputs", ()),
        "log_path": os.environ.get(progress.LOG_VARIABLE, ""),
        "owners": settings.owners,
    }
    return publish_and_report(Store(settings.lake), run)


def publish_and_report(store: Store, run: Run) -> dict[str, Any]:
    """Publishes what was staged and writes the window's report. Takes and gives: see publish and write_report."""
    checked = _check(store, run)
    published = _publish(store, run, checked)
    counts = published["expectations"]
    progress.say(
        f"{counts['evaluated']} expectations evaluated, {counts['failed']} failed; "
        f"{counts['vacuous']} had no row to judge; {len(published['warnings'])} warnings"
    )
    told = {**run, "warnings": [*run.get("warnings", ()), *checked.sentences]}
    return {**published, **write_report(store, told)}


def publish(store: Store, run: Run) -> dict[str, Any]:
    """Checks what was staged and, when every critical expectation holds, replaces the window in gold with it.

    Takes: staged gold, and coverage and generation gaps of the window; `run` names run_id, cluster, window_from,
        window_to and run_at
    Gives: `published` (rows and version of each gold table), `expectations` (how many were `evaluated`,
        `vacuous` and `failed`), `warnings` (sentences) and `validation_page`
    Order: gold.TABLES in the waves of catalog.order, one commit for each that changes, then quality.publications in
        one, then the list of the versions that readers see: by it all of them become visible together
    Keeps: run again, after whatever end, it leaves the same gold; quality.validation_results and the page are
        written whatever the verdict
    Edge case: a row that breaks a law by itself is left out of gold and kept in quality.withheld_rows, where the rest
        of its table is large enough and breaks nothing
    Raises: PublicationRefused with sentences that name rows; then gold is as it was
    """
    return _publish(store, run, _check(store, run))


def _check(store: Store, run: Run) -> Checked:
    """What may be published: the tables, without the rows that break a law by themselves where the rest is sound."""
    validator = started()
    tables, views = _opened(store, run["cluster"], _window(run))
    of_window = {name: run[name] for name in ("cluster", "window_from", "window_to")}
    found = Checked(tables, validator.validate(tables, views, of_window))
    rest = withhold(found)
    if not rest.rows or rest.misleads:
        return found
    left = validator.validate(rest.tables, views, of_window)
    return found if _sentences(left, "critical") else rest.published()


def _publish(store: Store, run: Run, checked: Checked) -> dict[str, Any]:
    tables, verdicts = checked.tables, checked.verdicts
    page = _record(store, run, verdicts)
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


def _opened(store: Store, cluster: str, window: Window) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """What is checked, by full table name, and what else the laws look at, by the name they give it."""
    store.create(*GOLD, VALIDATION_RESULTS, WITHHELD_ROWS, PUBLICATIONS)
    of_window = part_of(PARTITION_SNAPSHOTS, cluster, window)
    readings = {
        **{t.full_name: partial(store.read_staging, t) for t in GOLD},
        **{t.full_name: partial(store.read_window, t, cluster, window) for t in (COVERAGE, GENERATION_GAPS)},
        LEADERSHIP_GAPS.name: partial(store.read_window, LEADERSHIP_GAPS, cluster, window),
        PARTITION_SNAPSHOTS.name: partial(
            store.read, PARTITION_SNAPSHOTS, of_window, ("snapshot_at", "preferred_leader")
        ),
        **{f"published_{t.name}": partial(store.read, t, Part(cluster), t.key) for t in (INCIDENTS, BROKER_OUTAGES)},
    }
    tables = dict(zip(readings, at_once(*readings.values()), strict=True))
    return {n: t for n, t in tables.items() if "." in n}, {n: t for n, t in tables.items() if "." not in n}


def _record(store: Store, run: Run, verdicts: Iterable[Verdict]) -> str:
    """Writes the results of the checks and the page that shows them; gives the page's place."""
    rows = [{**_of_run(run), **verdict, "run_checked_at": run["run_at"]} for verdict in verdicts]
    _keep(store, VALIDATION_RESULTS, rows, run)
    page = f"{store.lake}/report/{VALIDATION_PAGE}"
    landing.write_atomically(page, validation_page(rows, run))
    return page


def _account(store: Store, run: Run, row_counts: Mapping[Table, int]) -> dict[str, dict[str, int]]:
    """Writes which version of each gold table holds the window now, and with how many rows."""
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
    """Puts these rows of what every run did in the place of those that this run wrote before."""
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
    told = "1 critical expectation is broken" if broken == 1 else f"{broken} critical expectations are broken"
    return [
        f"Nothing was published, gold is as it was: {told}. "
        f"The refused rows lie in {lake}/staging; {page} lists everything that was checked."
    ]
