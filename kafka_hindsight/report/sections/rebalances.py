"""Every rebalance in order of time, with a filter."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.ledgers import rebalance_ledger
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import empty_sentence


def rebalances(page: PageRows) -> Iterator[ui.Block]:
    """The rebalances of all groups; their stories are in the views of the groups."""
    if not page.of(Rebalance):
        yield ui.Paragraph(empty_sentence(page, "No rebalance.", "No rebalance"))
    yield from rebalance_ledger(page, page.of(Rebalance))


SECTION = Section("groups", 20, "rebalances", "Every rebalance", rebalances)
