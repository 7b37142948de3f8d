"""Failovers, changes of the controller and of in-sync replica sets: what happened to leaders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_hindsight.catalog.codes import IsrChangeKind, WitnessKind
from kafka_hindsight.catalog.rows import ControllerChange, Failover, IsrChange
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.paged_tables import failover_table
from kafka_hindsight.report.phrases import change, controller_anchor, empty_sentence
from kafka_hindsight.shared import words


def failovers(page: PageRows) -> Iterator[ui.Block]:
    """Every change of a leader, then those of the controller."""
    if not page.of(Failover):
        yield ui.Paragraph(
            empty_sentence(page, "No partition changed its leader.", "No change of a leader", WitnessKind.LEADERS)
        )
    if every_change := failover_table(page.of(Failover)):
        yield ui.Expandable(
            words.counted(len(page.of(Failover)), "change of a leader", "changes of a leader"), every_change
        )
    changes = Counter(row.change for row in page.of(IsrChange))
    shrank, expanded = (words.times(changes[kind]) for kind in IsrChangeKind)
    yield from ui.note(f"In-sync replica sets shrank {shrank} and expanded {expanded}.", changes)
    controllers = page.of(ControllerChange)
    if controllers:
        rows = tuple(_controller(page, row) for row in controllers)
        table = ui.PlainTable("Changes of the controller", ("When", "Node", "Epoch", "Confidence", "Why"), rows)
        yield ui.Expandable(f"{words.counted(len(controllers), 'change')} of the controller", (table,))


def _controller(page: PageRows, row: ControllerChange) -> ui.TableRow:
    outage = page.outage_link(row.outage_id)
    return ui.row(
        ui.At(row.happened_at),
        change(words.leader(row.controller_from), words.leader(row.controller_to)),
        str(row.epoch),
        ui.confidence_badge(row.confidence),
        ui.Cell((page.evidence(row.evidence, row.explanation), (" ", outage) if outage else ""), "wide"),
        anchor=controller_anchor(row),
    )


SECTION = Section("cluster", 50, "failovers", "Changes of leaders", failovers)
