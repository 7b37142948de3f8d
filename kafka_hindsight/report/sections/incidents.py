"""Incidents: on the first screen those that ask for something, in a view of their own all of them."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, phrases
from kafka_hindsight.report.answer import incident_lines
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.paged_tables import incident_table
from kafka_hindsight.shared import words

SHOWN = 12


def incidents(page: PageRows) -> Iterator[ui.Block]:
    """Those that ask for something, at most SHOWN lines; the others are counted, with a link to the list of all."""
    urgent, calm = figures.by_need(page.of(Incident))
    if not urgent and not calm:
        yield ui.Paragraph(phrases.empty_sentence(page, "No incident.", "No incident"))
        return
    if not urgent:
        yield ui.Paragraph("Nothing needs your attention.")
    lines = figures.equal_incidents(urgent)
    yield from incident_lines(page, [row for rows in lines[:SHOWN] for row in rows])
    hidden = [row for rows in lines[SHOWN:] for row in rows]
    counts = [words.counted(len(hidden), "minor incident")] if hidden else []
    counts += [words.counted(len(rows), f"{harm.noun.label} incident") for harm, rows in figures.by_harm(calm).items()]
    if counts:
        yield ui.Paragraph((ui.Link(f"And {words.listed(counts)}", "incidents"), "."))


def all_incidents(page: PageRows) -> tuple[ui.Block, ...]:
    """Every incident, those that ask for nothing last."""
    urgent, calm = figures.by_need(page.of(Incident))
    return incident_table(page, [*urgent, *calm])


URGENT = Section("night", 30, "incident-list", "Incidents", incidents)
ALL = Section("incidents", 10, "all-incidents", "", all_incidents)
