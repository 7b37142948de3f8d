"""Rows of the tables of catalog/quality*.py. Written by `make docs` from the catalog: changes here are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from kafka_hindsight.catalog.codes import RowChange
from kafka_hindsight.catalog.row import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange(Row):
    """One verdict that is another with today's knowledge and records, as one reclassification found it."""

    TABLE: ClassVar[str] = "quality.verdict_changes"
    CODES: ClassVar[Mapping[str, type[str]]] = {"change": RowChange}

    cluster: str
    window_from: datetime
    window_to: datetime
    table: str
    row_id: str
    subject: str
    happened_at: datetime
    change: RowChange
    verdict_before: str | None = None
    verdict_after: str | None = None
    confidence_before: str | None = None
    confidence_after: str | None = None
    knowledge_before: str | None = None
    knowledge_after: str | None = None
    run_id: str
    run_reclassified_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LateWindow(Row):
    """One earlier window that records touched after it had been published, as one run found it."""

    TABLE: ClassVar[str] = "quality.late_windows"

    cluster: str
    window_from: datetime
    window_to: datetime
    records: int
    sources: list[str]
    first_at: datetime
    last_at: datetime
    run_id: str
    run_found_at: datetime
