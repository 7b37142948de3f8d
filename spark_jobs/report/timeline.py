"""The picture of the night: lanes on one axis of time, so that a cause is seen above its effects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.night import Night, Row, outage_words
from spark_jobs.report.page import Lane, Mark, Tick, Timeline

BROKER_LANES = 12
GROUP_LANES = 24
MARKS_PER_LANE = 300
# Marks nearer to each other than this part of the axis, in percent, are drawn as one.
NEAR = 0.05
TICKS_BY_LEVEL = (6, 16, 48, 192)
# Each divides the next, so that the ticks of a coarse level are ticks of the finer ones too.
_STEPS = (1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800)


@dataclass(frozen=True)
class _Span:
    """Something that lasted, before it is known how near its neighbours are."""

    start: datetime
    end: datetime
    tone: str
    is_planned: bool
    says: str
    short: str
    anchor: str


def timeline(night: Night) -> Timeline:
    """The controller, the brokers and the groups as lanes, those in the most trouble first."""
    brokers, brokers_left_out = _broker_lanes(night)
    groups, groups_left_out = _group_lanes(night)
    return Timeline(
        ticks=_ticks(*night.window),
        bands=tuple(_outage_mark(night, row, "bar") for row in night.outages.values()),
        lanes=(*_controller_lane(night), *brokers, *groups),
        left_out=tuple(s for s in (brokers_left_out, groups_left_out) if s),
        focus=_focus(night),
    )


def _ticks(first: datetime, end: datetime) -> tuple[Tick, ...]:
    """Round instants. A coarser step has the lower level, so that a small screen can leave out the finer ones."""
    span = (end - first).total_seconds()
    if span <= 0:
        return ()
    steps = [next((s for s in _STEPS if span / s <= limit), _STEPS[-1]) for limit in TICKS_BY_LEVEL]
    midnight = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    at = midnight + timedelta(seconds=steps[-1] * -(-(first - midnight).total_seconds() // steps[-1]))
    ticks = []
    while at <= end:
        offset = int((at - midnight).total_seconds())
        level = next((i for i, step in enumerate(steps) if offset % step == 0), None)
        if level is not None:
            ticks.append(Tick(round(100 * (at - first).total_seconds() / span, 3), _tick_label(at), level))
        at += timedelta(seconds=steps[-1])
    return tuple(ticks)


def _tick_label(at: datetime) -> str:
    if at.hour == at.minute == at.second == 0:
        return f"{at:%m-%d}"
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def _focus(night: Night) -> float:
    """The middle of the axis' twentieth in which most rebalances began."""
    slots = Counter(min(19, int(night.place(row["started_at"]) // 5)) for row in night.rebalances)
    if not slots:
        return 50.0
    return min(slots, key=lambda slot: (-slots[slot], slot)) * 5 + 2.5


def _controller_lane(night: Night) -> tuple[Lane, ...]:
    rows = sorted(night.rows("gold.controller_changes"), key=lambda r: r["epoch"])
    if not rows:
        return ()
    spans = [
        _Span(
            row["happened_at"],
            row["happened_at"],
            "protocol",
            False,
            f"{words.instant(row['happened_at'], night.day)}: node {row['controller_to']} became the controller",
            f"node {row['controller_to']} became the controller",
            "",
        )
        for row in rows
    ]
    note = words.counted(len(rows), "change")
    return (
        Lane(
            "controller",
            "Controller",
            note,
            f"{note}: {words.listed([s.says for s in spans], 6)}",
            "",
            _marks(night, spans, "tick"),
        ),
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
    known = {*outages, *failovers, *(row["broker"] for row in night.rows("gold.leader_imbalance"))}
    worst = sorted(known, key=lambda b: (-len(outages[b]), -len(failovers[b]), b))
    lanes = [_broker_lane(night, b, outages[b], failovers[b]) for b in sorted(worst[:BROKER_LANES])]
    rest = worst[BROKER_LANES:]
    return lanes, f"{words.counted(len(rest), 'broker')} with fewer outages and leader changes" if rest else ""


def _broker_lane(night: Night, broker: int, outages: Sequence[Row], failovers: Sequence[Row]) -> Lane:
    tails = [
        _outage_mark(night, row, "tail")
        for row in outages
        if row["up_at"] and (row["leadership_restored_at"] or row["isr_recovered_at"])
    ]
    bars = [_outage_mark(night, row, "bar") for row in outages]
    ticks = _marks(night, (_failover_span(night, row) for row in failovers), "tick")
    notes = []
    if outages:
        notes.append(words.counted(len(outages), "outage"))
    if failovers:
        notes.append(words.counted(len(failovers), "leader change"))
    says = "; ".join([*(mark.says for mark in bars[:6]), *notes]) or "nothing happened to it"
    anchor = plain.anchor("outage", outages[0]["outage_id"]) if outages else ""
    return Lane("broker", f"Broker {broker}", ", ".join(notes) or "undisturbed", says, anchor, (*tails, *bars, *ticks))


def _outage_mark(night: Night, row: Row, shape: str) -> Mark:
    end = row["up_at"] or night.window[1]
    start = row["down_at"]
    said = words.sentence(outage_words(row))
    gone = words.elapsed_ms(start, row["up_at"])
    says = f"{words.instant(start, night.day)}: {said}" + (
        f", back after {words.duration(gone)}" if gone is not None else ", not back in this window"
    )
    if shape == "tail":
        start, end = end, max(t for t in (row["leadership_restored_at"], row["isr_recovered_at"]) if t)
        says = f"Broker {row['broker']} recovers until {words.instant(end, night.day)}"
    tone, anchor = vocabulary.TONE_OF_OUTAGE[row["kind"]], plain.anchor("outage", row["outage_id"])
    return Mark(shape, *_extent(night, start, end), 0.0, 1.0, tone, row["planned"], says, anchor)


def _failover_span(night: Night, row: Row) -> _Span:
    short = vocabulary.FAILOVER_LABELS[row["kind"]]
    return _Span(
        row["happened_at"],
        row["happened_at"],
        vocabulary.TONE_OF_FAILOVER[row["kind"]],
        row["kind"] in ("controlled_shutdown", "preferred_election", "reassignment"),
        f"{words.instant(row['happened_at'], night.day)}: "
        f"{plain.shortened(row['topic'], 48)}-{row['partition']} {short}",
        short,
        plain.anchor("failover", row["failover_id"]),
    )


def _group_lanes(night: Night) -> tuple[list[Lane], str]:
    by_group: defaultdict[str, list[Row]] = defaultdict(list)
    for row in night.rebalances:
        by_group[row["group_id"]].append(row)

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
    return Lane(
        kind="group",
        label=plain.shortened(group, 64),
        note=note,
        says=f"{note} {when}: {_tallied(causes)}",
        anchor=plain.anchor("rebalance", rows[0]["rebalance_id"]),
        marks=_marks(night, (_rebalance_span(night, row) for row in rows), "bar"),
    )


def _rebalance_span(night: Night, row: Row) -> _Span:
    short = vocabulary.CAUSE_LABELS[row["cause"]]
    lasted = f", {words.duration(row['duration_ms'])}" if row["duration_ms"] is not None else ""
    return _Span(
        row["started_at"],
        row["ended_at"] or row["started_at"],
        vocabulary.TONE_OF_CAUSE[row["cause"]],
        night.is_planned(row),
        f"{words.instant(row['started_at'], night.day)}{lasted}: {short}",
        short,
        plain.anchor("rebalance", row["rebalance_id"]),
    )


def _marks(night: Night, spans: Iterable[_Span], shape: str) -> tuple[Mark, ...]:
    """Spans as marks. Those that lie too near to be told apart share one place, one above the other by tone."""
    ordered = sorted(spans, key=lambda s: (s.start, s.anchor))
    near = NEAR
    while len(clusters := _clusters(night, ordered, near)) > MARKS_PER_LANE:
        near *= 2
    return tuple(mark for cluster in clusters for mark in _stack(night, cluster, shape))


def _clusters(night: Night, spans: Sequence[_Span], near: float) -> list[list[_Span]]:
    clusters: list[list[_Span]] = []
    end = 0.0
    for span in spans:
        if clusters and night.place(span.start) <= end + near:
            clusters[-1].append(span)
            end = max(end, night.place(span.end))
        else:
            clusters.append([span])
            end = night.place(span.end)
    return clusters


def _stack(night: Night, cluster: Sequence[_Span], shape: str) -> Iterable[Mark]:
    by_tone: defaultdict[tuple[str, bool], list[_Span]] = defaultdict(list)
    for span in cluster:
        by_tone[span.tone, span.is_planned].append(span)
    top = 0.0
    for run in by_tone.values():
        height = len(run) / len(cluster)
        yield _mark(night, run, shape, top, height)
        top += height


def _mark(night: Night, run: Sequence[_Span], shape: str, top: float, height: float) -> Mark:
    first = run[0]
    left, width = _extent(night, first.start, max(span.end for span in run))
    says = first.says
    if len(run) > 1:
        causes = Counter(span.short for span in run)
        says = (
            f"{words.instant(first.start, night.day)} to {words.instant(run[-1].start, night.day)}: {_tallied(causes)}"
        )
    return Mark(shape, left, width, round(top, 3), round(height, 3), first.tone, first.is_planned, says, first.anchor)


def _extent(night: Night, start: datetime, end: datetime) -> tuple[float, float]:
    """Where something is drawn and how wide. What has no width at all a browser does not draw."""
    left = night.place(start)
    return round(left, 3), round(max(0.01, night.place(end) - left), 3)


def _tallied(counts: Counter[str]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return words.listed([f"{label} ({words.number(count)})" for label, count in ordered], at_most=5)
