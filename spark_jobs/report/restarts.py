"""Rolling restarts, changes of the controller, replicas that fell out of sync: each broker's trouble told once."""

from __future__ import annotations

from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.model import Link
from spark_jobs.report.model_cluster import Controller, OutOfSyncPeriod, Restart, Stop
from spark_jobs.report.page_rows import Night, Row

LAPSES_TOLD = 60


def restarts(night: Night) -> tuple[Restart, ...]:
    """The rolling restarts, in order of time."""
    rows = sorted(night.rows("gold.rolling_restarts"), key=lambda r: (r["started_at"], r["restart_id"]))
    return tuple(_restart(night, row) for row in rows)


def restart_link(night: Night, restart_id: str | None) -> Link | None:
    """The way to a rolling restart; None where it is not in this window."""
    known = {row["restart_id"] for row in night.rows("gold.rolling_restarts")}
    return (
        Link("a rolling restart", plain.anchor("restart", restart_id)) if restart_id in known and restart_id else None
    )


def _restart(night: Night, row: Row) -> Restart:
    whole = "The cluster" if row["is_complete"] else words.counted(len(row["brokers"]), "broker")
    early = [s["broker"] for s in row["scorecard"] if s["is_early"]]
    facts = (
        words.counted(row["elections"], "leader change"),
        words.counted(row["rebalances"], "rebalance"),
        f"{words.counted(row['max_under_replicated'], 'partition')} short of a replica at worst",
        "each broker was back in every ISR before the next one was stopped"
        if all(s["is_early"] is False for s in row["scorecard"][1:])
        else f"stopped too early: {words.listed([f'broker {b}' for b in early])}"
        if early
        else "",
    )
    return Restart(
        anchor=plain.anchor("restart", row["restart_id"]),
        headline=f"{whole} {words.verb(len(row['brokers']) if not row['is_complete'] else 1, 'was', 'were')} restarted"
        f" broker by broker: {words.listed([str(b) for b in row['brokers']], at_most=12)}",
        planned=row["planned"],
        confidence=row["confidence"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        facts=tuple(f for f in facts if f),
        stops=tuple(_stop(night, s) for s in row["scorecard"]),
        explanation=row["explanation"],
        advice=row["advice"],
        evidence=night.evidence(row),
    )


def _stop(night: Night, score: Row) -> Stop:
    return Stop(
        broker=score["broker"],
        outage=night.outage_link(score["outage_id"]),
        kind=vocabulary.OUTAGE_LABELS.get(score["kind"], ""),
        down_at=score["down_at"],
        gone_ms=words.elapsed_ms(score["down_at"], score["up_at"]),
        isr_recovered_ms=score["isr_recovered_ms"],
        leadership_restored_ms=score["leadership_restored_ms"],
        is_early=score["is_early"],
        led_before=score["partitions_led_before"],
        elections=score["elections"],
    )


def controllers(night: Night) -> tuple[Controller, ...]:
    """Who became the controller, in order of epoch."""
    return tuple(
        Controller(
            anchor=controller_anchor(row),
            at=row["happened_at"],
            change=f"{words.leader(row['controller_from'])} → {words.leader(row['controller_to'])}",
            epoch=row["epoch"],
            outage=night.outage_link(row["outage_id"]),
            confidence=row["confidence"],
            explanation=row["explanation"],
            evidence=night.evidence(row),
        )
        for row in sorted(night.rows("gold.controller_changes"), key=lambda r: r["epoch"])
    )


def controller_anchor(row: Row) -> str:
    """The address of a change of the controller."""
    return plain.anchor("controller", f"epoch {row['epoch']}")


def out_of_sync_periods(night: Night) -> tuple[OutOfSyncPeriod, ...]:
    """Who was out of sync: who was slow before who was away, then by the time that partitions were without it."""
    order = list(vocabulary.OUT_OF_SYNC_LABELS)
    rows = sorted(
        night.rows("gold.out_of_sync_periods"),
        key=lambda r: (order.index(r["kind"]), -r["partition_ms"], r["started_at"], r["out_of_sync_period_id"]),
    )
    return tuple(_lapse(night, row) for row in rows[:LAPSES_TOLD])


def _lapse(night: Night, row: Row) -> OutOfSyncPeriod:
    suspect = row["suspected_broker"]
    facts = (
        f"{words.duration(row['partition_ms'])} of partitions without it, summed",
        row["partitions_out"] and f"{words.counted(row['partitions_out'], 'partition')} still without it",
        row["flaps"] and f"lost again {words.times(row['flaps'])}",
        row["records_behind"] is not None and f"up to {words.counted(row['records_behind'], 'record')} behind",
        row["removed_by_leader"]
        and f"dropped by {words.listed([f'broker {b}' for b in row['removed_by_leader']], at_most=6)} since it lagged",
        suspect is not None and suspect != row["broker"] and f"the trouble points to broker {suspect}",
    )
    partitions = words.counted(row["partitions"], "partition")
    return OutOfSyncPeriod(
        anchor=plain.anchor("outofsync", row["out_of_sync_period_id"]),
        headline=f"Broker {row['broker']} out of sync for {partitions}: {vocabulary.OUT_OF_SYNC_LABELS[row['kind']]}",
        tone=vocabulary.TONE_OF_LAPSE[row["kind"]],
        confidence=row["confidence"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        facts=tuple(f for f in facts if isinstance(f, str) and f),
        topics=tuple(plain.shortened(t) for t in row["worst_topics"][:12]),
        outage=night.outage_link(row["outage_id"]),
        explanation=row["explanation"],
        advice=row["advice"],
        evidence=night.evidence(row),
    )
