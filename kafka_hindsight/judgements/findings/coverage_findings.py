"""Findings about missing data."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.rows import Finding, Quote, SnapshotReading
from kafka_hindsight.judgements.findings.finding_facts import Facts, finding_of, quotes_of
from kafka_hindsight.judgements.reasoning.evidence import quote_snapshot, row_id
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import counted, duration, number, verb

_ALL = "everything"


def _gaps(facts: Facts) -> Iterator[Finding]:
    for gap in facts.gaps:
        if gap.explained_by is None:
            words = {"after": gap.after_generation, "next": gap.next_generation}
            yield finding_of(facts, "generations_missing", gap.group_id, [gap.seen_at], gap.evidence, **words)


def _unanswered(facts: Facts) -> Iterator[Finding]:
    """One finding for all groups: its evidence names each reading that got no answer."""
    rows = sorted(facts.unanswered, key=lambda r: (r.snapshot_at, r.group_id))
    if rows:
        groups = sorted({r.group_id for r in rows})
        quotes = [quote_snapshot(r, f"group {r.group_id}: {r.error}") for r in rows]
        yield finding_of(facts, "group_unanswered", groups, [r.snapshot_at for r in rows], quotes, count=len(rows))


def _partial(facts: Facts) -> Iterator[Finding]:
    """One finding for each part, however many readings lack it; a reading that failed lacks everything, once."""
    readings = sorted(facts.partial, key=lambda r: (r.snapshot_at, r.snapshot_id))
    missing = ((part, reason, r) for r in readings for part, reason in _missing_parts(r))
    for part, lacking in sorted(grouped(missing, lambda m: m[0]).items()):
        count = len(lacking)
        lacks = "failed" if part == _ALL else f"{verb(count, 'lacks', 'lack')} {part}, or some of it"
        yield finding_of(
            facts,
            "reading_partial",
            part,
            [r.snapshot_at for _, _, r in lacking],
            [quote_snapshot(r, f"{part}: {reason}") for _, reason, r in lacking],
            part=part,
            readings=f"{counted(count, 'reading')} of the cluster {lacks}",
            reason=lacking[0][1],
        )


def _missing_parts(reading: SnapshotReading) -> Iterator[tuple[str, str]]:
    """The parts that a reading lacks, with the reasons that it gives."""
    if reading.error:
        yield _ALL, reading.error
        return
    for part in reading.missing or ():
        reasons = [r.reason for r in reading.reasons or () if r.part == part]
        yield part, "; ".join(reasons) or "it gives no reason"


def _unread(facts: Facts) -> Iterator[Finding]:
    for c in facts.coverage:
        first, last = c.first_at or c.window_from, c.last_at or c.first_at or c.window_from
        line_id = row_id("coverage", c.source, c.window_from)
        for rule_id, count, fate in (
            ("lines_unread", c.unparsed, "unparsed"),
            ("lines_quarantined", c.quarantined, "quarantined"),
        ):
            if count:
                text = f"{c.lines_in} lines, {count} {fate}"
                proof = Quote(line_id=line_id, source=c.source, happened_at=first, text=text)
                yield finding_of(facts, rule_id, c.source, [first, last], [proof], count=count)


def _leaderships(facts: Facts) -> Iterator[Finding]:
    """One finding for all partitions: a missing log mostly leaves gaps in many of them."""
    unexplained = (g for g in facts.leadership_gaps if g.explained_by is None)
    gaps = sorted(unexplained, key=lambda g: (g.seen_at, g.topic, g.partition, g.next_epoch))
    if gaps:
        count = sum(g.leader_before == g.leader_after for g in gaps)
        returns = f"; in {number(count)} of them the leader may have changed and come back" if count else ""
        yield finding_of(
            facts,
            "leaderships_unseen",
            sorted({f"{g.topic}-{g.partition}" for g in gaps}),
            [g.seen_at for g in gaps],
            [q for g in gaps for q in g.evidence[-1:]],
            breaks=counted(len(gaps), "gap of leader epochs", "gaps of leader epochs"),
            returns=returns,
        )


def _missing_logs(facts: Facts) -> Iterator[Finding]:
    for row in facts.missing_logs:
        confidences = {
            "failovers": [f.confidence for f in facts.failovers if row.broker in (f.leader_from, f.leader_to)],
            "outages": [o.confidence for o in facts.outages if o.broker == row.broker],
            "rebalances": [r.confidence for r in facts.rebalances if r.coordinator == row.broker],
        }
        counts = {name: sum(c != Confidence.CERTAIN for c in levels) for name, levels in confidences.items()}
        doubted = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        less = f": {doubted} are less certain without it" if doubted else ""
        instants = [row.first_at, row.last_at]
        yield finding_of(facts, "broker_log_missing", str(row.broker), instants, row.evidence, less=less)


def _unobserved(facts: Facts) -> Iterator[Finding]:
    """One finding for each broker, however many spans there are."""
    for broker, spans in sorted(grouped(facts.unobserved, lambda s: s.broker).items()):
        instants = [at for s in spans for at in (s.first_at, s.last_at)]
        words = {"count": len(spans), "longest": duration(max(s.last_at - s.first_at for s in spans))}
        yield finding_of(facts, "broker_unobserved", str(broker), instants, quotes_of(spans), **words)


RULES = (_gaps, _leaderships, _missing_logs, _unobserved, _unanswered, _partial, _unread)
