"""Timeline: lanes on one axis of time, so that a cause is seen above its effects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import NOBODY, FailoverKind, Urgency
from kafka_hindsight.catalog.nouns.tones import Tone
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    ControllerChange,
    Failover,
    Incident,
    LeaderImbalance,
    OutOfSyncPeriod,
    Rebalance,
)
from kafka_hindsight.knowledge.outage_words import noun_of
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.blocks import Lane, Span, TimelinePicture
from kafka_hindsight.report.curves import curves
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import controller_anchor, empty_sentence, outage_words
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

BROKER_LANES = 12
PARTITION_LANES = 8
GROUP_LANES = 24

NOTE = (
    "On a broker's lane, its absence is above and below it each change of leader; the thin tail lasts until it is in"
    " every ISR and leads again; a thin line alone is a broker that was alive and out of sync. A curve counts what rows"
    " show: a replica that was out of sync before the window began, and a rebalance without a known end, are not in it."
    " Shaded columns are the absences of brokers, through all lanes: what they caused is below them."
)


def timeline(page: PageRows) -> Iterator[ui.Block]:
    """The controller, the brokers, the partitions and the groups as lanes, those in the most trouble first."""
    brokers, brokers_left_out = _broker_lanes(page)
    partitions, partitions_left_out = _topic_lanes(page)
    groups, groups_left_out = _group_lanes(page)
    absences = [absence(page, row) for row in page.of(BrokerOutage)]
    lanes = (*_controller_lane(page), *brokers, *partitions, *groups)
    if not lanes:
        yield ui.Paragraph(
            empty_sentence(
                page,
                "Nothing happened that could be drawn.",
                "Nothing to be drawn",
            )
        )
        return
    tones = {span.tone for lane in lanes for span in lane.spans}
    worst = next((i for i in figures.ranked(page.of(Incident)) if figures.needs(i) is not Urgency.CALM), None)
    yield TimelinePicture(
        *page.window,
        absences=absences,
        curves=tuple(curves(page)),
        lanes=lanes,
        left_out=tuple(s for s in (brokers_left_out, partitions_left_out, groups_left_out) if s),
        # Where the most harmful incident lies on the axis, in percent; without one the middle.
        focus=round(page.place(worst.started_at), 3) if worst else 50.0,
        legend=tuple((tone, tone.meaning) for tone in Tone if tone in tones),
        note=NOTE,
    )


def _controller_lane(page: PageRows) -> tuple[Lane, ...]:
    rows = page.of(ControllerChange)
    if not rows:
        return ()
    spans = []
    for row in rows:
        at, sentence = row.happened_at, f"node {row.controller_to} became the controller"
        short = "no controller" if row.controller_to == NOBODY else sentence
        text = f"{words.instant(at, page.day)}: {short}"
        spans.append(Span("tick", at, at, "protocol", text, short, controller_anchor(row)))
    note = words.counted(len(rows), "change")
    text = words.listed([s.says for s in spans], 6)
    return (Lane("controller", "Controller", note, f"{note}: {text}", spans[0].anchor, spans),)


def _broker_lanes(page: PageRows) -> tuple[list[Lane], str]:
    outages = grouped(page.of(BrokerOutage), lambda r: r.broker)
    failovers: defaultdict[int, list[Failover]] = defaultdict(list)
    for row in page.of(Failover):
        # A change of leader stands with the broker that lost it; a partition that had none, with the one that took it.
        broker = row.leader_to if row.leader_from in (None, NOBODY) else row.leader_from
        if broker is not None and broker >= 0:
            failovers[broker].append(row)
    # A period that an outage explains lasts as long as the tail of that outage.
    out_of_sync = grouped((r for r in page.of(OutOfSyncPeriod) if r.outage_id is None), lambda r: r.broker)
    brokers = {*outages, *failovers, *out_of_sync, *(row.broker for row in page.of(LeaderImbalance))}
    trouble = {b: tuple(len(rows.get(b, ())) for rows in (outages, out_of_sync, failovers)) for b in brokers}
    worst = sorted(brokers, key=lambda b: (*(-count for count in trouble[b]), b))
    lanes = [
        _broker_lane(page, b, outages.get(b, ()), out_of_sync.get(b, ()), failovers.get(b, ()))
        for b in sorted(worst[:BROKER_LANES])
    ]
    hidden = worst[BROKER_LANES:]
    return lanes, f"{words.counted(len(hidden), 'broker')} with fewer outages and leader changes" if hidden else ""


def _broker_lane(
    page: PageRows,
    broker: int,
    outages: Sequence[BrokerOutage],
    out_of_sync: Sequence[OutOfSyncPeriod],
    failovers: Sequence[Failover],
) -> Lane:
    recoveries = [span for row in outages if (span := _recovery(page, row))]
    periods = [*(absence(page, row) for row in outages), *(_out_of_sync_span(page, row) for row in out_of_sync)]
    changes = [_failover_span(page, row) for row in failovers]
    # How often it was away or out of sync, and how often leaders changed: what did not happen is left out.
    absences, count = figures.absences(outages), len(out_of_sync)
    notes = (
        (absences.sudden, words.counted(absences.sudden, "absence")),
        (absences.orderly, words.counted(absences.orderly, "shutdown")),
        (count, f"out of sync {words.times(count)}"),
    )
    troubles = [note for times, note in notes if times]
    change_count = [words.counted(len(failovers), "leader change")] if failovers else []
    sentence = "; ".join([*(span.says for span in periods[:6]), *troubles, *change_count]) or "nothing happened to it"
    anchor = plain.anchor("broker", str(broker))
    spans = (*recoveries, *periods, *changes)
    summary = ", ".join(troubles or change_count) or "undisturbed"
    return Lane("broker", f"Broker {broker}", summary, sentence, anchor, spans)


def absence(page: PageRows, row: BrokerOutage) -> Span:
    """The absence of a broker as a span."""
    length_ms = words.elapsed_ms(row.down_at, row.up_at)
    back = f"back after {words.duration(length_ms)}" if length_ms is not None else "not seen back in this window"
    text = f"{words.instant(row.down_at, page.day)}: {words.sentence(outage_words(row))}, {back}"
    return _outage_span(row, "bar", row.down_at, row.up_at or page.window[1], text)


def _recovery(page: PageRows, row: BrokerOutage) -> Span | None:
    ends = [at for at in (row.leadership_restored_at, row.isr_recovered_at) if at]
    if not row.up_at or not ends:
        return None
    text = f"Broker {row.broker} recovers until {words.instant(max(ends), page.day)}"
    return _outage_span(row, "tail", row.up_at, max(*ends, row.up_at), text)


def _out_of_sync_span(page: PageRows, row: OutOfSyncPeriod) -> Span:
    """A broker that was alive and out of sync."""
    short = f"out of sync: {row.kind.noun.label}"
    start, end = row.started_at, row.ended_at or row.observed_until or page.window[1]
    lasting = "to an end that the logs do not show" if row.observed_until else "to the end of the window"
    length = words.duration(words.elapsed_ms(start, row.ended_at)) or lasting
    sentence = f"{words.instant(start, page.day)}, {length}: {short}"
    anchor = plain.anchor("outofsync", row.out_of_sync_period_id)
    return Span("tail", start, end, row.kind.noun.tone, sentence, short, anchor)


def _outage_span(row: BrokerOutage, shape: str, start: datetime, end: datetime, sentence: str) -> Span:
    noun, anchor = noun_of(row), plain.anchor("outage", row.outage_id)
    return Span(shape, start, end, noun.tone, sentence, noun.label, anchor)


def _failover_span(page: PageRows, row: Failover) -> Span:
    noun, at = row.kind.noun, row.happened_at
    sentence = f"{words.instant(at, page.day)}: {plain.shortened(row.topic, 48)}-{row.partition} {noun.label}"
    anchor = plain.anchor("topic", row.topic)
    return Span("tick", at, at, noun.tone, sentence, noun.label, anchor)


def _topic_lanes(page: PageRows) -> tuple[list[Lane], str]:
    """Topics whose partitions had no leader or lost records: losses first, then the longest."""
    losses = [row for row in page.of(Failover) if row.kind.noun.tone is Tone.LOST]
    places = {(row.topic, row.partition) for row in losses}
    by_topic = grouped((f for f in page.of(Failover) if (f.topic, f.partition) in places), lambda f: f.topic)

    def trouble(topic: str) -> tuple[object, ...]:
        changes = [f for f in losses if f.topic == topic]
        is_lossy = any(f.kind == FailoverKind.UNCLEAN_ELECTION for f in changes)
        return not is_lossy, -_longest(by_topic[topic]), topic

    worst = sorted(by_topic, key=trouble)
    hidden = len(worst) - PARTITION_LANES
    left_out = f"{words.counted(hidden, 'topic')} without a leader for a shorter time" if hidden > 0 else ""
    return [_topic_lane(page, topic, by_topic[topic]) for topic in worst[:PARTITION_LANES]], left_out


def _tally(labels: Iterable[str]) -> str:
    """Count labels, the most frequent first: `a member left (4) and a member joined (1)`."""
    ordered = sorted(Counter(labels).items(), key=lambda item: (-item[1], item[0]))
    return words.listed([f"{label} ({words.number(count)})" for label, count in ordered], at_most=5)


def _longest(rows: Sequence[Failover]) -> int:
    return max((row.leaderless_ms or 0 for row in rows), default=0)


def _topic_lane(page: PageRows, topic: str, rows: Sequence[Failover]) -> Lane:
    gaps = [span for row in rows if (span := _leaderless(page, row))]
    changes = [_failover_span(page, row) for row in rows]
    count = len({row.partition for row in rows})
    note = words.counted(count, "partition")
    longest = f", up to {words.duration(_longest(rows))}" if _longest(rows) else ""
    sentence = f"{note}{longest} without a leader: {_tally(row.kind.noun.label for row in rows)}"
    anchor = plain.anchor("topic", topic)
    return Lane("partition", plain.shortened(topic, 48), f"{note}{longest}", sentence, anchor, (*gaps, *changes))


def _leaderless(page: PageRows, row: Failover) -> Span | None:
    """The time without a leader that a change ended."""
    if row.leader_to == NOBODY or not row.leaderless_ms:
        return None
    start = row.happened_at - timedelta(milliseconds=row.leaderless_ms)
    text = f"{words.instant(start, page.day)}: without a leader for {words.duration(row.leaderless_ms)}"
    return Span("bar", start, row.happened_at, "lost", text, "without a leader", plain.anchor("topic", row.topic))


def _group_lanes(page: PageRows) -> tuple[list[Lane], str]:
    by_group = grouped(page.of(Rebalance), lambda r: r.group_id)

    def trouble(group: str) -> tuple[object, ...]:
        return -len(by_group[group]), -sum(r.duration_ms or 0 for r in by_group[group]), group

    worst = sorted(by_group, key=trouble)
    hidden = worst[GROUP_LANES:]
    count = words.number(sum(len(by_group[group]) for group in hidden))
    left_out = f"{words.counted(len(hidden), 'group')} with fewer rebalances, {count} in all" if hidden else ""
    return [_group_lane(page, group, by_group[group]) for group in worst[:GROUP_LANES]], left_out


def _group_lane(page: PageRows, group: str, rows: Sequence[Rebalance]) -> Lane:
    note = words.counted(len(rows), "rebalance")
    first, last = rows[0].started_at, rows[-1].started_at
    since, until = words.instant(first, page.day), words.instant(last, page.day)
    when = f"at {since}" if len(rows) == 1 else f"from {since} to {until}"
    spans = []
    for row in rows:
        noun, start = row.cause.noun, row.started_at
        length = f", {words.duration(row.duration_ms)}" if row.duration_ms is not None else ""
        text = f"{words.instant(start, page.day)}{length}: {noun.label}"
        anchor = page.rebalance_anchor(row)
        spans.append(Span("bar", start, row.ended_at or start, noun.family, text, noun.label, anchor))
    sentence = f"{note} {when}: {_tally(row.cause.noun.label for row in rows)}"
    return Lane("group", plain.shortened(group, 64), note, sentence, plain.anchor("group", group), spans)


SECTION = Section("timeline", 10, "timeline", "", timeline)
