"""The page of the checks before a publication: what was checked and what did not hold. Rows in, one page out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka_hindsight.catalog.codes import CheckSeverity
from kafka_hindsight.catalog.rows import ValidationResult
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.page_rows import PageRun
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.plain import harmless
from kafka_hindsight.shared.words import counted, exact, instant, verb

HEADINGS = ("Expectation", "Expects that", "Severity", "Result")


def validation_page(results: Sequence[Mapping[str, Any]], run: Mapping[str, Any], pages: Sequence[str] = ()) -> str:
    """One self-contained HTML page: no script, nothing fetched, every name inert.

    Args:
        results: Rows of quality.validation_results of one run and window.
        run: Its run_id, cluster, window_from and window_to.
        pages: Great Expectations' own pages: data_docs/validations/LAYER/TABLE/... of each broken table.

    Returns:
        The page. It says that the window was refused when a critical expectation is broken.
    """
    rows = [ValidationResult.of(harmless(row)) for row in results]
    page_run = PageRun.of(harmless(run))
    broken = {s: [r for r in rows if not r.success and r.severity == s] for s in CheckSeverity}
    critical, warnings = (len(broken[s]) for s in CheckSeverity)
    window = f"{instant(page_run.window_from)} to {instant(page_run.window_to)} UTC"
    headline = "No critical expectation is broken" if warnings else "No expectation is broken"
    headline = "Refused: nothing of this window was published" if critical else headline
    links = ((" ", ui.PageLink(".".join(page.split("/")[2:4]), page)) for page in pages)
    docs: ui.Words = (" Great Expectations' own pages of tables that break any:", *links, ".") if pages else ""
    verdict = ui.Box("refusal" if critical else "verdict", (ui.Paragraph((_verdict(rows, critical, warnings), docs)),))
    statements = [
        (_tone(r), f"{r.severity}: {s}") for failures in broken.values() for r in failures for s in r.sentences or ()
    ]
    sections = (
        ui.ShownSection("verdict", "", (verdict,)),
        ui.ShownSection("broken", "Broken expectations", ui.statements(statements)),
        ui.ShownSection("checked", "All expectations", tuple(_tables(rows))),
    )
    return render_html(
        ui.Page(
            title=f"Validation of {page_run.cluster}",
            heading=page_run.cluster,
            subtitle=f"{window}, run {page_run.run_id}",
            day=None,
            views=(ui.View("checks", headline, tuple(section for section in sections if section.blocks)),),
        ),
        has_script=False,
    )


def _verdict(rows: Sequence[ValidationResult], critical: int, warnings: int) -> str:
    vacuous = sum(bool(r.is_vacuous) for r in rows)
    evaluated = len(rows) - vacuous
    summary = f"{counted(evaluated, 'expectation')} {verb(evaluated, 'was', 'were')} evaluated."
    if vacuous:
        summary += f" {counted(vacuous, 'further expectation')} had no row to judge."
    if critical:
        summary += (
            f" {counted(critical, 'critical one')} {verb(critical, 'is', 'are')} broken, so gold stays as it"
            " was. The rows that were refused are in staging, where they can be looked at."
        )
    if warnings:
        summary += f" {counted(warnings, 'warning')} {verb(warnings, 'was', 'were')} recorded."
    return summary


def _tables(rows: Sequence[ValidationResult]) -> Iterator[ui.Block]:
    for name, verdicts in grouped(rows, lambda r: r.table).items():
        wrong, vacuous = sum(not v.success for v in verdicts), sum(bool(v.is_vacuous) for v in verdicts)
        numbers = ((len(verdicts) - vacuous, "evaluated"), (vacuous, "without a row to judge"), (wrong, "broken"))
        count = ", ".join(f"{exact(number)} {label}" for number, label in numbers if number)
        table = ui.PlainTable(name, HEADINGS, tuple(_row(v) for v in verdicts))
        yield ui.Expandable((f"{name} ", ui.Quiet(count)), (table,))


def _row(verdict: ValidationResult) -> ui.TableRow:
    result: ui.Content = "no row to judge" if verdict.is_vacuous else "held"
    if not verdict.success:
        result = ui.Cell(verdict.observed or "did not hold", _tone(verdict))
    return ui.row(verdict.expectation, verdict.description, verdict.severity, result)


def _tone(verdict: ValidationResult) -> str:
    return "bad" if verdict.severity == CheckSeverity.CRITICAL else "warn"
