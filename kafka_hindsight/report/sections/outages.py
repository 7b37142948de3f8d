"""Broker outages with what they led to, and rolling restarts with a scorecard of each stop."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from kafka_hindsight.catalog.codes import OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, CoordinatorMove, Incident, RestartStep, RollingRestart
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import empty_sentence, incident_headline, outage_words
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.absences import away, is_orderly, starts_exactly

HEADINGS = (
    "Broker", "How<", "Stopped", "Away for", "In every ISR after", "Led again after", "Led before", "Leader changes",
    "Waited for the one before",
)  # fmt: skip


def outages(page: PageRows) -> Iterator[ui.Block]:
    """The outages: sudden ones first, then by time."""
    if not page.of(BrokerOutage):
        yield ui.Paragraph(empty_sentence(page, "No broker was away.", "No absence of a broker"))
    for row in sorted(page.of(BrokerOutage), key=is_orderly):
        label, length = words.sentence(vocabulary.OUTAGES[row.kind].label), away(row)
        elections = f"; {words.counted(row.elections, 'leader change')}" if row.elections else ""
        yield ui.Entry(
            words.sentence(outage_words(row)),
            (
                ui.Facts(_moments(row)),
                ui.Paragraph(row.explanation),
                ui.Paragraph(f"{label}; {'; '.join(_facts(page, row))}.", "quiet"),
                *_relations(page, row),
                page.evidence(row.evidence),
            ),
            anchor=plain.anchor("outage", row.outage_id),
            tone=vocabulary.OUTAGES[row.kind].tone,
            when=ui.At(row.down_at),
            badges=ui.badges(row.intent, row.confidence),
            cost=f"away for {length}{elections}" if length else f"not back{elections}",
        )


def _moments(row: BrokerOutage) -> tuple[ui.Fact, ...]:
    """The instants of an outage, and how long after its start each was."""

    def moment(at: datetime | None) -> ui.Words:
        after = f" after {words.duration(words.elapsed_ms(row.down_at, at))}" if at != row.down_at else ""
        return (ui.At(at), ui.Quiet(after)) if at else ""

    return ui.facts(
        ("Down" if starts_exactly(row) else "Last sign of life", moment(row.down_at)),
        ("Unreachable", moment(row.unreachable_at) if row.unreachable_at != row.down_at else ""),
        ("Detected", moment(row.detected_at)),
        ("Back", moment(row.up_at) or "not in this window"),
        ("In every ISR again", moment(row.isr_recovered_at)),
        ("Leads its partitions again", moment(row.leadership_restored_at)),
    )


def _facts(page: PageRows, row: BrokerOutage) -> Iterator[str]:
    if row.partitions_led_before is not None:
        yield f"led {words.counted(row.partitions_led_before, 'partition')} before"
    if row.elections is not None:
        yield words.counted(row.elections, "leader change")
    if row.isr_shrinks:
        yield f"out of in-sync replica sets {words.times(row.isr_shrinks)}"
    if moves := [m for m in page.of(CoordinatorMove) if m.outage_id == row.outage_id]:
        yield f"{words.counted(len(moves), 'group')} moved to another coordinator"
    if row.rebalances is not None:
        yield f"it caused {words.counted(row.rebalances, 'rebalance')}"
    if row.partition_seconds:
        yield f"{words.number(row.partition_seconds)} partition-seconds stopped"
    if row.last_heard_at is None:
        yield "its own log was not read; the logs of others show it"


def _relations(page: PageRows, row: BrokerOutage) -> Iterator[ui.Block]:
    if row.group_ids:
        groups = ui.names([plain.shortened(g) for g in row.group_ids], 200)
        yield ui.Expandable(f"{words.counted(len(row.group_ids), 'group')} that moved or rebalanced", (groups,))
    for restart in page.rows_of(RollingRestart, "restart_id", row.restart_id):
        yield ui.Paragraph(("Part of ", ui.Link("a rolling restart", plain.anchor("restart", restart.restart_id)), "."))
    incidents = [
        ui.Link(incident_headline(i), plain.anchor("incident", i.incident_id))
        for i in page.rows_of(Incident, "first_outage_id", row.outage_id)
    ]
    if incidents:
        noun = words.verb(len(incidents), "Incident", "Incidents")
        yield ui.Paragraph((f"{noun}: ", ui.join(incidents), "."))


def restarts(page: PageRows) -> Iterator[ui.Block]:
    """The rolling restarts, in order of time."""
    for row in page.of(RollingRestart):
        count = len(row.brokers)
        several = f"{words.counted(count, 'broker')} {words.verb(count, 'was', 'were')}"
        subject = "The cluster was" if row.is_complete else several
        end = ui.At(row.ended_at) if row.ended_at else "not over in this window"
        yield ui.Entry(
            f"{subject} restarted broker by broker: {words.listed([str(b) for b in row.brokers], at_most=12)}",
            (
                ui.Paragraph(row.explanation),
                ui.Paragraph((ui.At(row.started_at), " to ", end, f"; {'; '.join(_restart_facts(row))}."), "quiet"),
                ui.Table(
                    "Scorecard", HEADINGS, tuple(_stop(page, i, s) for i, s in enumerate(row.scorecard)), "numbers"
                ),
                ui.Paragraph(row.advice, "advice"),
                page.evidence(row.evidence),
            ),
            anchor=plain.anchor("restart", row.restart_id),
            style="outage",
            tone="protocol" if {s.kind for s in row.scorecard} == {OutageKind.CONTROLLED_SHUTDOWN} else "broker",
            badges=ui.badges(row.intent, row.confidence),
        )


def _restart_facts(row: RollingRestart) -> Iterator[str]:
    yield words.counted(row.elections, "leader change")
    yield words.counted(row.rebalances, "rebalance")
    yield f"{words.counted(row.max_under_replicated, 'partition')} short of a replica at worst"
    early = [f"broker {s.broker}" for s in row.scorecard if s.is_early]
    if all(s.is_early is False for s in row.scorecard[1:]):
        yield "each broker was back in every ISR before the next one was stopped"
    elif early:
        yield f"stopped too early: {words.listed(early)}"


def _stop(page: PageRows, i: int, score: RestartStep) -> ui.TableRow:
    outage = page.outage_link(score.outage_id)
    has_waited = "not known" if score.is_early is None else "no" if score.is_early else "yes"
    return ui.row(
        ui.head(ui.Link(str(score.broker), outage.anchor) if outage else str(score.broker)),
        ui.Cell(vocabulary.OUTAGES[OutageKind(score.kind)].label, "left"),
        ui.At(score.down_at),
        words.duration(words.elapsed_ms(score.down_at, score.up_at)) or "not back",
        words.duration(score.isr_recovered_ms) or "not known",
        words.duration(score.leadership_restored_ms) or "not known",
        words.exact(score.partitions_led_before),
        words.exact(score.elections),
        ui.Cell(has_waited if i else "", "bad" if score.is_early else ""),
    )


OUTAGES = Section("cluster", 30, "outages", "Broker outages", outages)
RESTARTS = Section("cluster", 50, "restarts", "Rolling restarts", restarts)
