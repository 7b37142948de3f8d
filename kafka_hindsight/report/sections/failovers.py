"""Failovers, changes of the controller and of in-sync replica sets: what happened to leaders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kafka_hindsight.catalog.codes import FailoverKind, IsrChangeKind
from kafka_hindsight.catalog.rows import ControllerChange, Failover, IsrChange
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import change, controller_anchor, lost_records
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

ROWS_OPEN = 6
HEADINGS = (
    "When", "Partition", "Leader", "Epoch", "Without leader", "In-sync replicas", "Lost", "Confidence", "What happened",
)  # fmt: skip
REQUESTED = {True: "requested", False: "by Kafka itself", None: ""}


def failovers(page: PageRows) -> Iterator[ui.Block]:
    """Failovers by kind that no outage of this window caused; those of an outage are shown with it."""
    alone = [f for f in page.of(Failover) if f.outage_id not in page.outages]
    if not alone:
        yield ui.Paragraph("Every change of leader belongs to an outage above, or there was none.")
    yield from by_kind(page, alone, ROWS_OPEN)
    controllers = sorted(page.of(ControllerChange), key=lambda r: r.epoch)
    if controllers:
        yield ui.Heading(f"{words.sentence(words.counted(len(controllers), 'change'))} of the controller")
        rows = tuple(_controller(page, row) for row in controllers)
        yield ui.Table("Changes of the controller", ("When", "Node", "Epoch", "Confidence", "Why"), rows)
    changes = Counter(row.change for row in page.of(IsrChange))
    shrank, expanded = (words.times(changes[kind]) for kind in IsrChangeKind)
    yield from ui.note(f"In-sync replica sets shrank {shrank} and expanded {expanded}.", changes)


def by_kind(page: PageRows, rows: Iterable[Failover], most_open: int) -> Iterator[ui.Entry]:
    """Failovers as one entry for each kind, open where it has few rows."""
    kinds = grouped(sorted(rows, key=lambda r: (r.happened_at, r.topic, r.partition, r.failover_id)), lambda r: r.kind)
    for kind in vocabulary.FAILOVERS:
        if kind in kinds:
            yield _entry(page, kind, kinds[kind], most_open)


def _entry(page: PageRows, kind: FailoverKind, rows: Sequence[Failover], most_open: int) -> ui.Entry:
    look = vocabulary.FAILOVERS[kind]
    title = f"{words.sentence(look.label)}: {words.counted(len(rows), 'leader change')}"
    has_lost = any(lost_records(r.records_lost_low, r.records_lost_high) for r in rows)
    headings = tuple(h for h in HEADINGS if has_lost or h != "Lost")
    table = ui.Table(title, headings, tuple(_row(page, row, has_lost) for row in rows))
    topics = sorted(grouped(rows, lambda r: r.topic).items())
    names = [f"{plain.shortened(topic, 48)} {words.ranges([r.partition for r in moves])}" for topic, moves in topics]
    longest = max((r.leaderless_ms for r in rows if r.leaderless_ms is not None), default=None)
    return ui.Entry(
        title,
        (table,),
        style="failovers",
        tone=look.tone,
        note=words.listed(names, at_most=6),
        when=ui.At(rows[0].happened_at),
        cost=f"leaderless up to {words.duration(longest)}" if longest else "",
        is_open=len(rows) <= most_open,
    )


def _row(page: PageRows, row: Failover, has_lost: bool) -> ui.TableRow:
    leaders = change(words.leader(row.leader_from), words.leader(row.leader_to))
    requested = REQUESTED[row.requested_by_operator]
    bounds = words.between(row.leaderless_low_ms, row.leaderless_high_ms)
    cells: tuple[ui.Content, ...] = (
        ui.At(row.happened_at),
        ui.Cell((ui.Name(plain.shortened(row.topic)), f" {row.partition}"), "id"),
        (leaders, (" ", ui.Quiet(requested)) if requested else ""),
        change(row.epoch_from, row.epoch_to),
        words.duration(row.leaderless_ms) or bounds,
        change(_replicas(row.isr_before), _replicas(row.isr_after)),
        *((lost_records(row.records_lost_low, row.records_lost_high),) if has_lost else ()),
        ui.confidence_badge(row.confidence),
        ui.Cell(page.evidence(row.evidence, row.explanation), "wide"),
    )
    return ui.TableRow(cells, plain.anchor("failover", row.failover_id))


def _replicas(brokers: Sequence[int] | None) -> str | None:
    return None if brokers is None else "{" + ", ".join(map(str, brokers)) + "}"


def _controller(page: PageRows, row: ControllerChange) -> ui.TableRow:
    outage = page.outage_link(row.outage_id)
    cells = (
        ui.At(row.happened_at),
        change(words.leader(row.controller_from), words.leader(row.controller_to)),
        str(row.epoch),
        ui.confidence_badge(row.confidence),
        ui.Cell((page.evidence(row.evidence, row.explanation), (" ", outage) if outage else ""), "wide"),
    )
    return ui.TableRow(cells, controller_anchor(row))


SECTION = Section(80, "failovers", "Failovers without an outage", "Failovers", failovers)
