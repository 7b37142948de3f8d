"""Outages, failovers and leader imbalance: what the brokers went through."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile

from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.groups import incident_headline
from spark_jobs.report.model import BrokerImbalance, Evidence, Failover, FailoverGroup, Imbalance, Link, Outage, Step
from spark_jobs.report.night import Night, Row, outage_words

CURVE_POINTS = 240
# The one moment of an outage that is told even where it did not come.
BACK = "Back"


def outages(night: Night) -> tuple[Outage, ...]:
    """The outages, unplanned ones first, then in order of time: one broker's trouble is told once."""
    rows = sorted(night.outages.values(), key=lambda r: r["planned"])
    return tuple(_outage(night, row) for row in rows)


def _outage(night: Night, row: Row) -> Outage:
    failovers = [f for f in night.rows("gold.failovers") if f["outage_id"] == row["outage_id"]]
    moves = sum(m["outage_id"] == row["outage_id"] for m in night.rows("gold.coordinator_moves"))
    moments = (
        ("Gone", row["down_at"]),
        ("Noticed", row["detected_at"]),
        (BACK, row["up_at"]),
        ("In every ISR again", row["isr_recovered_at"]),
        ("Leads again what it led", row["leadership_restored_at"]),
    )
    facts = (
        row["partitions_led_before"] is not None
        and f"led {words.counted(row['partitions_led_before'], 'partition')} before",
        row["elections"] is not None and words.counted(row["elections"], "leader change"),
        moves and f"{words.counted(moves, 'group')} moved to another coordinator",
        f"{words.counted(len(row['group_ids']), 'group')} disturbed",
    )
    return Outage(
        anchor=plain.anchor("outage", row["outage_id"]),
        broker=row["broker"],
        headline=words.sentence(outage_words(row)),
        kind=vocabulary.OUTAGE_LABELS[row["kind"]],
        tone=vocabulary.TONE_OF_OUTAGE[row["kind"]],
        planned=row["planned"],
        confidence=row["confidence"],
        gone_ms=words.elapsed_ms(row["down_at"], row["up_at"]),
        steps=tuple(
            Step(label, at, words.elapsed_ms(row["down_at"], at)) for label, at in moments if at or label == BACK
        ),
        facts=tuple(f for f in facts if isinstance(f, str)),
        group_ids=tuple(plain.shortened(g) for g in row["group_ids"]),
        incidents=tuple(
            Link(incident_headline(night, i), plain.anchor("incident", i["incident_id"]))
            for i in night.incidents_of.get(row["outage_id"], ())
        ),
        failovers=_by_kind(night, failovers),
        explanation=row["explanation"],
        evidence=night.evidence(row),
    )


def failovers(night: Night) -> tuple[FailoverGroup, ...]:
    """Failovers with no outage of this window behind them, by kind; those of an outage are told with it."""
    return _by_kind(night, [f for f in night.rows("gold.failovers") if f["outage_id"] not in night.outages])


def _by_kind(night: Night, rows: Iterable[Row]) -> tuple[FailoverGroup, ...]:
    by_kind: defaultdict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda r: (r["happened_at"], r["topic"], r["partition"], r["failover_id"])):
        by_kind[row["kind"]].append(row)
    return tuple(_failover_group(night, kind, by_kind[kind]) for kind in vocabulary.FAILOVER_LABELS if kind in by_kind)


def _failover_group(night: Night, kind: str, rows: Sequence[Row]) -> FailoverGroup:
    by_topic: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        by_topic[row["topic"]].append(row["partition"])
    named = [f"{plain.shortened(topic, 48)} {words.ranges(parts)}" for topic, parts in sorted(by_topic.items())]
    return FailoverGroup(
        title=f"{words.sentence(vocabulary.FAILOVER_LABELS[kind])}: {words.counted(len(rows), 'leader change')}",
        tone=vocabulary.TONE_OF_FAILOVER[kind],
        first_at=rows[0]["happened_at"],
        last_at=rows[-1]["happened_at"],
        partitions=words.listed(named, at_most=6),
        longest_leaderless_ms=max((r["leaderless_ms"] for r in rows if r["leaderless_ms"] is not None), default=None),
        failovers=tuple(_failover(night, row) for row in rows),
    )


def _failover(night: Night, row: Row) -> Failover:
    return Failover(
        anchor=plain.anchor("failover", row["failover_id"]),
        topic=plain.shortened(row["topic"]),
        partition=row["partition"],
        happened_at=row["happened_at"],
        change=f"{_leader(row['leader_from'])} → {_leader(row['leader_to'])}",
        epochs=f"{_known(row['epoch_from'])} → {_known(row['epoch_to'])}",
        leaderless_ms=row["leaderless_ms"],
        isr=f"{_replicas(row['isr_before'])} → {_replicas(row['isr_after'])}",
        lost=lost_records(row["records_lost_low"], row["records_lost_high"]),
        confidence=row["confidence"],
        explanation=row["explanation"],
        evidence=night.evidence(row),
    )


def lost_records(low: int | None, high: int | None) -> str:
    """How many records were lost, as far as it is known; empty where nothing can be lost."""
    if low is None and high is None:
        return ""
    if low == high:
        return words.counted(low or 0, "record")
    if high is None:
        return f"at least {words.counted(low or 0, 'record')}"
    return (
        f"{words.number(low)} to {words.counted(high, 'record')}" if low else f"up to {words.counted(high, 'record')}"
    )


def _leader(broker: int | None) -> str:
    return "nobody" if broker == -1 else _known(broker)


def _known(number: int | None) -> str:
    return "?" if number is None else str(number)


def _replicas(brokers: Sequence[int] | None) -> str:
    return "?" if brokers is None else "{" + ", ".join(map(str, brokers)) + "}"


def replication(night: Night) -> str:
    """In a sentence, how often the in-sync replicas changed and who became the controller."""
    changes = Counter(row["change"] for row in night.rows("gold.isr_changes"))
    said = []
    if changes:
        said.append(
            f"In-sync replica sets shrank {_times(changes['shrink'])} and expanded {_times(changes['expand'])}."
        )
    controllers = sorted(night.rows("gold.controller_changes"), key=lambda r: r["epoch"])
    if controllers:
        each = [f"node {c['controller_to']} at {words.instant(c['happened_at'], night.day)}" for c in controllers]
        said.append(f"The controller changed {_times(len(each))}: {words.listed(each, at_most=6)}.")
    return " ".join(said)


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{words.number(count)} times")


def imbalance(night: Night) -> Imbalance:
    """Leader imbalance of each broker, those over the threshold at the last reading first."""
    by_broker: defaultdict[int, list[Row]] = defaultdict(list)
    for row in sorted(night.rows("gold.leader_imbalance"), key=lambda r: (r["snapshot_at"], r["broker"])):
        by_broker[row["broker"]].append(row)
    readings = {row["snapshot_at"] for row in night.rows("gold.leader_imbalance")}
    brokers = sorted(
        (_broker_imbalance(night, rows) for rows in by_broker.values()),
        key=lambda b: (not b.is_over, -(b.worst_ratio or 0.0), b.broker),
    )
    return Imbalance(_imbalance_says(night, brokers), len(readings), max(readings, default=None), tuple(brokers))


def _imbalance_says(night: Night, brokers: Sequence[BrokerImbalance]) -> str:
    if not brokers:
        return "No snapshot of the cluster lies in this window, so nothing can be said about who leads what."
    over = [b for b in brokers if b.is_over]
    if over:
        since = [
            f"broker {b.broker} ({words.percent(b.ratio)}, since {words.instant(b.over_since, night.day)})"
            for b in over
        ]
        return f"Over the threshold at the last reading: {words.listed(since, at_most=6)}."
    was = [b for b in brokers if b.over_ms]
    if was:
        worst = [f"broker {b.broker} (up to {words.percent(b.worst_ratio)})" for b in was]
        had_been = words.listed(worst, at_most=6)
        return f"Nobody is over the threshold at the last reading; during the window {had_been} had been."
    return "No broker was over the threshold at any reading."


def _broker_imbalance(night: Night, rows: Sequence[Row]) -> BrokerImbalance:
    last = rows[-1]
    run = list(takewhile(lambda r: r["over_threshold"], reversed(rows)))
    worst = max(rows, key=lambda r: r["ratio"] or 0.0)
    over_ms = sum(
        words.elapsed_ms(a["snapshot_at"], b["snapshot_at"]) or 0.0 for a, b in pairwise(rows) if a["over_threshold"]
    )
    return BrokerImbalance(
        broker=last["broker"],
        ratio=last["ratio"],
        led_elsewhere=last["led_elsewhere"],
        preferred_partitions=last["preferred_partitions"],
        is_over=last["over_threshold"],
        over_since=run[-1]["snapshot_at"] if run else None,
        worst_ratio=worst["ratio"],
        worst_at=worst["snapshot_at"] if worst["ratio"] else None,
        over_ms=over_ms,
        curve=_curve(night, rows),
        evidence=night.evidence(worst) if worst["over_threshold"] else Evidence(()),
    )


def _curve(night: Night, rows: Sequence[Row]) -> tuple[tuple[float, float], ...]:
    # Of many readings that fall together the worst is drawn, so that no peak is lost.
    step = max(1, -(-len(rows) // CURVE_POINTS))
    kept = [max(rows[i : i + step], key=lambda r: r["ratio"] or 0.0) for i in range(0, len(rows), step)]
    return tuple((round(night.place(r["snapshot_at"]), 3), round(100 * (r["ratio"] or 0.0), 2)) for r in kept)
