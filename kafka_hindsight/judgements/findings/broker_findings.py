"""Findings about brokers, partitions and replicas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import (
    NOBODY,
    Confidence,
    FailoverKind,
    FindingSeverity,
    Origin,
    OutOfSyncKind,
    TruncationVerdict,
)
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, Finding, IsrSpan, OutOfSyncPeriod, PartitionSnapshot
from kafka_hindsight.catalog.rows.structs import ClusterNaming
from kafka_hindsight.judgements.brokers.settings_at import SettingsInForce
from kafka_hindsight.judgements.findings.finding_rows import finding_of
from kafka_hindsight.judgements.findings.rule_inputs import Around, LastReading, Unquoted
from kafka_hindsight.judgements.incidents.happenings import fate
from kafka_hindsight.judgements.reasoning.evidence import by_weight, quote, quote_snapshot
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.knowledge.broker_settings import AUTO_REBALANCE, IMBALANCE_INTERVAL
from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.rules import broker_rules as declared
from kafka_hindsight.logs.cluster_of_files import without_damaged
from kafka_hindsight.measures.time_away import is_away_until, least_until, shown_until
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, NO_WRITES, is_shown
from kafka_hindsight.shared.arrow_tables import as_scalar
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO, MS, NEVER
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Interval, Intervals, intervals
from kafka_hindsight.shared.windows import in_order
from kafka_hindsight.shared.words import counted, duration, instant, listed, times

_NAMED = 3


def _slow(cluster: str, out_of_sync_periods: Sequence[OutOfSyncPeriod]) -> Iterator[Finding]:
    """One finding for each suspected broker, however many partitions and followers left an ISR because of it."""
    slow = grouped((p for p in out_of_sync_periods if p.kind == OutOfSyncKind.SLOW), lambda p: p.suspected_broker)
    for suspect, periods in sorted((s, periods) for s, periods in slow.items() if s is not None):
        length = duration(sum(p.partition_ms for p in periods))
        extent = f"{counted(max(p.partitions for p in periods), 'partition')} at most, {length} in all"
        followers = sorted({p.broker for p in periods} - {suspect})
        is_likely = any(p.confidence == Confidence.LIKELY for p in periods)
        doubt = "" if is_likely else ", unless its only leader or the network between them was slow"
        details = f"too slow to keep up with its leaders, which removed it from ISRs ({extent}){doubt}"
        if followers:
            details = f"too slow as a leader: its followers {', '.join(map(str, followers))} left ISRs ({extent})"
        yield _of_periods(cluster, declared.BROKER_SLOW, suspect, periods, details=details)


def _flapping(cluster: str, out_of_sync_periods: Sequence[OutOfSyncPeriod]) -> Iterator[Finding]:
    limit = declared.ISR_FLAPPING.thresholds["cycles"]
    often = (p for p in out_of_sync_periods if p.cycles >= limit)
    for broker, periods in sorted(grouped(often, lambda p: p.broker).items()):
        flaps, partitions = sum(p.flaps for p in periods), max(p.partitions for p in periods)
        over = f": {flaps} repeated shrinks in all, over {partitions} partitions" if partitions > 1 else ""
        cycles = max(p.cycles for p in periods)
        yield _of_periods(cluster, declared.ISR_FLAPPING, broker, periods, cycles=cycles, over=over)


def _of_periods(cluster: str, rule: Rule, broker: int, periods: Sequence[OutOfSyncPeriod], **words: Any) -> Finding:
    instants = [at for p in periods for at in (p.started_at, p.ended_at or p.started_at)]
    return finding_of(cluster, rule, str(broker), instants, by_weight(periods), **words)


def _too_early(
    cluster: str,
    restarts: Sequence[rows.RollingRestart],
    failovers: Unquoted[rows.Failover],
    isr_spans: Unquoted[IsrSpan],
    settings_in_force: SettingsInForce,
) -> Iterator[Finding]:
    for restart in restarts:
        for step in restart.scorecard:
            if step.is_early:
                offline = [f for f in failovers if f.kind == FailoverKind.OFFLINE and f.outage_id == step.outage_id]
                shrinks = (s for s in isr_spans if s.outage_id == step.outage_id)
                short = {(s.topic, s.partition) for s in shrinks if _is_below_minimum(s, settings_in_force)}
                harm = _harm(len(offline), len(short))
                finding = finding_of(
                    cluster,
                    declared.RESTART_TOO_EARLY,
                    str(step.broker),
                    [step.down_at, step.up_at or step.down_at],
                    restart.evidence,
                    at=f"{step.down_at:%H:%M:%S}",
                    harm=f": {' and '.join(harm)}" if harm else "",
                )
                yield replace(finding, severity=FindingSeverity.CRITICAL) if harm else finding


def _is_below_minimum(shrink: IsrSpan, settings: SettingsInForce) -> bool:
    return shrink.isr_size is not None and shrink.isr_size < settings.min_isr_of(shrink.topic)


def _harm(offline: int, short: int) -> list[str]:
    """The harm of a broker's stop in partitions that the stop before had left with fewer in-sync replicas."""
    harm = (
        (offline, "had no leader"),
        (short, "had fewer in-sync replicas than min.insync.replicas, so that writes with acks=all failed"),
    )
    return [f"{counted(count, 'partition')} {what}" for count, what in harm if count]


def missing_brokers(partitions: Iterable[PartitionSnapshot], isr_spans: Iterable[IsrSpan]) -> str:
    """The brokers that the ISRs of a reading lack, and since when: those that most partitions lack come first."""
    lacking = {
        (p.topic, p.partition, broker): p.snapshot_at
        for p in partitions
        for broker in {*(p.replicas or ())} - {*(p.isr or ())}
    }
    spans = (
        s
        for s in isr_spans
        if (at := lacking.get((s.topic, s.partition, s.broker))) is not None
        and Interval(s.happened_at, s.out_of_sync_until, None).holds(at)
    )
    details = []
    by_count = sorted(grouped(spans, lambda s: s.broker).items(), key=lambda b: (-len(b[1]), b[0]))
    for broker, shrinks in by_count[:_NAMED]:
        first = min(shrinks, key=lambda s: s.happened_at)
        why = (first.shrink_cause or OutOfSyncKind.UNKNOWN).noun.label
        details.append(f"broker {broker} is missing from {len(shrinks)} since {first.happened_at:%H:%M:%S} ({why})")
    return f": {'; '.join(details)}" if details else ""


def _imbalance(
    cluster: str,
    imbalance_periods: Sequence[rows.ImbalancePeriod],
    outages_around: Around[rows.BrokerOutage],
    controllers_around: Around[rows.ControllerChange],
    settings_in_force: SettingsInForce,
) -> Iterator[Finding]:
    absences = intervals(outages_around, lambda o: o.broker, lambda o: Interval(o.down_at, shown_until(o), o))
    terms, every = _terms(controllers_around), _looks_every(settings_in_force)
    lasting = (p for p in imbalance_periods if _is_lasting(p, absences.get(p.broker, Intervals(())), terms, every))
    for broker, periods in sorted(grouped(lasting, lambda p: p.broker).items()):
        worst = max(periods, key=lambda p: (p.max_ratio, -p.worst_at.timestamp()))
        again = f" It happened {times(len(periods))}." if len(periods) > 1 else ""
        starts = (p.started_at if p.started_at_is_exact else p.first_reading_at for p in periods)
        instants = [*starts, *(p.ended_at or p.last_reading_at for p in periods)]
        details = f"{worst.explanation}{again}".removesuffix(".")
        yield finding_of(cluster, declared.LEADER_IMBALANCE, str(broker), instants, by_weight(periods), details=details)


def _terms(changes: Iterable[rows.ControllerChange]) -> list[Interval[int | None]]:
    """The times of one active controller each; the first one was active before the first change."""
    ordered = sorted(changes, key=lambda c: c.happened_at)
    edges = [LONG_AGO, *(c.happened_at for c in ordered), NEVER]
    controllers = [None, *(c.controller_to for c in ordered)]
    terms = (Interval(a, b, who) for (a, b), who in zip(pairwise(edges), controllers, strict=True))
    return [term for term in terms if term.value != NOBODY]


def _looks_every(settings: SettingsInForce) -> timedelta:
    """How long after it could move a leader back Kafka's own task looks at the latest; at once where it never does."""
    task, interval = settings.agreed(AUTO_REBALANCE), settings.agreed(IMBALANCE_INTERVAL)
    if task is not None and not task.is_on:
        return timedelta()
    seconds = interval.number if interval and interval.number else None
    return timedelta(seconds=seconds or declared.LEADER_IMBALANCE.thresholds["seconds_to_rebalance"])


def _is_lasting(
    period: rows.ImbalancePeriod,
    absences: Intervals[rows.BrokerOutage],
    terms: Iterable[Interval[int | None]],
    every: timedelta,
) -> bool:
    """Whether a broker led too little when Kafka's own task must have looked, while the broker was not away.

    A controller looks each so often, counted from when it became active: one that takes over counts from then on.
    """
    # Where readings alone show the end, it may have ended just after the last one that shows it.
    start, end = period.started_at, (period.ended_at if period.ended_at_is_exact else None) or period.last_reading_at
    away = Intervals(absences.between(start, end, CLOCK_SKEW)).union().clip(start, end)
    edges = [start, *(at for i in away for at in (i.start, i.end or end)), end]
    present = [*zip(edges[::2], edges[1::2], strict=True)]
    return any(
        min(last, term.end or last) - max(first, term.start) > every + CLOCK_SKEW
        for first, last in present
        for term in terms
    )


def _replication(
    cluster: str,
    partitions: LastReading[PartitionSnapshot],
    isr_spans: Unquoted[IsrSpan],
    settings_in_force: SettingsInForce,
) -> Iterator[Finding]:
    counts = [(p, len(p.isr or ()), len(p.replicas or ())) for p in partitions]
    lacking = [p for p, isr, replicas in counts if isr < replicas]
    refusing = [p for p, isr, replicas in counts if isr < min(settings_in_force.min_isr_of(p.topic), replicas)]
    for rule, weak in ((declared.UNDER_REPLICATED, lacking), (declared.UNDER_MIN_ISR, refusing)):
        if weak:
            count, topics = len(weak), {p.topic for p in weak}
            quotes = [
                quote_snapshot(p, f"{p.topic}-{p.partition}: isr {p.isr}, replicas {p.replicas}")
                for p in sorted(weak, key=lambda p: (p.topic, p.partition))[:5]
            ]
            subject = weak[0].topic if len(topics) == 1 else f"{count} partitions"
            details = missing_brokers(weak, isr_spans)
            at = max(p.snapshot_at for p in weak)
            yield finding_of(
                cluster, rule, subject, [at], quotes, partitions=counted(count, "partition"), details=details
            )


def _gone_brokers(scope: Scope, outages_around: Around[rows.BrokerOutage]) -> Iterator[Finding]:
    """One finding for each broker that was away as the window began: no incident of the window says so."""
    start = scope.window.start
    for outage in outages_around:
        is_gone = is_away_until(outage, start)
        if outage.down_at < start and (is_gone or (outage.up_at and outage.up_at > start)):
            rule = declared.BROKER_GONE if is_gone else declared.BROKER_STILL_AWAY
            subject = str(outage.broker)
            words = {"fate": fate(outage), "was": "was" if is_gone or _is_shown_at(outage, start) else "may have been"}
            yield finding_of(scope.cluster, rule, subject, [start], outage.evidence, **words)


def _is_shown_at(outage: rows.BrokerOutage, at: datetime) -> bool:
    """Whether an absence surely lasted at an instant within it: its least length lies at its begin, or at its end."""
    end = least_until(outage)
    if end is None or outage.away_low_ms is None or outage.up_at is None:
        return True
    return at <= end or outage.up_at - outage.away_low_ms * MS <= at


def open_at_start(unavailability: pa.Table, scope: Scope) -> pa.Table:
    """Keep the rows that had begun and were not over as the window began."""
    began, ended = unavailability["started_at"], unavailability["ended_at"]
    start = as_scalar(began, scope.window.start)
    is_open = pc.or_kleene(pc.is_null(ended), pc.greater(ended, start))
    return unavailability.filter(pc.and_(pc.less(began, start), is_open))


def _unusable(
    scope: Scope, unavailability_at_start: Annotated[Around[rows.Unavailability], open_at_start]
) -> Iterator[Finding]:
    """One finding for the partitions without a leader as the window began, and one for those that refused writes."""
    start, lasting = scope.window.start, [row for row in unavailability_at_start if is_shown(row)]
    for rule, kinds in ((declared.STILL_LEADERLESS, LEADERLESS), (declared.STILL_REFUSING, NO_WRITES)):
        own = sorted((row for row in lasting if row.kind in kinds), key=lambda r: (r.started_at, r.unavailability_id))
        places = sorted({f"{row.topic}-{row.partition}" for row in own})
        if places:
            partitions = counted(len(places), "partition")
            subject = places[0] if len(places) == 1 else partitions
            since, quotes = instant(own[0].started_at), by_weight(own)
            yield finding_of(scope.cluster, rule, subject, [start], quotes, partitions=partitions, since=since)


def harmful(truncations: pa.Table) -> pa.Table:
    """Keep the truncations that lost committed records, or may have lost some."""
    return truncations.filter(pc.not_equal(truncations["verdict"], str(TruncationVerdict.NOTHING_COMMITTED_LOST)))


def _truncated(
    cluster: str,
    harmful_truncations: Annotated[Sequence[rows.Truncation], harmful],
    incident_links: Sequence[rows.IncidentLink],
) -> Iterator[Finding]:
    """One finding for each broker, verdict and outage of truncations that no incident of the window has."""
    parts = {link.part_id for link in incident_links}
    alone = (t for t in harmful_truncations if t.truncation_id not in parts)
    by_act = grouped(alone, lambda t: (t.broker, t.verdict, t.outage_id or ""))
    for (broker, verdict, _), cuts in sorted(by_act.items()):
        records = [t.records_cut for t in cuts if t.records_cut is not None]
        finding = finding_of(
            cluster,
            declared.RECORDS_TRUNCATED,
            sorted({f"{t.topic}-{t.partition}" for t in cuts}),
            [t.happened_at for t in cuts],
            by_weight(cuts),
            broker=broker,
            lost=verdict.noun.verb,
            cut=f"{sum(records)} cut" if len(records) == len(cuts) else "the number is not known",
        )
        # A follower cuts its log at each start: where no line shows what its leader had, that is seldom a loss.
        is_shown = verdict == TruncationVerdict.COMMITTED_LOST
        yield finding if is_shown else replace(finding, severity=FindingSeverity.WARNING)


def _changes_in(cluster_namings: Sequence[Event]) -> Iterator[tuple[Event, Event]]:
    """Each pair of lines of one log between which the cluster's id changes for good.

    A format draws a new id, and an old one never comes back: where one does, several clusters write the log.
    Source: KafkaServer.getOrGenerateClusterId keeps it in ZooKeeper and meta.properties; StorageTool, Uuid.randomUuid.
    """
    by_id = grouped(cluster_namings, lambda e: e.detail or "")
    instants = {name: [e.happened_at for e in lines] for name, lines in by_id.items()}
    clusters = {
        name: ClusterNaming(cluster_id=name, first_at=min(at), last_at=max(at), line_count=len(at))
        for name, at in instants.items()
    }
    undamaged = without_damaged(clusters)
    ordered = in_order(e for e in cluster_namings if e.detail in undamaged)
    ids = [e.detail for e in ordered]
    return (
        (before, after)
        for n, (before, after) in enumerate(pairwise(ordered), 1)
        if before.detail not in ids[n:] and after.detail not in ids[:n]
    )


def cluster_id_lines(events: pa.Table) -> pa.Table:
    """Keep the brokers' lines that name the cluster's id."""
    is_naming = pc.equal(events["kind"], str(Kind.CLUSTER_NAMED))
    return events.filter(pc.and_(is_naming, pc.equal(events["origin"], str(Origin.BROKER))))


def _renamed(cluster: str, cluster_namings: Annotated[Sequence[Event], cluster_id_lines]) -> Iterator[Finding]:
    """One finding for all changes of the cluster's id; brokers that share a change show it once."""
    changes = (pair for lines in grouped(cluster_namings, lambda e: e.source).values() for pair in _changes_in(lines))
    ordered = sorted(changes, key=lambda pair: (pair[1].happened_at, pair[1].source))
    if pairs := [lines[0] for lines in grouped(ordered, lambda pair: (pair[0].detail, pair[1].detail)).values()]:
        steps = [f"from {a.detail} to {b.detail} at {instant(b.happened_at)}" for a, b in pairs]
        yield finding_of(
            cluster,
            declared.CLUSTER_ID_CHANGED,
            cluster,
            [b.happened_at for _, b in pairs],
            [quote(e) for pair in pairs for e in pair],
            times=times(len(pairs)),
            changes=f"its id changed {listed(steps, _NAMED)}",
        )


def _started_twice(cluster: str, second_starts: Sequence[rows.SecondStart]) -> Iterator[Finding]:
    """One finding for each broker, however often a second process of it was started."""
    for broker, starts in sorted(grouped(second_starts, lambda s: s.broker).items()):
        reasons = listed(list(dict.fromkeys(s.explanation for s in starts)), _NAMED)
        instants = [s.happened_at for s in starts]
        details = f"{times(len(starts))} since {instant(instants[0])}, and that start failed: {reasons}"
        yield finding_of(
            cluster, declared.BROKER_STARTED_TWICE, str(broker), instants, by_weight(starts), details=details
        )


RULES = (
    _imbalance,
    _replication,
    _gone_brokers,
    _unusable,
    _truncated,
    _slow,
    _flapping,
    _too_early,
    _started_twice,
    _renamed,
)
