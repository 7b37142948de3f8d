"""Leader imbalance: how far each broker is from leading what it is preferred for, since when, and what healed it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise, takewhile

from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.model import BrokerImbalance, Evidence
from spark_jobs.report.model_cluster import Balance, Imbalance, ImbalancePeriod
from spark_jobs.report.page_rows import Night, Row

CURVE_POINTS = 240
SPELLS_TOLD = 60


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
    return Imbalance(
        _imbalance_says(night, brokers),
        len(readings),
        max(readings, default=None),
        tuple(brokers),
        _spells(night),
        _balances(night),
    )


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


def _spells(night: Night) -> tuple[ImbalancePeriod, ...]:
    """Spells over the gate: those that last before those that are over, then the worst first."""
    rows = sorted(
        night.rows("gold.imbalance_periods"),
        key=lambda r: (r["ended_at"] is not None, -r["max_ratio"], r["started_at"], r["broker"]),
    )
    return tuple(_spell(night, row) for row in rows[:SPELLS_TOLD])


def _spell(night: Night, row: Row) -> ImbalancePeriod:
    lasts, worst = row["ended_at"] is None, words.percent(row["max_ratio"])
    begun = row["started_by"] and f"tipped over by: {vocabulary.FAILOVER_LABELS[row['started_by']]}"
    healed = row["ended_by"] and f"ended by: {row['ended_by'].replace('_', ' ')}"
    facts = (
        f"{row['led_elsewhere']} of {words.counted(row['preferred_partitions'], 'partition')} led elsewhere at worst",
        words.counted(row["readings"], "reading"),
        begun,
        healed,
    )
    return ImbalancePeriod(
        anchor=plain.anchor("imbalance", row["imbalance_period_id"]),
        headline=f"Broker {row['broker']} {'is' if lasts else 'was'} over the gate, at worst {worst}",
        tone="lost" if lasts else "broker",
        since=row["started_at"],
        until=row["ended_at"],
        facts=tuple(f for f in facts if f),
        outage=night.outage_link(row["outage_id"]),
        explanation=row["explanation"],
        advice=row["advice"],
        evidence=night.evidence(row),
    )


def _balances(night: Night) -> tuple[Balance, ...]:
    """Every scope at the last reading."""
    rows = night.rows("gold.leader_balance")
    last = max((row["snapshot_at"] for row in rows), default=None)
    return tuple(
        Balance(
            scope=plain.shortened(row["scope"].replace("_", " ", 1) if ":" not in row["scope"] else row["scope"]),
            partitions=row["partitions"],
            non_preferred=words.percent(row["non_preferred_share"]),
            spread=words.percent(row["leader_spread"]),
            excess=words.percent(row["leader_excess"]),
            brokers_off=f"{row['brokers_off_band']} of {row['brokers']}",
            coordinators=words.percent(row["coordinator_spread"]),
            groups=words.percent(row["group_spread"]),
        )
        for row in sorted(rows, key=lambda r: r["scope"])
        if row["snapshot_at"] == last
    )
