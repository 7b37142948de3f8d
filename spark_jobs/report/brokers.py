"""Outages, failovers and leader imbalance: what the brokers went through."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.groups import incident_headline
from spark_jobs.report.model import Failover, FailoverGroup, Link, Outage, Step
from spark_jobs.report.page_rows import Night, Row, outage_words
from spark_jobs.report.restarts import restart_link

# The one moment of an outage that is told even where it did not come.
BACK = "Back"


def outages(night: Night) -> tuple[Outage, ...]:
    """The outages, unplanned ones first, then in order of time: one broker's trouble is told once."""
    rows = sorted(night.outages.values(), key=lambda r: r["planned"])
    return tuple(_outage(night, row) for row in rows)


def _outage(night: Night, row: Row) -> Outage:
    failovers = [f for f in night.rows("gold.failovers") if f["outage_id"] == row["outage_id"]]
    moments = (
        ("Gone", row["down_at"]),
        ("Out of reach of others", row["unreachable_at"] if row["unreachable_at"] != row["down_at"] else None),
        ("Noticed", row["detected_at"]),
        (BACK, row["up_at"]),
        ("In every ISR again", row["isr_recovered_at"]),
        ("Leads again what it led", row["leadership_restored_at"]),
    )
    facts = (
        row["partitions_led_before"] is not None
        and f"led {words.counted(row['partitions_led_before'], 'partition')} before",
        row["elections"] is not None and words.counted(row["elections"], "leader change"),
        row["isr_shrinks"] and f"out of in-sync replica sets {words.times(row['isr_shrinks'])}",
        _moves_say(night, row),
        f"{words.counted(len(row['group_ids']), 'group')} disturbed",
        row["rebalances"] and f"{words.counted(row['rebalances'], 'rebalance')} owed to it",
        row["partition_seconds"] and f"{words.number(row['partition_seconds'])} partition-seconds stopped",
        row["last_heard_at"] is None and "its own log is not at hand, others tell of it",
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
        facts=tuple(f for f in facts if isinstance(f, str) and f),
        group_ids=tuple(plain.shortened(g) for g in row["group_ids"]),
        restart=restart_link(night, row["restart_id"]),
        incidents=tuple(
            Link(incident_headline(night, i), plain.anchor("incident", i["incident_id"]))
            for i in night.incidents_of.get(row["outage_id"], ())
        ),
        failovers=_by_kind(night, failovers),
        explanation=row["explanation"],
        evidence=night.evidence(row),
    )


def _moves_say(night: Night, outage: Row) -> str:
    """How many groups changed their coordinator, and what that did to them."""
    moves = [m for m in night.rows("gold.coordinator_moves") if m["outage_id"] == outage["outage_id"]]
    if not moves:
        return ""
    effects = Counter(vocabulary.MOVE_LABELS[m["effect"]] for m in moves if m["effect"])
    told = [f"{words.number(count)} {label}" for label, count in sorted(effects.items())]
    said = f"{words.counted(len(moves), 'group')} moved to another coordinator"
    return f"{said} ({words.listed(told)})" if told else said


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
        change=f"{words.leader(row['leader_from'])} → {words.leader(row['leader_to'])}",
        epochs=f"{_known(row['epoch_from'])} → {_known(row['epoch_to'])}",
        leaderless=words.duration(row["leaderless_ms"])
        or words.between(row["leaderless_low_ms"], row["leaderless_high_ms"]),
        asked=vocabulary.ASKED_LABELS.get(row["requested_by_operator"], ""),
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


def _known(number: int | None) -> str:
    return "?" if number is None else str(number)


def _replicas(brokers: Sequence[int] | None) -> str:
    return "?" if brokers is None else "{" + ", ".join(map(str, brokers)) + "}"


def replication(night: Night) -> str:
    """In a sentence, how often the in-sync replicas changed."""
    changes = Counter(row["change"] for row in night.rows("gold.isr_changes"))
    if not changes:
        return ""
    shrank, expanded = (words.times(changes[change]) for change in ("shrink", "expand"))
    return f"In-sync replica sets shrank {shrank} and expanded {expanded}."
