"""What a person should know of brokers and partitions."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.codes import FailoverKind, TruncationVerdict
from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.judgements.findings.facts import Facts, finding_of, quotes_of
from kafka_hindsight.judgements.findings.replicas import missing_brokers
from kafka_hindsight.judgements.incidents.headlines import fate
from kafka_hindsight.judgements.reasoning.evidence import quote_snapshot
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import times, verb


def _imbalance(facts: Facts) -> Iterator[Finding]:
    for broker, periods in sorted(grouped(facts.imbalance_periods, lambda p: p.broker).items()):
        worst = max(periods, key=lambda p: (p.max_ratio, -p.worst_at.timestamp()))
        again = f" It happened {times(len(periods))}." if len(periods) > 1 else ""
        starts = (p.started_at if p.started_at_is_exact else p.first_reading_at for p in periods)
        instants = [*starts, *(p.ended_at or p.last_reading_at for p in periods)]
        details = f"{worst.explanation}{again}".removesuffix(".")
        yield finding_of(facts, "leader_imbalance", str(broker), instants, quotes_of(periods), details=details)


def _replication(facts: Facts) -> Iterator[Finding]:
    counts = [(p, len(p.isr or ()), len(p.replicas or ())) for p in facts.partitions]
    lacking = [p for p, isr, replicas in counts if isr < replicas]
    refusing = [p for p, isr, replicas in counts if isr < min(facts.min_isr_of(p.topic), replicas)]
    for rule_id, partitions in (("under_replicated", lacking), ("under_min_isr", refusing)):
        if partitions:
            count, topics = len(partitions), {p.topic for p in partitions}
            quotes = [
                quote_snapshot(p, f"{p.topic}-{p.partition}: isr {p.isr}, replicas {p.replicas}")
                for p in sorted(partitions, key=lambda p: (p.topic, p.partition))[:5]
            ]
            subject = partitions[0].topic if len(topics) == 1 else f"{count} partitions"
            details = missing_brokers(partitions, facts.isr_spans)
            at = max(p.snapshot_at for p in partitions)
            yield finding_of(facts, rule_id, subject, [at], quotes, count=count, details=details)


def _leaderless(facts: Facts) -> Iterator[Finding]:
    """One finding for each incident in which no replica could take over from a leader, however many partitions."""
    offline = {f.failover_id: f for f in facts.failovers if f.kind == FailoverKind.OFFLINE}
    rows = [u for u in facts.unavailability if u.failover_id in offline]
    for _, own in sorted(grouped(rows, lambda u: u.incident_id or u.topic or "").items()):
        ends = [u.ended_at for u in own if u.ended_at is not None]
        first = min(u.started_at for u in own)
        last = max([first, *ends])
        names = sorted({f"{u.topic}-{u.partition}" for u in own})
        yield finding_of(
            facts,
            "offline_partitions",
            names,
            [first, last],
            quotes_of(offline[u.failover_id or ""] for u in own),
            was=verb(len(names), "was", "were"),
            since=f"{first:%H:%M:%S}",
            until=f"to {last:%H:%M:%S}" if len(ends) == len(own) else "on",
        )


def _lost(facts: Facts) -> Iterator[Finding]:
    """One finding for each broker that was not shut down in order, or had not come back, whenever it went."""
    for outage in facts.lost_brokers:
        rule, begins = "broker_lost" if outage.up_at else "broker_gone", max(outage.down_at, facts.starts_at)
        instants = [begins, outage.up_at or begins]
        yield finding_of(facts, rule, str(outage.broker), instants, outage.evidence, fate=fate(outage))


def _unclean(facts: Facts) -> Iterator[Finding]:
    for f in facts.failovers:
        if f.kind == FailoverKind.UNCLEAN_ELECTION:
            name, lost = f"{f.topic}-{f.partition}", _records(f.records_lost_low, f.records_lost_high)
            yield finding_of(facts, "unclean_election", name, [f.happened_at], f.evidence, lost=lost)


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
    unclean = {(f.topic, f.partition) for f in facts.failovers if f.kind == FailoverKind.UNCLEAN_ELECTION}
    harmful = (
        t
        for t in facts.truncations
        if t.verdict != TruncationVerdict.NOTHING_COMMITTED_LOST and (t.topic, t.partition) not in unclean
    )
    by_act = grouped(harmful, lambda t: (t.broker, t.verdict, t.outage_id or ""))
    for (broker, verdict, _), cuts in sorted(by_act.items()):
        records = [t.records_cut for t in cuts if t.records_cut is not None]
        is_lost = verdict == TruncationVerdict.COMMITTED_LOST
        yield finding_of(
            facts,
            "records_truncated",
            sorted({f"{t.topic}-{t.partition}" for t in cuts}),
            [t.happened_at for t in cuts],
            quotes_of(cuts),
            broker=broker,
            lost="lost committed records" if is_lost else "may have lost committed records",
            cut=f"{sum(records)} cut" if len(records) == len(cuts) else "the number is not known",
        )


RULES = (_imbalance, _replication, _leaderless, _lost, _unclean, _truncated)
