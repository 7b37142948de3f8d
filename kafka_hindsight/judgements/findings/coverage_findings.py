"""Findings about missing data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import ClockMeaning, Confidence
from kafka_hindsight.catalog.quality import LOST_LINES
from kafka_hindsight.catalog.rows import Finding, Quote
from kafka_hindsight.judgements.brokers.observed import cut_to
from kafka_hindsight.judgements.findings.finding_rows import finding_of
from kafka_hindsight.judgements.findings.rule_inputs import Around, Unquoted
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.judgements.reasoning.evidence import by_weight, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.knowledge.reading_errors import reading_error_of
from kafka_hindsight.knowledge.rules import coverage_rules as declared
from kafka_hindsight.shared.grouping import grouped, split_by
from kafka_hindsight.shared.words import counted, duration, listed, number, times, verb

_ALL = "everything"


def _gaps(cluster: str, generation_gaps: Sequence[rows.GenerationGap]) -> Iterator[Finding]:
    for gap in generation_gaps:
        if gap.explained_by is None:
            rule, words = declared.GENERATIONS_MISSING, {"after": gap.after_generation, "next": gap.next_generation}
            finding = finding_of(cluster, rule, gap.group_id, [gap.seen_at], gap.evidence, **words)
            # One instant may show two gaps of a group, as where a coordinator loads it.
            finding_id = row_id("finding", cluster, rule.rule_id, gap.group_id, gap.seen_at, *words.values())
            yield replace(finding, finding_id=finding_id)


def unanswered(readings: pa.Table) -> pa.Table:
    """Keep the readings of groups that got no answer."""
    return readings.filter(pc.is_valid(readings["error"]))


def _unanswered(
    cluster: str, unanswered_groups: Annotated[Sequence[rows.GroupSnapshot], unanswered]
) -> Iterator[Finding]:
    """One finding for each cause: its evidence names each group and reading that got no answer."""
    in_order = sorted(unanswered_groups, key=lambda r: (r.snapshot_at, r.group_id))
    for cause, readings in grouped(in_order, lambda r: reading_error_of(r.error or "")).items():
        groups, instants = sorted({r.group_id for r in readings}), [r.snapshot_at for r in readings]
        quotes = [quote_snapshot(r, f"group {r.group_id}: {r.error}") for r in readings]
        count = counted(len({*instants}), "reading")
        words = {"readings": f"{count} of the cluster", "reason": cause.meaning}
        finding = finding_of(cluster, declared.GROUP_UNANSWERED, groups, instants, quotes, **words)
        finding_id = row_id("finding", cluster, declared.GROUP_UNANSWERED.rule_id, cause.meaning, instants[0])
        yield replace(finding, finding_id=finding_id, advice=cause.advice, source=cause.source)


def partial(readings: pa.Table) -> pa.Table:
    """Keep the readings that lack a part, or everything."""
    return readings.filter(pc.or_(pc.is_valid(readings["missing"]), pc.is_valid(readings["error"])))


def _partial(cluster: str, partial_readings: Annotated[Sequence[rows.SnapshotReading], partial]) -> Iterator[Finding]:
    """One finding for each part, however many readings lack it; a reading that failed lacks everything, once."""
    readings = sorted(partial_readings, key=lambda r: (r.snapshot_at, r.snapshot_id))
    missing = ((part, reason, r) for r in readings for part, reason in _missing_parts(r))
    for part, lacking in sorted(grouped(missing, lambda m: m[0]).items()):
        count = len(lacking)
        lacks = "failed" if part == _ALL else f"{verb(count, 'lacks', 'lack')} {part}, or some of it"
        yield finding_of(
            cluster,
            declared.READING_PARTIAL,
            part,
            [r.snapshot_at for _, _, r in lacking],
            [quote_snapshot(r, f"{part}: {reason}") for _, reason, r in lacking],
            part=part,
            readings=f"{counted(count, 'reading')} of the cluster {lacks}",
            reason=lacking[0][1],
        )


def _missing_parts(reading: rows.SnapshotReading) -> Iterator[tuple[str, str]]:
    """The parts that a reading lacks, with the reasons that it gives."""
    if reading.error:
        yield _ALL, reading.error
        return
    for part in reading.missing or ():
        reasons = [r.reason for r in reading.reasons or () if r.part == part]
        yield part, "; ".join(reasons) or "it gives no reason"


def unread_coverage(coverage: pa.Table) -> pa.Table:
    """Keep the logs with lines that no pattern reads, or that are damaged."""
    return coverage.filter(pc.greater(pc.add(coverage["unparsed"], coverage["quarantined"]), 0))


def _unread(cluster: str, unread_logs: Annotated[Sequence[rows.Coverage], unread_coverage]) -> Iterator[Finding]:
    for c in unread_logs:
        first, last = c.first_at or c.window_from, c.last_at or c.first_at or c.window_from
        line_id = row_id("coverage", c.source, c.window_from)
        for rule, count, fate in (
            (declared.LINES_UNREAD, c.unparsed, "unparsed"),
            (declared.LINES_QUARANTINED, c.quarantined, "quarantined"),
        ):
            if count:
                text = f"{c.lines_in} lines, {count} {fate}"
                proof = Quote(line_id=line_id, source=c.source, happened_at=first, text=text)
                yield finding_of(cluster, rule, c.source, [first, last], [proof], lines=counted(count, "line"))


def about_lost_lines(quarantine: pa.Table) -> pa.Table:
    """Keep the rows about lines that were removed before they were read."""
    return quarantine.filter(pc.equal(quarantine["row"], LOST_LINES))


def _lost_lines(scope: Scope, lost_lines: Annotated[Sequence[rows.Quarantine], about_lost_lines]) -> Iterator[Finding]:
    for r in sorted(lost_lines, key=lambda r: r.quarantine_id):
        at, text = r.happened_at or scope.window.start, r.sentences[0]
        proof = Quote(line_id=r.quarantine_id, source=r.source, happened_at=at, text=text)
        yield finding_of(scope.cluster, declared.LINES_LOST, r.source, [at], [proof], reason=text.rstrip("."))


def unexplained(gaps: pa.Table) -> pa.Table:
    """Keep the gaps of leader epochs that nothing explains."""
    return gaps.filter(pc.is_null(gaps["explained_by"]))


def _leaderships(
    cluster: str, unexplained_gaps: Annotated[Sequence[rows.LeadershipGap], unexplained]
) -> Iterator[Finding]:
    """One finding for all partitions: a missing log mostly leaves gaps in many of them."""
    gaps = sorted(unexplained_gaps, key=lambda g: (g.seen_at, g.topic, g.partition, g.next_epoch))
    if gaps:
        count = sum(g.leader_before == g.leader_after for g in gaps)
        returns = f"; in {number(count)} of them the leader may have changed and come back" if count else ""
        yield finding_of(
            cluster,
            declared.LEADERSHIPS_UNSEEN,
            sorted({f"{g.topic}-{g.partition}" for g in gaps}),
            [g.seen_at for g in gaps],
            [q for g in gaps for q in g.evidence[-1:]],
            breaks=counted(len(gaps), "gap of leader epochs", "gaps of leader epochs"),
            returns=returns,
        )


def _missing_logs(
    scope: Scope,
    missing_logs: Around[rows.MissingBrokerLog],
    failovers: Unquoted[rows.Failover],
    outages_around: Around[rows.BrokerOutage],
    rebalances: Sequence[rows.Rebalance],
) -> Iterator[Finding]:
    for row in cut_to(scope.window, missing_logs):
        confidences = {
            "failovers": [f.confidence for f in failovers if row.broker in (f.leader_from, f.leader_to)],
            "outages": [o.confidence for o in outages_around if o.broker == row.broker],
            "rebalances": [r.confidence for r in rebalances if r.coordinator == row.broker],
        }
        counts = {name: sum(c != Confidence.CERTAIN for c in levels) for name, levels in confidences.items()}
        doubted = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        less = f": {doubted} are less certain without it" if doubted else ""
        instants = [row.first_at, row.last_at]
        yield finding_of(scope.cluster, declared.BROKER_LOG_MISSING, str(row.broker), instants, row.evidence, less=less)


def _unobserved(scope: Scope, unobserved_around: Around[rows.UnobservedSpan]) -> Iterator[Finding]:
    """One finding for each broker, however many spans there are."""
    for broker, spans in sorted(grouped(cut_to(scope.window, unobserved_around), lambda s: s.broker).items()):
        instants = [at for s in spans for at in (s.first_at, s.last_at)]
        words = {"times": times(len(spans)), "longest": duration(max(s.last_at - s.first_at for s in spans))}
        yield finding_of(scope.cluster, declared.BROKER_UNOBSERVED, str(broker), instants, by_weight(spans), **words)


def _clocks(scope: Scope) -> Iterator[Finding]:
    """One finding for the clocks in other zones, and one for each broker whose clock differs, in however many logs."""
    differing = [c for c in scope.clocks if c.differs and c.brokers]
    zones, others = split_by(differing, lambda c: c.meaning == ClockMeaning.OTHER_ZONE)
    pairs = [clock.brokers for clock in zones]
    odd = frozenset.intersection(*pairs) or frozenset.union(*pairs) if pairs else frozenset()
    in_order = [*((odd, clock) for clock in zones), *((clock.brokers, clock) for clock in others)]
    for differing_brokers, own in grouped(in_order, lambda pair: pair[0]).items():
        brokers, clocks = sorted(differing_brokers), [clock for _, clock in own]
        widest = max(clocks, key=lambda c: c.by)
        yield finding_of(
            scope.cluster,
            declared.CLOCKS_DIFFER,
            [str(broker) for broker in brokers],
            [scope.window.start],
            [_quote_clock(scope, clock) for clock in clocks],
            clocks=_differing(brokers),
            by=duration(widest.by),
            proof=widest.proof,
        )


def _differing(brokers: Sequence[int]) -> str:
    """The clocks that differ, as the subject of a sentence with its verb."""
    if brokers[1:]:
        return f"the clocks of brokers {listed([*map(str, brokers)])} differ"
    return f"the clock of broker {brokers[0]} differs from those of other brokers"


def _quote_clock(scope: Scope, clock: ClockError) -> Quote:
    line_id = row_id(scope.cluster, "clock", clock.proof)
    return Quote(line_id=line_id, source="silver.events", happened_at=scope.window.start, text=clock.proof)


RULES = (_gaps, _leaderships, _missing_logs, _clocks, _unobserved, _unanswered, _partial, _unread, _lost_lines)
