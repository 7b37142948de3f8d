"""The run that made the report, its versions, and the expectations that did not hold."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.sections.coverage import broken_expectations
from kafka_hindsight.shared import plain, words


def making(page: PageRows) -> Iterator[ui.Block]:
    """The expectations that did not hold, and the facts of the run."""
    broken = sorted(broken_expectations(page), key=lambda r: (r.severity, r.table, r.expectation))
    if broken:
        items = []
        for row in broken:
            observed = f" Observed: {row.observed}" if row.observed else ""
            name = ui.Strong(f"{row.table}: {row.expectation}")
            sentences = f" ({row.severity}) {' '.join(row.sentences or ())}{observed}"
            items.append(ui.Item((name, sentences), "bad" if row.severity == "critical" else "warn"))
        yield ui.List(tuple(items), "statements")
    yield ui.Facts(_facts(page))


def _facts(page: PageRows) -> tuple[ui.Fact, ...]:
    run = page.run
    versions = {getattr(row, "knowledge_version", None) for rows in page.tables.values() for row in rows}
    return ui.facts(
        ("Run", run.run_id),
        ("Cluster", run.cluster),
        ("Lake", run.lake and plain.shortened(run.lake, 200)),
        ("Knowledge", words.listed(sorted(v for v in versions if v), at_most=4)),
        ("Started", words.instant(run.started_at)),
        *sorted((run.versions or {}).items()),
        ("Log", run.log_path and ui.Badge(run.log_path, "code")),
    )


SECTION = Section("coverage", 40, "making", "About this report", making)
