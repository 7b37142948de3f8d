"""What a person should know of brokers and partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import FailoverKind, TruncationVerdict
from kafka_hindsight.catalog.rows import Finding, PartitionSnapshot, Quote, Truncation, Unavailability
from kafka_hindsight.judgements.findings.facts import Facts, finding_of
from kafka_hindsight.judgements.findings.replicas import missing_brokers
from kafka_hindsight.judgements.incidents.headlines import fate
from kafka_hindsight.judgements.reasoning.evidence import quote_snapshot
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import times, verb


def _imbalance(facts: Facts) -> Iterator[Finding]:
    for broker, periods in sorted(grouped(facts.imbalance_periods, lambda p: p.broker).items()):
        worst = max(periods, key=lambda p: (p.max_ratio, -p.worst_at.timestamp()))
        again = f" It happened {times(len(periods))}." if len(periods) > 1 else ""
        yield finding_of(
            facts,
            "leader_imbalance",
            str(broker),
            min(p.started_at if p.started_at_is_exact else p.first_reading_at for p in periods),
            max(p.ended_at or p.last_reading_at for p in periods),
            [q for p in periods for q in p.evidence],
            details=f"{worst.explanation}{again}".removesuffix("."),
        )


def _replication(facts: Facts) -> Iterator[Finding]:
    under_replicated = [p for p in facts.partitions if _in_sync(p) < len(p.replicas or ())]
    under_min_isr = [p for p in under_replicated if _in_sync(p) < min(facts.min_isr_of(p.topic), len(p.replicas or ()))]
    for rule_id, partitions in (("under_replicated", under_replicated), ("under_min_isr", under_min_isr)):
        if partitions:
            yield _lacking_replicas(facts, rule_id, partitions)


def _in_sync(partition: PartitionSnapshot) -> int:
    return len(partition.isr or ())


def _lacking_replicas(facts: Facts, rule_id: str, partitions: Sequence[PartitionSnapshot]) -> Finding:
    at, topics = max(p.snapshot_at for p in partitions), {p.topic for p in partitions}
    quotes = [
        quote_snapshot(p, f"{p.topic}-{p.partition}: isr {p.isr}, replicas {p.replicas}")
        for p in sorted(partitions, key=lambda p: (p.topic, p.partition))[:5]
    ]
    subject = partitions[0].topic if len(topics) == 1 else f"{len(partitions)} partitions"
    return finding_of(
        facts,
        rule_id,
        subject,
        at,
        at,
        quotes,
        count=len(partitions),
        details=missing_brokers(partitions, facts.isr_spans),
    )


def _leaderless(facts: Facts) -> Iterator[Finding]:
    """One finding for each incident in which no replica could take over from a leader, however many partitions."""
    offline = {f.failover_id: f.evidence for f in facts.failovers if f.kind == FailoverKind.OFFLINE}
    rows = [u for u in facts.unavailability if u.failover_id in offline]
    for _, own in sorted(grouped(rows, lambda u: u.incident_id or u.topic or "").items()):
        yield _offline(facts, own, [q for u in own for q in offline[u.failover_id or ""]])


def _offline(facts: Facts, rows: Sequence[Unavailability], quotes: Sequence[Quote]) -> Finding:
    ends = [u.ended_at for u in rows if u.ended_at is not None]
    first = min(u.started_at for u in rows)
    last = max([first, *ends])
    names = sorted({f"{u.topic}-{u.partition}" for u in rows})
    return finding_of(
        facts,
        "offline_partitions",
        names[0],
        first,
        last,
        quotes,
        more=len(names) - 1,
        was=verb(len(names), "was", "were"),
        since=f"{first:%H:%M:%S}",
        until=f"to {last:%H:%M:%S}" if len(ends) == len(rows) else "on",
    )


def _lost(facts: Facts) -> Iterator[Finding]:
    """One finding for each broker that was not shut down in order, or had not come back, whenever it went."""
    for outage in facts.lost_brokers:
        rule = "broker_lost" if outage.up_at else "broker_gone"
        begins = max(outage.down_at, facts.starts_at)
        ends = outage.up_at or begins
        subject = str(outage.broker)
        yield finding_of(facts, rule, subject, begins, ends, outage.evidence, fate=fate(outage))


def _unclean(facts: Facts) -> Iterator[Finding]:
    for f in facts.failovers:
        if f.kind == FailoverKind.UNCLEAN_ELECTION:
            name, lost = f"{f.topic}-{f.partition}", _records(f.records_lost_low, f.records_lost_high)
            yield finding_of(facts, "unclean_election", name, f.happened_at, f.happened_at, f.evidence, lost=lost)


def _records(low: int | None, high: int | None) -> str:
    if low is None:
        return "the number of lost records is not known"
    if high is None:
        return f"at least {low} records were lost"
    if low < high:
        return f"between {low} and {high} records were lost"
    return f"{low} records were lost" if low else "no record was lost"


def _truncated(facts: Facts) -> Iterator[Finding]:
    """One finding for each replica's broker, verdict and outage, except where an unclean election has a finding."""
    harmful = _harmful_truncations(facts)
    for (broker, verdict, _), cuts in sorted(
        grouped(harmful, lambda t: (t.broker, t.verdict, t.outage_id or "")).items()
    ):
        names = sorted({f"{t.topic}-{t.partition}" for t in cuts})
        records = [t.records_cut for t in cuts if t.records_cut is not None]
        is_lost = verdict == TruncationVerdict.COMMITTED_LOST
        yield finding_of(
            facts,
            "records_truncated",
            names[0],
            min(t.happened_at for t in cuts),
            max(t.happened_at for t in cuts),
            [q for t in cuts for q in t.evidence],
            more=len(names) - 1,
            broker=broker,
            lost="lost committed records" if is_lost else "may have lost committed records",
            cut=f"{sum(records)} cut" if len(records) == len(cuts) else "the number is not known",
        )


def _harmful_truncations(facts: Facts) -> Iterator[Truncation]:
    unclean = {(f.topic, f.partition) for f in facts.failovers if f.kind == FailoverKind.UNCLEAN_ELECTION}
    for t in facts.truncations:
        if t.verdict != TruncationVerdict.NOTHING_COMMITTED_LOST and (t.topic, t.partition) not in unclean:
            yield t


RULES = (_imbalance, _replication, _leaderless, _lost, _unclean, _truncated)
