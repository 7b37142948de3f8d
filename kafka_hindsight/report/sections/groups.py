"""The groups of the window, the costliest first, and every rebalance; the stories are in the views of the groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import Cause, WitnessKind
from kafka_hindsight.catalog.nouns.causes import WORST_FIRST, CauseFamily
from kafka_hindsight.catalog.rows import Incident, Rebalance, Unavailability
from kafka_hindsight.measures.unavailability_sums import NO_CONSUMER, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.paged_tables import rebalance_table
from kafka_hindsight.report.phrases import empty_sentence
from kafka_hindsight.report.subjects.cluster_effects import ClusterEffects
from kafka_hindsight.shared import plain, words

HEADINGS = (
    "Group", "Rebalances", "Partition-seconds stopped", "No member consumed", "Gravest cause", "Incidents", "Owner",
)  # fmt: skip


def groups(page: PageRows) -> Iterator[ui.Block]:
    """A row for each group, with a filter."""
    rebalances = {group: page.rows_of(Rebalance, "group_id", group) for group in page.groups}
    worst = sorted(page.groups, key=lambda g: (-figures.partition_seconds(rebalances[g]), -len(rebalances[g]), g))
    yield from ui.paged_table("Groups", HEADINGS, [_row(page, group, rebalances[group]) for group in worst])
    if not worst:
        yield ui.Paragraph(empty_sentence(page, "No group rebalanced.", "No rebalance", WitnessKind.GROUPS))


def _row(page: PageRows, group: str, rebalances: Sequence[Rebalance]) -> tuple[str, tuple[ui.Words, ...]]:
    causes = Counter(row.cause for row in rebalances)
    gravest = next((cause for cause in WORST_FIRST if causes[cause]), None)
    stops = unused(page.rows_of(Unavailability, "group_id", group), NO_CONSUMER)
    cost = figures.known_partition_seconds(rebalances)
    return gravest.noun.family if gravest else CauseFamily.UNKNOWN, (
        ui.Link(plain.shortened(group), plain.anchor("group", group)),
        words.number(len(rebalances)),
        "not known" if cost is None else words.number(cost),
        words.duration(stops.total_ms) if stops.subjects else "",
        _causes(gravest, causes, ClusterEffects(page, group)),
        words.number(len(page.rows_of(Incident, "group_ids", group))),
        page.whose([group], ())[1],
    )


def _causes(gravest: Cause | None, causes: Counter[Cause], effects: ClusterEffects) -> str:
    """The gravest cause with its count, and whether the cluster hit the group."""
    own = f"{gravest.noun.label} ({words.number(causes[gravest])})" if gravest else ""
    return "; ".join(filter(None, (own, "hit by the cluster" if effects.is_hit else "")))


def every_rebalance(page: PageRows) -> Iterator[ui.Block]:
    """The rebalances of all groups in order of time, with a filter."""
    if not page.of(Rebalance):
        yield ui.Paragraph(empty_sentence(page, "No rebalance.", "No rebalance", WitnessKind.GROUPS))
    yield from rebalance_table(page, page.of(Rebalance))


GROUPS = Section("groups", 10, "group-list", "", groups)
REBALANCES = Section("groups", 20, "rebalances", "Every rebalance", every_rebalance)
