"""The groups of the window, the costliest first, each with the way to its own view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_hindsight.catalog.rows import Incident, Rebalance, Unavailability
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import empty_sentence
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.unavailability_sums import NO_CONSUMER, unused

HEADINGS = (
    "Group",
    "Rebalances",
    "Partition-seconds stopped",
    "No member consumed",
    "Gravest cause",
    "Incidents",
    "Owner",
)


def groups(page: PageRows) -> Iterator[ui.Block]:
    """A row for each group, with a filter."""
    if not page.groups:
        yield ui.Paragraph(empty_sentence(page, "No group rebalanced or fell behind.", "No group"))
        return
    costs = {group: figures.partition_seconds(page.rows_of(Rebalance, "group_id", group)) for group in page.groups}
    counts = {group: len(page.rows_of(Rebalance, "group_id", group)) for group in page.groups}
    worst = sorted(page.groups, key=lambda group: (-costs[group], -counts[group], group))
    rows = tuple(_row(page, group, costs[group], counts[group]) for group in worst)
    yield ui.ledger("Groups", HEADINGS, rows)


def _row(page: PageRows, group: str, cost: float, count: int) -> tuple[str, tuple[ui.Words, ...]]:
    causes = Counter(row.cause for row in page.rows_of(Rebalance, "group_id", group))
    gravest = next((cause for cause in vocabulary.CAUSES if causes[cause]), None)
    look = vocabulary.CAUSES[gravest] if gravest else None
    stops = unused(page.rows_of(Unavailability, "group_id", group), NO_CONSUMER)
    return look.tone if look else "unknown", (
        ui.Link(plain.shortened(group), plain.anchor("group", group)),
        words.number(count),
        words.number(cost),
        words.duration(stops.total_ms) if stops.subjects else "",
        f"{look.label} ({words.number(causes[gravest])})" if look and gravest else "",
        words.number(len(page.rows_of(Incident, "group_ids", group))),
        page.whose([group], ())[1],
    )


SECTION = Section("groups", 10, "group-list", "", groups)
