"""Every incident of the window."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, vocabulary
from kafka_hindsight.report.answer import incident_lines
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.sections.incidents import incidents_by_need
from kafka_hindsight.shared import words


def all_incidents(page: PageRows) -> Iterator[ui.Block]:
    """Every incident, those that ask for nothing last."""
    urgent, calm = incidents_by_need(page)
    yield from incident_lines(page, urgent)
    for harm, rows in figures.by_harm(calm).items():
        yield ui.Heading(f"{words.sentence(vocabulary.HARMS[harm].label)}: {harm.meaning}")
        yield from incident_lines(page, rows)


SECTION = Section("incidents", 10, "all-incidents", "", all_incidents)
