"""Rows in: a page of blocks out, and the window in figures, for the page of all clusters, for metrics and for SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kafka_hindsight.catalog.codes import FindingSeverity, Harm, JumpHarm, WitnessKind
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    Failover,
    Finding,
    Incident,
    NightSummary,
    OffsetJump,
    Rebalance,
    Truncation,
    Unavailability,
)
from kafka_hindsight.measures.record_losses import total_loss
from kafka_hindsight.measures.records_moved import records_moved
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, NO_WRITES, unused
from kafka_hindsight.report import figures
from kafka_hindsight.report.blocks import At, Page, Quiet, ShownSection, View
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.phrases import incident_headline
from kafka_hindsight.report.sections import SECTIONS, coverage
from kafka_hindsight.report.sections.first_screen import ticket
from kafka_hindsight.report.subjects import answers
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.page_names import page_name

VIEWS = (
    View("night", "What happened", (), "Night"),
    View("timeline", "Timeline", (), "Timeline"),
    View("groups", "Groups", (), "Groups"),
    View("cluster", "Brokers and topics", (), "Cluster", ("controller", "restart")),
    View("findings", "Findings", (), "Findings", ("finding",)),
    View("coverage", "What was seen, and what was not", (), "Coverage", ("break",)),
    View("incidents", "All incidents", (), holds=("incident",)),
    View("history", "The nights before", ()),
)
"""The views that each report has, in the order of the navigation; those without a label in it are linked."""


def report_of(page: PageRows, place: str = "") -> Page:
    """Make the report of rows, for the path `place`. The order of the rows does not matter."""
    blocks_of_views = [(s.view, ShownSection(s.name, s.title, tuple(s.blocks(page)))) for s in SECTIONS]
    sections = grouped(((view, section) for view, section in blocks_of_views if section.blocks), lambda pair: pair[0])
    night, *others = (replace(v, sections=tuple(section for _, section in sections.get(v.name, ()))) for v in VIEWS)
    views = (replace(night, ticket=ticket(page)), *others)
    return page_of(
        page, (*(view for view in views if view.sections), *(answer.view(page) for answer in answers(page))), place
    )


def page_of(page: PageRows, views: Sequence[View], place: str = "") -> Page:
    """Make a page of views about the window of these rows."""
    run, day = page.run, page.day
    return Page(
        title=f"{run.cluster}, {day or page.window[0].date()}: Kafka Hindsight",
        heading=run.cluster,
        subtitle=(words.instant(page.window[0]), " to ", At(page.window[1]), " ", Quiet("· all times in UTC")),
        day=day,
        views=tuple(views),
        log=run.log_path or "",
        place=plain.visible(place),
        file_name=page_name(run.cluster, *page.window),
    )


def night_of(page: PageRows, run_id: str, at: datetime) -> NightSummary:
    """The figures of a window, of which `run_id` wrote the report at the instant `at`."""
    incidents, findings = page.of(Incident), page.of(Finding)
    urgent = figures.urgent_first(i for i in incidents if not page.is_planned(i))
    worst = urgent[0] if urgent else None
    loss, absences = total_loss(page.of(Failover), page.of(Truncation)), figures.absences(page.of(BrokerOutage))
    leaderless, refusing = (unused(page.of(Unavailability), kinds) for kinds in (LEADERLESS, NO_WRITES))
    severities, line_totals = Counter(f.severity for f in findings), coverage.totals(page)
    groups = figures.groups_stopped(incidents, page.of(Unavailability), page.of(Rebalance)).least
    unknown = page.unknown_kinds

    def bounded(count: int | None, kind: WitnessKind) -> int | None:
        """A count; None for a zero where the logs could not show such events."""
        return None if count == 0 and kind in unknown else count

    figure_of = {WitnessKind.LEADERS: leaderless.count, WitnessKind.GROUPS: len(groups)}
    unknown |= {kind for kind in page.doubtful_zeros if figure_of.get(kind) == 0}

    offline = bounded(leaderless.count, WitnessKind.LEADERS)
    is_cost_known = page.of(Rebalance) or WitnessKind.GROUPS not in unknown
    cost = figures.known_partition_seconds(page.of(Rebalance)) if is_cost_known else None
    return NightSummary(
        cluster=page.run.cluster,
        window_from=page.run.window_from,
        window_to=page.run.window_to,
        state=page.state,
        not_known=[harm for harm in Harm if harm in {kind.noun.harm for kind in unknown}],
        harm=figures.harm_of(worst) if worst else None,
        headline=incident_headline(worst) if worst else None,
        incident_id=worst.incident_id if worst else None,
        incidents=len(urgent),
        records_lost_low=bounded(loss.low, WitnessKind.CUTS),
        records_lost_high=None if WitnessKind.CUTS in unknown else loss.high,
        records_skipped_low=records_moved(page.of(OffsetJump), JumpHarm.RECORDS_SKIPPED).low or None,
        records_read_again_low=records_moved(page.of(OffsetJump), JumpHarm.RECORDS_READ_AGAIN).low or None,
        partitions_offline=offline,
        partitions_still_offline=bounded(len(leaderless.still), WitnessKind.LEADERS),
        offline_ms=leaderless.longest_ms,
        offline_partition_seconds=None if offline is None else leaderless.total_ms / 1000,
        partitions_refusing=bounded(refusing.count, WitnessKind.IN_SYNC),
        sudden_absences=bounded(absences.sudden, WitnessKind.LIFE),
        orderly_absences=bounded(absences.orderly, WitnessKind.LIFE),
        groups_stopped=bounded(len(groups), WitnessKind.GROUPS),
        findings_critical=severities[FindingSeverity.CRITICAL],
        findings_warning=severities[FindingSeverity.WARNING],
        findings_info=severities[FindingSeverity.INFO],
        gaps=len(figures.unseen(findings)),
        lines_in=line_totals.lines_in,
        lines_unread=line_totals.unread,
        rebalances=len(page.of(Rebalance)),
        partition_seconds=cost,
        page=page_name(page.run.cluster, page.run.window_from, page.run.window_to),
        run_id=run_id,
        run_published_at=at,
    )
