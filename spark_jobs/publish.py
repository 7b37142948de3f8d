"""Validate, then publish: gold changes when every critical expectation holds, and not at all when one does not."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from types import ModuleType
from typing import Any

from pyspark.sql import DataFrame, SparkSession

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
from kafka_hindsight.lake.publication import list_newest, take_back
from kafka_hindsight.report.checks import validation_page
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.exits import PublicationRefused
from kafka_hindsight.shared.page_names import VALIDATION_PAGE
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.session import cut_off, for_few_rows
from kafka_hindsight.spark.tables.store import Store
from kafka_hindsight.spark.tables.table_content import Content, contents
from spark_jobs.reporting import write_report
from spark_jobs.withholding import Checked, withhold

Run = Mapping[str, Any]
Verdict = Mapping[str, Any]
Frames = Mapping[str, DataFrame]
Contents = Mapping[Table, Content]


def run_step(spark: SparkSession, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
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
        "files_not_read": said["files_not_read"],
        "warnings": said["warnings"],
        "inputs": said.get("inputs", ()),
        "log_path": os.environ.get(progress.LOG_VARIABLE, ""),
        "owners": settings.owners,
    }
    return publish_and_report(spark, settings.lake, run)


def publish_and_report(spark: SparkSession, lake: str, run: Run) -> dict[str, Any]:
    """Publishes what was staged and writes the window's report. Takes and gives: see publish and write_report."""
    store, window = Store(spark, lake), Window(run["window_from"], run["window_to"])
    with for_few_rows(spark), _open(store, run["cluster"], window) as (tables, views, validation):
        given = _contents(tables)
        empty = _without_rows(tables, given)
        checked = _check(store, run, tables, views, validation, empty)
        published = _publish(store, window, run, checked, given)
        counts = published["expectations"]
        progress.say(
            f"{counts['evaluated']} expectations evaluated, {counts['failed']} failed; "
            f"{counts['vacuous']} had no row to judge; {len(published['warnings'])} warnings"
        )
        told = {**run, "warnings": [*run.get("warnings", ()), *checked.sentences]}
        return {**published, **write_report(store, told)}


def publish(spark: SparkSession, lake: str, run: Run) -> dict[str, Any]:
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
    store, window = Store(spark, lake), Window(run["window_from"], run["window_to"])
    with for_few_rows(spark), _open(store, run["cluster"], window) as (tables, views, validation):
        given = _contents(tables)
        checked = _check(store, run, tables, views, validation, _without_rows(tables, given))
        return _publish(store, window, run, checked, given)


def _contents(tables: Frames) -> Contents:
    """What each staged table holds; nothing is known of them where one has other columns than it declares."""
    if any(set(tables[t.full_name].columns) != set(t.column_names) for t in GOLD):
        return {}
    return dict(zip(GOLD, contents(*((t, tables[t.full_name]) for t in GOLD)), strict=True))


def _without_rows(tables: Frames, given: Contents) -> frozenset[str]:
    """The names of the tables that have no row: none is looked for."""
    of_gold = (t.full_name for t, content in given.items() if not content.row_count)
    of_quality = (t.full_name for t in (COVERAGE, GENERATION_GAPS) if tables[t.full_name].isEmpty())
    return frozenset((*of_gold, *of_quality))


def _check(
    store: Store, run: Run, tables: Frames, views: Frames, validation: ModuleType, empty: Container[str]
) -> Checked:
    """What may be published: the tables, without the rows that break a law by themselves where the rest is sound."""
    of_window = {name: run[name] for name in ("cluster", "window_from", "window_to")}
    found = Checked(tables, validation.validate(store.spark, tables, views, of_window, empty))
    rest = withhold(found)
    if not rest.rows or rest.misleads:
        return found
    left = validation.validate(store.spark, rest.tables, views, of_window)
    return found if _sentences(left, "critical") else rest.published()


def _publish(store: Store, window: Window, run: Run, checked: Checked, given: Contents) -> dict[str, Any]:
    tables, verdicts = checked.tables, checked.verdicts
    page = _record(store, window, run, verdicts)
    if breaches := _sentences(verdicts, "critical"):
        raise PublicationRefused(*_refusal(store.lake, page, verdicts), *breaches)
    if checked.rows:
        rows = [{**_of_run(run), **row, "run_withheld_at": run["run_at"]} for row in checked.rows]
        frame = frame_of(store.spark, rows, WITHHELD_ROWS).coalesce(1)
        store.replace_rows_of_run(WITHHELD_ROWS, frame, run["cluster"], window, run["run_id"])
    take_back(store.lake, store.restore)
    given = _contents(tables) if checked.rows else given
    for wave in in_waves(GOLD):
        at_once(*(partial(store.renew_window, t, tables[t.full_name], run["cluster"], window, given[t]) for t in wave))
    published = _account(store, window, run, {t: content.row_count for t, content in given.items()})
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


@contextmanager
def _open(store: Store, cluster: str, window: Window) -> Iterator[tuple[Frames, Frames, ModuleType]]:
    """The frames of `_opened`, kept in memory while the block runs, and what validates them."""
    (tables, views), validation = at_once(partial(_opened, store, cluster, window), _great_expectations)
    try:
        yield tables, views, validation
    finally:
        for frame in (*tables.values(), *views.values()):
            frame.unpersist()


def _great_expectations() -> ModuleType:
    """What validates. Its import takes seconds, in which Spark can open tables."""
    from spark_jobs import validation

    return validation


def _opened(store: Store, cluster: str, window: Window) -> tuple[dict[str, DataFrame], dict[str, DataFrame]]:
    """What is checked, by full table name, and what else the laws look at, by the name they give it; each read once."""
    store.create(*GOLD, VALIDATION_RESULTS, WITHHELD_ROWS, PUBLICATIONS)

    is_little = store.is_little_staged()
    windows = {t.full_name: t for t in (COVERAGE, GENERATION_GAPS)} | {
        t.name: t for t in (PARTITION_SNAPSHOTS, LEADERSHIP_GAPS)
    }
    published = {f"published_{t.name}": t for t in (INCIDENTS, BROKER_OUTAGES)}
    readings = {
        **{t.full_name: partial(_kept, partial(store.read_staging, t), is_little) for t in GOLD},
        **{
            n: partial(_kept, partial(store.read_window, t, cluster, window), store.is_small(t))
            for n, t in windows.items()
        },
        **{n: partial(_kept, partial(store.read_cluster, t, cluster), store.is_small(t)) for n, t in published.items()},
    }
    frames = dict(zip(readings, at_once(*readings.values()), strict=True))
    return {n: f for n, f in frames.items() if "." in n}, {n: f for n, f in frames.items() if "." not in n}


def _kept(reading: Callable[[], DataFrame], is_little: bool) -> DataFrame:
    """A frame that is computed once; a small one in one partition: nothing that looks at it shuffles."""
    return cut_off(reading().coalesce(1)) if is_little else reading().persist()


def _record(store: Store, window: Window, run: Run, verdicts: Iterable[Verdict]) -> str:
    """Writes the results of the checks and the page that shows them; gives the page's place."""
    rows = [{**_of_run(run), **verdict, "run_checked_at": run["run_at"]} for verdict in verdicts]
    frame = frame_of(store.spark, rows, VALIDATION_RESULTS).coalesce(1)
    store.replace_rows_of_run(VALIDATION_RESULTS, frame, run["cluster"], window, run["run_id"])
    page = f"{store.lake}/report/{VALIDATION_PAGE}"
    landing.write_atomically(page, validation_page(rows, run))
    return page


def _account(store: Store, window: Window, run: Run, row_counts: Mapping[Table, int]) -> dict[str, dict[str, int]]:
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
    frame = frame_of(store.spark, rows, PUBLICATIONS).coalesce(1)
    store.replace_rows_of_run(PUBLICATIONS, frame, run["cluster"], window, run["run_id"])
    return {r["table"]: {"rows": r["row_count"], "version": r["version"]} for r in rows}


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
