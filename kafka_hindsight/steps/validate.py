"""The step validate: what is staged and what was read is checked where it lies; a publication passes or is refused.

A process beside this one judges; see expectations/validation.py.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.quality import (
    COVERAGE,
    GENERATION_GAPS,
    LEADERSHIP_GAPS,
    OF_USER,
    VALIDATION_RESULTS,
    WITHHELD_ROWS,
)
from kafka_hindsight.catalog.rows import WithheldRow
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.claims import hold_publication
from kafka_hindsight.lake.staging import (
    Approval,
    Staged,
    StagingChanged,
    approve,
    read_numbered,
    read_staged,
    staging_of,
)
from kafka_hindsight.lake.store import Store
from kafka_hindsight.report.checks import validation_page
from kafka_hindsight.report.withheld import withheld_sentences
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import PublicationRefused
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.page_names import DATA_DOCS, VALIDATION_PAGE
from kafka_hindsight.shared.words import counted
from kafka_hindsight.steps.run_account import Run, keep_rows, of_run, run_of, window_of
from kafka_hindsight.steps.validator import Docs, Verdict, started


def run_step(workers: object, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Check what rebuild staged. Returns and raises: see `validate`."""
    return validate(Store(settings.lake), run_of(settings, earlier["ingest"]))


def validate(store: Store, run: Run) -> dict[str, Any]:
    """Check the staged tables, and let their publication through or refuse it.

    A row that breaks a critical expectation is left out and kept in quality.withheld_rows. Refused is what shakes the
    account as a whole: columns that are not those declared, lines that do not add up, links between rows or tables
    that are broken in many rows, and a law of the user's own. quality.validation_results and the page are written
    whatever the verdict.

    Args:
        store: The lake, with staged gold, coverage and generation gaps of the window.
        run: run_id, cluster, window_from, window_to and run_at, and `expectations` if a user's suites lie elsewhere
            than in the lake.

    Returns:
        `staged` (the version that may be published), `expectations` (how many were `evaluated`, `vacuous` and
        `failed`), `warnings` (sentences) and `validation_page`.

    Raises:
        PublicationRefused: Sentences that name rows.
        StagingChanged: The run has staged nothing.
    """
    staged = read_staged(store.lake, run["cluster"])
    if staged is None or staged.run_id != run["run_id"]:
        raise StagingChanged(f"Run {run['run_id']} has staged nothing in {store.lake}. Run the step rebuild again.")
    store.create(*GOLD, COVERAGE, GENERATION_GAPS, LEADERSHIP_GAPS, VALIDATION_RESULTS, WITHHELD_ROWS)
    checks, docs = started().validate(store.lake, staged, run["cluster"], window_of(run), run.get("expectations"))
    verdicts, withheld = withhold(checks)
    page = _record(store, run, verdicts, docs)
    if breaches := _sentences(verdicts, "critical"):
        folder = staging_of(store.lake, run["cluster"])
        raise PublicationRefused(*_refusal(folder, page, verdicts), *breaches)
    of_rows = _rows_of(store, run["cluster"], staged, withheld)
    rows = [{**of_run(run), **row, "run_withheld_at": run["run_at"]} for row in of_rows]
    if rows:
        keep_rows(store, WITHHELD_ROWS, rows, run)
    approval = Approval(staged.version, {name: [*broken] for name, broken in withheld.items()})
    approve(store.lake, run["cluster"], approval)
    warnings = [*withheld_sentences(map(WithheldRow.of, rows)), *_sentences(verdicts, "warning")]
    counts = {
        "evaluated": sum(not v["is_vacuous"] for v in verdicts),
        "vacuous": sum(v["is_vacuous"] for v in verdicts),
        "failed": sum(not v["success"] for v in verdicts),
    }
    progress.say(
        f"{counts['evaluated']} expectations evaluated, {counts['failed']} failed; "
        f"{counts['vacuous']} had no row to judge; {len(warnings)} warnings"
    )
    return {"staged": staged.version, "expectations": counts, "warnings": warnings, "validation_page": page}


def _record(store: Store, run: Run, verdicts: Sequence[Verdict], docs: Docs) -> str:
    """Write the results of the checks, their page and Data Docs, and return the page's place."""
    rows = [{**of_run(run), **verdict, "run_checked_at": run["run_at"]} for verdict in verdicts]
    keep_rows(store, VALIDATION_RESULTS, rows, run)
    page = f"{store.lake}/report/{VALIDATION_PAGE}"
    pages = sorted(f"{DATA_DOCS}/{path}" for path in docs if path.startswith("validations/"))
    text = validation_page(rows, run, pages)
    with hold_publication(store.lake, run["run_id"]):
        landing.remove(f"{store.lake}/report/{DATA_DOCS}")
        for path, content in docs.items():
            landing.write_atomically(f"{store.lake}/report/{DATA_DOCS}/{path}", content)
        landing.write_atomically(page, text)
    return page


def _sentences(verdicts: Iterable[Verdict], severity: str) -> list[str]:
    return [s for v in verdicts if v["severity"] == severity for s in v["sentences"] or ()]


def _refusal(folder: str, page: str, verdicts: Iterable[Verdict]) -> list[str]:
    broken = [v for v in verdicts if _is_broken(v)]
    breaches = f"{counted(len(broken), 'critical expectation')} failed"
    return [
        f"Nothing was published, and gold is as it was: {breaches}. "
        f"The refused rows are in {folder}; {page} lists all checks.",
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

Withheld = Mapping[str, Mapping[int, Sequence[Verdict]]]
"""By the full name of a table: the number of each staged row that is left out, and what it breaks."""


def _is_broken(verdict: Verdict) -> bool:
    return not verdict["success"] and verdict["severity"] == "critical"


def withhold(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], Withheld]:
    """Find the rows that break critical expectations: a breach that is gone with its rows is a warning.

    Returns:
        The verdicts, and the rows.
    """
    is_withheld = [_is_broken(v) and _is_of_rows(v) for v in verdicts]
    by_table = grouped((v for v, it_is in zip(verdicts, is_withheld) if it_is), lambda v: v["table"])
    withheld = dict[str, dict[int, list[Verdict]]]()
    for name, breaches in by_table.items():
        of_rows = [(number, breach) for breach in breaches for number in breach["row_numbers"]]
        by_row = grouped(sorted(of_rows, key=lambda pair: pair[0]), lambda pair: pair[0])
        withheld[name] = {number: [breach for _, breach in pairs] for number, pairs in by_row.items()}
    return [{**v, "severity": "warning"} if it_is else v for v, it_is in zip(verdicts, is_withheld)], withheld


def _is_of_rows(verdict: Verdict) -> bool:
    """Whether a breach is that of its rows alone, and not of the account: of a link it may only be that of few rows."""
    most = max(MOST_UNLINKED, MOST_UNLINKED_SHARE * verdict["row_count"])
    return bool(verdict["row_numbers"]) and not (verdict["is_link"] and len(verdict["row_numbers"]) > most)


def _rows_of(store: Store, cluster: str, staged: Staged, withheld: Withheld) -> list[dict[str, Any]]:
    """Rows of quality.withheld_rows without their run and their window."""
    return [
        row_withheld(row, name, broken[number])
        for name, broken in withheld.items()
        for number, row in read_numbered(store.lake, cluster, BY_NAME[name], staged, broken.keys())
    ]


def row_withheld(row: Mapping[str, Any], name: str, breaches: Sequence[Verdict]) -> dict[str, Any]:
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
