"""The picture of the night: lanes on one axis of time, so that a cause is seen above its effects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.marks import Span, items, marks, tallied, ticks
from spark_jobs.report.page import Lane, Timeline
from spark_jobs.report.page_rows import Night, Row, outage_words
from spark_jobs.report.restarts import controller_anchor

BROKER_LANES = 12
PARTITION_LANES = 8
GROUP_LANES = 24
FOCUS_PARTS = 200

_AS_ASKED = ("controlled_shutdown", "preferred_election", "reassignment")


def timeline(night: Night) -> Timeline:
    """The controller, the brokers, the partitions and the groups as lanes, those in the most trouble first."""
    brokers, brokers_left_out = _broker_lanes(night)
    partitions, partitions_left_out = _partition_lanes(night)
    groups, groups_left_out = _group_lanes(night)
    absences = [_absence(night, row) for row in night.outages.values()]
    return Timeline(
        begins=night.window[0],
        ends=night.window[1],
        ticks=ticks(*night.window),
        bands=tuple(mark for absence in absences for mark in marks(night, [absence])),
        absences=items(night, absences),
        lanes=(*_controller_lane(night), *brokers, *partitions, *groups),
        left_out=tuple(s for s in (brokers_left_out, partitions_left_out, groups_left_out) if s),
        focus=_focus(night),
    )


def _focus(night: Night) -> float:
    """The middle of the part of the axis in which most rebalances began, in percent."""
    slots = Counter(
        min(FOCUS_PARTS - 1, int(night.place(r["started_at"]) * FOCUS_PARTS / 100)) for r in night.rebalances
    )
    if not slots:
        return 50.0
    return round(100 * (min(slots, key=lambda slot: (-slots[slot], slot)) + 0.5) / FOCUS_PARTS, 3)


def _lane(night: Night, kind: str, label: str, note: str, says: str, anchor: str, spans: Sequence[Span]) -> Lane:
    return Lane(kind, label, note, says, anchor, marks(night, spans), items(night, spans))


def _controller_lane(night: Night) -> tuple[Lane, ...]:
    rows = sorted(night.rows("gold.controller_changes"), key=lambda r: r["epoch"])
    if not rows:
        return ()
    spans = [_controller_span(night, row) for row in rows]
    note = words.counted(len(rows), "change")
    said = words.listed([s.says for s in spans], 6)
    return (_lane(night, "controller", "Controller", note, f"{note}: {said}", spans[0].anchor, spans),)


def _controller_span(night: Night, row: Row) -> Span:
    at, short = row["happened_at"], f"node {row['controller_to']} became the controller"
    return Span(
        "tick", at, at, "protocol", False, f"{words.instant(at, night.day)}: {short}", short, controller_anchor(row)
    )


def _broker_lanes(night: Night) -> tuple[list[Lane], str]:
    outages: defaultdict[int, list[Row]] = defaultdict(list)
    for row in night.outages.values():
        outages[row["broker"]].append(row)
    failovers: defaultdict[int, list[Row]] = defaultdict(list)
    for row in night.rows("gold.failovers"):
        # A change of leader stands with the broker that lost it; a partition that had none, with the one that took it.
        lost, took = row["leader_from"], row["leader_to"]
        broker = took if lost in (None, -1) else lost
        if broker is not None and broker >= 0:
            failovers[broker].append(row)
    out_of_sync_periods: defaultdict[int, list[Row]] = defaultdict(list)
    for row in night.rows("gold.out_of_sync_periods"):
        # One that an outage explains lasts as long as the tail of that outage.
        if row["outage_id"] is None:
            out_of_sync_periods[row["broker"]].append(row)
    known = {
        *outages,
        *failovers,
        *out_of_sync_periods,
        *(row["broker"] for row in night.rows("gold.leader_imbalance")),
    }
    worst = sorted(known, key=lambda b: (-len(outages[b]), -len(out_of_sync_periods[b]), -len(failovers[b]), b))
    lanes = [
        _broker_lane(night, b, outages[b], out_of_sync_periods[b], failovers[b]) for b in sorted(worst[:BROKER_LANES])
    ]
    rest = worst[BROKER_LANES:]
    return lanes, f"{words.counted(len(rest), 'broker')} with fewer outages and leader changes" if rest else ""


def _broker_lane(
    night: Night, broker: int, outages: Sequence[Row], out_of_sync_periods: Sequence[Row], failovers: Sequence[Row]
) -> Lane:
    absences = [_absence(night, row) for row in outages]
    recoveries = [span for row in outages if (span := _recovery(night, row))]
    behind = [_lapse_span(night, row) for row in out_of_sync_periods]
    changes = [_failover_span(night, row, "tick") for row in failovers]
    notes = []
    if outages:
        notes.append(words.counted(len(outages), "outage"))
    if out_of_sync_periods:
        notes.append(f"out of sync {words.times(len(out_of_sync_periods))}")
    if failovers:
        notes.append(words.counted(len(failovers), "leader change"))
    told = (*absences, *behind)
    says = "; ".join([*(span.says for span in told[:6]), *notes]) or "nothing happened to it"
    anchor = told[0].anchor if told else ""
    spans = (*recoveries, *told, *changes)
    return _lane(night, "broker", f"Broker {broker}", ", ".join(notes) or "undisturbed", says, anchor, spans)


def _absence(night: Night, row: Row) -> Span:
    gone = words.elapsed_ms(row["down_at"], row["up_at"])
    back = f"back after {words.duration(gone)}" if gone is not None else "not back in this window"
    said = f"{words.instant(row['down_at'], night.day)}: {words.sentence(outage_words(row))}, {back}"
    return _outage_span(row, "bar", row["down_at"], row["up_at"] or night.window[1], said)


def _recovery(night: Night, row: Row) -> Span | None:
    whole = [at for at in (row["leadership_restored_at"], row["isr_recovered_at"]) if at]
    if not row["up_at"] or not whole:
        return None
    said = f"Broker {row['broker']} recovers until {words.instant(max(whole), night.day)}"
    return _outage_span(row, "tail", row["up_at"], max(*whole, row["up_at"]), said)


def _lapse_span(night: Night, row: Row) -> Span:
    """A broker that was alive and out of sync."""
    short = f"out of sync: {vocabulary.OUT_OF_SYNC_LABELS[row['kind']]}"
    start, end = row["started_at"], row["ended_at"] or night.window[1]
    lasted = words.duration(words.elapsed_ms(start, row["ended_at"])) or "to the end of the window"
    says = f"{words.instant(start, night.day)}, {lasted}: {short}"
    anchor = plain.anchor("outofsync", row["out_of_sync_period_id"])
    return Span("tail", start, end, vocabulary.TONE_OF_LAPSE[row["kind"]], False, says, short, anchor)


def _outage_span(row: Row, shape: str, start: datetime, end: datetime, says: str) -> Span:
    tone, anchor = vocabulary.TONE_OF_OUTAGE[row["kind"]], plain.anchor("outage", row["outage_id"])
    return Span(shape, start, end, tone, row["planned"], says, vocabulary.OUTAGE_LABELS[row["kind"]], anchor)


def _failover_span(night: Night, row: Row, shape: str) -> Span:
    short = vocabulary.FAILOVER_LABELS[row["kind"]]
    at = row["happened_at"]
    whose = f"{plain.shortened(row['topic'], 48)}-{row['partition']}"
    return Span(
        shape,
        at,
        at,
        vocabulary.TONE_OF_FAILOVER[row["kind"]],
        row["kind"] in _AS_ASKED,
        f"{words.instant(at, night.day)}: {whose} {short}",
        short,
        plain.anchor("failover", row["failover_id"]),
    )


def _partition_lanes(night: Night) -> tuple[list[Lane], str]:
    """Partitions that were without a leader or lost records, those longest without one first."""
    by_partition: defaultdict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in night.failovers:
        by_partition[row["topic"], row["partition"]].append(row)
    hurt = {p: rows for p, rows in by_partition.items() if any(_hurts(row) for row in rows)}
    leaderless = {p: sum(row["leaderless_ms"] or 0 for row in rows) for p, rows in hurt.items()}
    lossy = {p: any(row["kind"] == "unclean_election" for row in rows) for p, rows in hurt.items()}
    worst = sorted(hurt, key=lambda p: (not lossy[p], -leaderless[p], p))
    rest = len(worst) - PARTITION_LANES
    left_out = f"{words.counted(rest, 'partition')} that had no leader for a shorter time" if rest > 0 else ""
    return [_partition_lane(night, p, hurt[p], leaderless[p]) for p in worst[:PARTITION_LANES]], left_out


def _hurts(failover: Row) -> bool:
    return vocabulary.TONE_OF_FAILOVER[failover["kind"]] == "lost"


def _partition_lane(night: Night, partition: tuple[str, int], rows: Sequence[Row], leaderless: int) -> Lane:
    topic, number = partition
    gaps = [span for row in rows if (span := _leaderless(night, row))]
    changes = [_failover_span(night, row, "tick") for row in rows]
    note = words.counted(len(rows), "leader change")
    said = f", {words.duration(leaderless)} without a leader" if leaderless else ""
    causes = Counter(vocabulary.FAILOVER_LABELS[row["kind"]] for row in rows)
    return _lane(
        night,
        "partition",
        f"{plain.shortened(topic, 48)}-{number}",
        f"{note}{said}",
        f"{note}{said}: {tallied(causes)}",
        changes[0].anchor,
        (*gaps, *changes),
    )


def _leaderless(night: Night, row: Row) -> Span | None:
    """The time without a leader that a change ended."""
    if row["leader_to"] == -1 or not row["leaderless_ms"]:
        return None
    end = row["happened_at"]
    start = end - timedelta(milliseconds=row["leaderless_ms"])
    said = f"{words.instant(start, night.day)}: without a leader for {words.duration(row['leaderless_ms'])}"
    return Span(
        "bar", start, end, "lost", False, said, "without a leader", plain.anchor("failover", row["failover_id"])
    )


def _group_lanes(night: Night) -> tuple[list[Lane], str]:
    by_group = night.rebalances_of_group

    def trouble(group: str) -> tuple[object, ...]:
        unplanned = [row for row in by_group[group] if not night.is_planned(row)]
        return -len(unplanned), -len(by_group[group]), -sum(r["duration_ms"] or 0 for r in by_group[group]), group

    worst = sorted(by_group, key=trouble)
    rest = worst[GROUP_LANES:]
    left_out = ""
    if rest:
        count = sum(len(by_group[group]) for group in rest)
        left_out = f"{words.counted(len(rest), 'group')} with fewer rebalances, {words.number(count)} in all"
    return [_group_lane(night, group, by_group[group]) for group in worst[:GROUP_LANES]], left_out


def _group_lane(night: Night, group: str, rows: Sequence[Row]) -> Lane:
    note = words.counted(len(rows), "rebalance")
    first, last = rows[0]["started_at"], rows[-1]["started_at"]
    when = (
        f"at {words.instant(first, night.day)}"
        if len(rows) == 1
        else f"from {words.instant(first, night.day)} to {words.instant(last, night.day)}"
    )
    causes = Counter(vocabulary.CAUSE_LABELS[row["cause"]] for row in rows)
    spans = [_rebalance_span(night, row) for row in rows]
    says = f"{note} {when}: {tallied(causes)}"
    return _lane(night, "group", plain.shortened(group, 64), note, says, spans[0].anchor, spans)


def _rebalance_span(night: Night, row: Row) -> Span:
    short = vocabulary.CAUSE_LABELS[row["cause"]]
    lasted = f", {words.duration(row['duration_ms'])}" if row["duration_ms"] is not None else ""
    return Span(
        "bar",
        row["started_at"],
        row["ended_at"] or row["started_at"],
        vocabulary.TONE_OF_CAUSE[row["cause"]],
        night.is_planned(row),
        f"{words.instant(row['started_at'], night.day)}{lasted}: {short}",
        short,
        plain.anchor("rebalance", row["rebalance_id"]),
    )
