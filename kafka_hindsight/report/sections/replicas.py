"""Replicas out of sync: the periods of each broker."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.rows import OutOfSyncPeriod
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.shared import plain, words

SHOWN = 60
SHOWN_OPEN = 3
TOPICS = 12


def replicas(page: PageRows) -> Iterator[ui.Block]:
    """Brokers out of sync: slow ones before absent ones, then by the time that partitions were without them."""
    order = list(vocabulary.OUT_OF_SYNC)
    rows = sorted(
        page.of(OutOfSyncPeriod),
        key=lambda r: (order.index(r.kind), -r.partition_ms, r.started_at, r.out_of_sync_period_id),
    )
    yield from (_period(page, row, is_open=i < SHOWN_OPEN) for i, row in enumerate(rows[:SHOWN]))


def _period(page: PageRows, row: OutOfSyncPeriod, is_open: bool) -> ui.Entry:
    look, anchor = vocabulary.OUT_OF_SYNC[row.kind], plain.anchor("outofsync", row.out_of_sync_period_id)
    outage, facts = page.outage_link(row.outage_id), list(_facts(row))
    topics = [plain.shortened(t) for t in row.worst_topics[:TOPICS]]
    end = ui.At(row.ended_at) if row.ended_at else "still out"
    origin = (" Related outage: ", outage, ".") if outage else ""
    return ui.Entry(
        f"Broker {row.broker} out of sync for {words.counted(row.partitions, 'partition')}: {look.label}",
        (
            ui.Paragraph(row.explanation),
            ui.advice_box(row.advice),
            ui.Paragraph((ui.At(row.started_at), " to ", end, f"; {'; '.join(facts)}.", origin), "quiet"),
            *ui.note("Topics, the longest without it first:", topics),
            *((ui.names(topics, TOPICS),) if topics else ()),
            page.evidence(row.evidence),
        ),
        anchor=anchor,
        tone=look.tone,
        when=ui.At(row.started_at),
        badges=(ui.confidence_badge(row.confidence),),
        cost=facts[0],
        is_open=is_open and outage is None,
    )


def _facts(row: OutOfSyncPeriod) -> Iterator[str]:
    yield f"{words.duration(row.partition_ms)} out of sync, summed over partitions"
    if row.partitions_out:
        yield f"{words.counted(row.partitions_out, 'partition')} still without it"
    if row.flaps:
        yield f"lost again {words.times(row.flaps)}"
    if row.records_behind is not None:
        yield f"up to {words.counted(row.records_behind, 'record')} behind"
    if row.removed_by_leader:
        leaders = words.listed([f"broker {b}" for b in row.removed_by_leader], at_most=6)
        yield f"removed by {leaders} because it lagged"
    if row.suspected_broker not in (None, row.broker):
        yield f"the trouble points to broker {row.suspected_broker}"


SECTION = Section("cluster", 60, "replicas", "Replicas out of sync", replicas)
