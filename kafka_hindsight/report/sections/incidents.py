"""Incidents: those that ask for something, the most harmful first; equal ones are one line."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, phrases, vocabulary
from kafka_hindsight.report.answer import incident_lines
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.shared import words

SHOWN = 12


def incidents(page: PageRows) -> Iterator[ui.Block]:
    """The first SHOWN lines; the others are counted, with a link to the list of all."""
    urgent, calm = figures.by_need(page.of(Incident))
    if not urgent and not calm:
        yield ui.Paragraph(phrases.empty_sentence(page, "No incident.", "No incident"))
        return
    if not urgent:
        yield ui.Paragraph("No incident asks for anything.")
    lines = figures.equal_incidents(urgent)
    yield from incident_lines(page, [row for rows in lines[:SHOWN] for row in rows])
    hidden = [row for rows in lines[SHOWN:] for row in rows]
    counts = [words.counted(len(hidden), "lesser incident")] if hidden else []
    counts += [
        words.counted(len(rows), f"{vocabulary.HARMS[harm].label} incident")
        for harm, rows in figures.by_harm(calm).items()
    ]
    if counts:
        yield ui.Paragraph((ui.Link(f"And {words.listed(counts)}", "incidents"), "."), "links")


SECTION = Section("night", 30, "incident-list", "Incidents", incidents)
