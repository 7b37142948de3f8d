"""Every incident of the window."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.ledgers import incident_ledger
from kafka_hindsight.report.page_rows import PageRows, Section


def all_incidents(page: PageRows) -> Iterator[ui.Block]:
    """Every incident, those that ask for nothing last."""
    urgent, calm = figures.by_need(page.of(Incident))
    yield from incident_ledger(page, [*urgent, *calm])


SECTION = Section("incidents", 10, "all-incidents", "", all_incidents)
