"""Entries of one form for what lasted at brokers: absences, replicas out of sync, leader imbalance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from operator import itemgetter

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    CoordinatorMove,
    ImbalancePeriod,
    Incident,
    LeaderImbalance,
    OutOfSyncPeriod,
    RollingRestart,
)
from kafka_hindsight.knowledge.outage_words import noun_of
from kafka_hindsight.measures.time_away import away, starts_exactly
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.phrases import incident_headline, outage_words
from kafka_hindsight.shared import plain, words

TOPICS = 12
GROUPS = 200

DatedEntry = tuple[datetime, ui.Entry]
"""When something began, and the entry about it."""


def periods(page: PageRows, broker: int) -> Sequence[DatedEntry]:
    """The entries of a broker, in order of time."""
    return sorted(
        (
            *(_outage(page, row) for row in page.rows_of(BrokerOutage, "broker", broker)),
            *(_out_of_sync(page, row) for row in page.rows_of(OutOfSyncPeriod, "broker", broker)),
            *(_imbalance(page, row) for row in page.rows_of(ImbalancePeriod, "broker", broker)),
        ),
        key=itemgetter(0),
    )


def period_blocks(
    page: PageRows,
    row: BrokerOutage | OutOfSyncPeriod | ImbalancePeriod | RollingRestart,
    span: tuple[datetime, datetime | None],
    facts: Iterable[str],
    more: Iterable[ui.Block] = (),
) -> tuple[ui.Block, ...]:
    """The blocks of an entry: why, what to do, from when to when, `more`, and the lines that prove it."""
    start, end = span
    is_open = not isinstance(row, OutOfSyncPeriod) or row.observed_until is None
    lasting = "the end of the window, and not over" if is_open else "an end that the logs do not show"
    until = ui.At(end) if end else lasting
    outage = None if isinstance(row, BrokerOutage | RollingRestart) else page.outage_link(row.outage_id)
    return (
        ui.Paragraph(row.explanation),
        *(() if isinstance(row, BrokerOutage) else (ui.advice_box(row.advice),)),
        ui.Paragraph((ui.At(start), " to ", until, "; ", "; ".join(facts), "."), "quiet"),
        *((ui.Paragraph(("Related outage: ", outage, "."), "quiet"),) if outage else ()),
        *more,
        page.evidence(row.evidence),
    )


def _outage(page: PageRows, row: BrokerOutage) -> DatedEntry:
    length, noun = away(row), noun_of(row)
    elections = f"; {words.counted(row.elections, 'leader change')}" if row.elections else ""
    more = (ui.Facts(_moments(row)), *_relations(page, row))
    return row.down_at, ui.Entry(
        words.sentence(outage_words(row)),
        period_blocks(page, row, (row.down_at, row.up_at), (noun.label, *_outage_facts(page, row)), more),
        anchor=plain.anchor("outage", row.outage_id),
        tone=noun.tone,
        when=ui.At(row.down_at),
        badges=ui.badges(row.intent, row.confidence),
        cost=f"away for {length}{elections}" if length else f"not seen back{elections}",
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


def _outage_facts(page: PageRows, row: BrokerOutage) -> Iterator[str]:
    if row.partitions_led_before is not None:
        yield f"led {words.counted(row.partitions_led_before, 'partition')} before"
    if row.elections is not None:
        yield words.counted(row.elections, "leader change")
    if row.isr_shrinks:
        yield f"out of in-sync replica sets {words.times(row.isr_shrinks)}"
    if moves := page.rows_of(CoordinatorMove, "outage_id", row.outage_id):
        yield f"{words.counted(len(moves), 'group')} moved to another coordinator"
    if row.rebalances is not None:
        yield f"it caused {words.counted(row.rebalances, 'rebalance')}"
    if row.partition_seconds:
        yield f"at most {words.number(row.partition_seconds)} partition-seconds stopped"
    if row.last_heard_at is None:
        yield "its own log was not read; the logs of others show it"


def _relations(page: PageRows, row: BrokerOutage) -> Iterator[ui.Block]:
    if row.group_ids:
        groups = ui.names([plain.shortened(g) for g in row.group_ids], GROUPS)
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


def _out_of_sync(page: PageRows, row: OutOfSyncPeriod) -> DatedEntry:
    noun, facts = row.kind.noun, list(_out_of_sync_facts(row))
    topics = [plain.shortened(t) for t in row.worst_topics[:TOPICS]]
    more = (*ui.note("Topics, the longest without it first:", topics), *((ui.names(topics, TOPICS),) if topics else ()))
    return row.started_at, ui.Entry(
        f"Broker {row.broker} out of sync for {words.counted(row.partitions, 'partition')}: {noun.label}",
        period_blocks(page, row, (row.started_at, row.ended_at), facts, more),
        anchor=plain.anchor("outofsync", row.out_of_sync_period_id),
        tone=noun.tone,
        when=ui.At(row.started_at),
        badges=(ui.confidence_badge(row.confidence),),
        cost=facts[0] if row.ended_at else f"{_open_end(row)}; {facts[0]}",
    )


def _open_end(row: OutOfSyncPeriod) -> str:
    return "not known whether over" if row.observed_until else "not over"


def _out_of_sync_facts(row: OutOfSyncPeriod) -> Iterator[str]:
    yield f"{words.duration(row.partition_ms)} out of sync, summed over partitions"
    if row.partitions_out:
        without = "not shown to have it back" if row.observed_until else "still without it"
        yield f"{words.counted(row.partitions_out, 'partition')} {without}"
    if row.flaps:
        yield f"lost again {words.times(row.flaps)}"
    if row.records_behind is not None:
        yield f"up to {words.counted(row.records_behind, 'record')} behind"
    if row.removed_by_leader:
        leaders = words.listed([f"broker {b}" for b in row.removed_by_leader], at_most=6)
        yield f"removed by {leaders} because it lagged"
    if row.suspected_broker not in (None, row.broker):
        yield f"the trouble points to broker {row.suspected_broker}"


def _imbalance(page: PageRows, row: ImbalancePeriod) -> DatedEntry:
    facts = [
        f"{row.led_elsewhere} of {words.counted(row.preferred_partitions, 'partition')} led elsewhere at worst",
        words.counted(row.readings, "reading" if row.origin == Origin.SNAPSHOT else "instant in the logs"),
        *([f"started by: {row.started_by.noun.label}"] if row.started_by else []),
        *([f"ended by: {row.ended_by.noun.label}"] if row.ended_by else []),
    ]
    verb = "was" if row.ended_at else "is"
    return row.started_at, ui.Entry(
        f"Broker {row.broker} {verb} over the threshold of leader imbalance, at worst {words.percent(row.max_ratio)}",
        period_blocks(page, row, (row.started_at, row.ended_at), facts),
        anchor=plain.anchor("imbalance", row.imbalance_period_id),
        tone="broker" if row.ended_at else "lost",
        when=ui.At(row.started_at),
        cost=facts[0] if row.ended_at else f"not over; {facts[0]}",
    )


def imbalance_words(page: PageRows, broker: int) -> str:
    """How many of the partitions that a broker is preferred for others led: at the last reading, and at worst."""
    readings = page.rows_of(LeaderImbalance, "broker", broker)
    if not readings:
        return ""
    last, worst = readings[-1], max(readings, key=lambda r: r.ratio or 0.0)
    if last.over_threshold is None:
        return "not known: no line shows the first replica or the leader of some partitions"
    if last.ratio is None:
        return "preferred for none"
    share = f"{words.percent(last.ratio)} ({last.led_elsewhere} of {last.preferred_partitions} led elsewhere)"
    at_worst = f"{words.percent(worst.ratio)} at worst at {words.instant(worst.snapshot_at, page.day)}"
    return f"{share}, {at_worst}" if worst.ratio else share
