"""Rows in, a page of blocks out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.report.blocks import At, Page, Quiet, ShownSection
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.sections import SECTIONS
from kafka_hindsight.shared import words
from kafka_hindsight.shared.page_names import page_name


def build_report(tables: Mapping[str, Sequence[Mapping[str, Any] | Row]], run: Mapping[str, Any]) -> Page:
    """The report of one window. Takes: what read_rows takes. Gives: what report_of gives."""
    return report_of(read_rows(tables, run))


def read_rows(tables: Mapping[str, Sequence[Mapping[str, Any] | Row]], run: Mapping[str, Any]) -> PageRows:
    """The rows of one window as its report reads them.

    Takes: rows by full table name, as the catalog has them, those of this window and of one cluster; page_rows.READS
        are looked at. quality.unparsed_lines may be counted by template instead: rows of LineShape; readings of lag may
        be sums over all groups: rows of LagReading. quality.validation_results are those of one run. `run` holds the
        columns of PageRun.
    Gives: rows whose every text is harmless: printable, on one line but for quotations, of bounded length.
    Raises: ValueError for a table that the catalog does not hold.
    """
    unknown = sorted(set(tables) - set(BY_NAME))
    if unknown:
        raise ValueError(f"the catalog holds no table {', '.join(unknown)}; a report takes rows by full table name")
    return PageRows.read(tables, run)


def report_of(page: PageRows) -> Page:
    """The report of rows. Order: none that the rows come in; the same rows give the same report."""
    shown = (
        ShownSection(s.name, s.title, s.nav, len(page.of(s.counts)) if s.counts else None, tuple(s.blocks(page)))
        for s in SECTIONS
    )
    about, day = page.run, page.day
    end = At(page.window[1])
    return Page(
        title=f"{about.cluster}, {day or page.window[0].date()}: Kafka Hindsight",
        heading=about.cluster,
        subtitle=(words.instant(page.window[0]), " to ", end, " ", Quiet("· all times in UTC")),
        day=day,
        sections=tuple(section for section in shown if section.blocks),
        log=about.log_path or "",
        place=about.report_path or "",
        own=page_name(about.cluster, *page.window),
    )
