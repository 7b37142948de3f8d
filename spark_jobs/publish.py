"""Validate, then publish: gold changes when every critical expectation holds, and not at all when one does not."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from expectations.derive import LANDED
from expectations.own import own_suites, suite_text
from kafka_hindsight.catalog import BY_NAME
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
from kafka_hindsight.shared.words import counted
from spark_jobs.checked_tables import Tables, Verdict
from spark_jobs.reporting import write_report
from spark_jobs.validator import started

Run = Mapping[str, Any]


def run_step(spark: object, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
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


MOST_WITHHELD = 0.25
"""If a larger share of a table's rows breaks its laws, the rest would mislead. Our choice, as for breaks in
generations."""

_CUT_AT = 2000


@dataclass(frozen=True)
class Checked:
    """Tables with their verdicts.

    `docs` are the files of Data Docs. Of withheld rows, `rows` have columns of quality.withheld_rows, and `sentences`
    say what to do. `misleads` names the tables of which too little is left.
    """

    tables: Tables
    verdicts: Sequence[Verdict]
    docs: Mapping[str, bytes] = field(default_factory=dict)
    rows: tuple[Mapping[str, Any], ...] = ()
    sentences: tuple[str, ...] = ()
    misleads: tuple[str, ...] = ()

    def with_warnings(self) -> Checked:
        """The same, with broken critical laws as warnings: the rows that broke them are withheld."""
        return replace(self, verdicts=[{**v, "severity": "warning"} if _is_broken(v) else v for v in self.verdicts])


def _is_broken(verdict: Verdict) -> bool:
    return not verdict["success"] and verdict["severity"] == "critical"


def withhold(checked: Checked) -> Checked:
    """Withhold the rows that break critical laws, as far as laws name rows."""
    broken = [v for v in checked.verdicts if _is_broken(v) and v["row_numbers"]]
    for name in dict.fromkeys(v["table"] for v in broken):
        checked = _without(checked, name, [v for v in broken if v["table"] == name])
    return checked


def _without(checked: Checked, name: str, laws: Sequence[Verdict]) -> Checked:
    table = checked.tables[name]
    bad = sorted({number for law in laws for number in law["row_numbers"]})
    is_sound = pc.invert(pc.is_in(pa.array(range(len(table))), pa.array(bad)))
    sentence = (
        f"{counted(len(bad), 'row')} of {name} broke {counted(len(laws), 'law')} of its table, and went to"
        " quality.withheld_rows, not to gold. That is a defect of Hindsight. Send us these rows."
    )
    rows = [
        _row_of(row, name, [law for law in laws if number in law["row_numbers"]])
        for number, row in zip(bad, table.take(bad).to_pylist(), strict=True)
    ]
    return replace(
        checked,
        tables={**checked.tables, name: table.filter(is_sound)},
        rows=(*checked.rows, *rows),
        sentences=(*checked.sentences, sentence),
        misleads=(*checked.misleads, *([name] if len(bad) > MOST_WITHHELD * len(table) else [])),
    )


def _row_of(row: Mapping[str, Any], name: str, laws: Sequence[Verdict]) -> dict[str, Any]:
    """A row of quality.withheld_rows without its run and its window."""
    text = json.dumps(_plain(row), ensure_ascii=False, separators=(",", ":"))
    return {
        "table": name,
        "withheld_row_id": hashlib.sha256(text.encode()).hexdigest(),
        "happened_at": row[str(BY_NAME[name].time_column)],
        "row": text[:_CUT_AT],
        "sentences": [f"{law['expectation']}: {law['description']}" for law in laws],
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
