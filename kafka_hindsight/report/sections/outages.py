"""Broker outages, each with its leader changes, rebalances and incidents."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.rows import BrokerOutage, CoordinatorMove
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import empty_sentence, incident_headline, outage_words
from kafka_hindsight.report.sections.restarts import restart_link
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.absences import away, is_orderly, starts_exactly


def outages(page: PageRows) -> Iterator[ui.Block]:
    """The outages: sudden ones first, then by time."""
    if not page.outages:
        yield ui.Paragraph(empty_sentence(page, "No broker was away.", "No absence of a broker"))
    for row in sorted(page.outages.values(), key=is_orderly):
        label, length = words.sentence(vocabulary.OUTAGES[row.kind].label), away(row)
        elections = f"; {words.counted(row.elections, 'leader change')}" if row.elections else ""
        yield ui.Entry(
            words.sentence(outage_words(row)),
            (
                ui.Facts(tuple(_moments(row))),
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


def _moments(row: BrokerOutage) -> Iterator[ui.Fact]:
    """The instants of an outage, and how long after its start each was."""
    moments = (
        ("Down" if starts_exactly(row) else "Last sign of life", row.down_at),
        ("Unreachable", row.unreachable_at if row.unreachable_at != row.down_at else None),
        ("Detected", row.detected_at),
        ("Back", row.up_at),
        ("In every ISR again", row.isr_recovered_at),
        ("Leads its partitions again", row.leadership_restored_at),
    )
    for label, at in moments:
        after = f" after {words.duration(words.elapsed_ms(row.down_at, at))}" if at != row.down_at else ""
        if at:
            yield ui.Fact(label, (ui.At(at), ui.Quiet(after)))
        elif label == "Back":
            yield ui.Fact(label, "not in this window")


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
    restart = restart_link(page, row.restart_id)
    if restart:
        yield ui.Paragraph(("Part of ", restart, "."))
    incidents = [
        ui.Link(incident_headline(i), plain.anchor("incident", i.incident_id))
        for i in page.incidents_of.get(row.outage_id, ())
    ]
    if incidents:
        noun = words.verb(len(incidents), "Incident", "Incidents")
        yield ui.Paragraph((f"{noun}: ", ui.join(incidents), "."))


SECTION = Section("cluster", 30, "outages", "Broker outages", outages)
