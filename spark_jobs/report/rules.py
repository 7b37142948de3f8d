"""Findings and lag: what a person should know."""

from __future__ import annotations

from collections import Counter, defaultdict

from spark_jobs.catalog.codes import FindingSeverity
from spark_jobs.knowledge.rules import STANDING_RULES
from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.model import Evidence, Finding, FindingGroup, Lag, LagGroup
from spark_jobs.report.page_rows import Night, Row

LAG_ORDER = ("stop", "stall", "rewind", "warn")
LAG_TONES = {"stop": "bad", "stall": "bad", "rewind": "warn", "warn": "warn"}


def findings(night: Night) -> tuple[FindingGroup, ...]:
    """What the rules found, one group for each rule, severity and piece of advice, worst first.

    Order: severity; what happened before how things are set up; then time.
    """
    groups: defaultdict[tuple[str, str, str, str], list[Row]] = defaultdict(list)
    for row in sorted(night.rows("gold.findings"), key=lambda r: (r["first_at"], r["subject"], r["finding_id"])):
        groups[row["severity"], row["rule_id"], row["advice"], row["source"]].append(row)
    return tuple(
        FindingGroup(rule_id, severity, advice, source, tuple(_finding(night, row) for row in rows))
        for (severity, rule_id, advice, source), rows in sorted(
            groups.items(),
            key=lambda item: (
                [*map(str, FindingSeverity)].index(item[0][0]),
                item[0][1] in STANDING_RULES,
                item[1][0]["first_at"],
                item[0],
            ),
        )
    )


def _finding(night: Night, row: Row) -> Finding:
    return Finding(
        anchor=plain.anchor("finding", row["finding_id"]),
        subject=f"{row['subject_kind']} {plain.shortened(row['subject'])}",
        first_at=row["first_at"],
        last_at=row["last_at"],
        message=row["message"],
        evidence=night.evidence(row),
    )


def lag(night: Night) -> Lag:
    """Lag by group, topic and verdict, worst first; partitions that keep up are only counted."""
    rows = night.rows("gold.lag_verdicts")
    parts: defaultdict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["status"] != "ok":
            parts[row["status"], row["group_id"], row["topic"]].append(row)
    worst_first = sorted(
        parts.items(), key=lambda item: (LAG_ORDER.index(item[0][0]), -(_sum(item[1], "lag_last") or 0), item[0])
    )
    groups = tuple(_lag_group(night, *key, found) for key, found in worst_first)
    return Lag(_lag_says(Counter(row["status"] for row in rows)), groups)


def _lag_says(counts: Counter[str]) -> str:
    total = counts.total()
    if not total:
        return "No lag was judged: that needs snapshots with committed offsets."
    if counts["ok"] == total:
        return f"All {words.counted(total, 'partition')} that a group reads keep up."
    bad = [
        f"{words.number(counts[s])} {words.verb(counts[s], 'has', 'have')} the verdict “{s}”"
        for s in LAG_ORDER
        if counts[s]
    ]
    well = f"{words.number(counts['ok'])} {words.verb(counts['ok'], 'keeps', 'keep')} up"
    return f"Of {words.counted(total, 'partition')} that groups read, {words.listed(bad)}; {well}."


def _lag_group(night: Night, status: str, group_id: str, topic: str, rows: list[Row]) -> LagGroup:
    worst = max(rows, key=lambda r: (r["lag_max"] or 0, r["partition"]))
    return LagGroup(
        group_id=plain.shortened(group_id),
        topic=plain.shortened(topic),
        status=f"{status}: {vocabulary.LAG_LABELS[status]}",
        tone=LAG_TONES[status],
        partitions=words.ranges([r["partition"] for r in rows]),
        lag_first=_sum(rows, "lag_first"),
        lag_last=_sum(rows, "lag_last"),
        lag_max=worst["lag_max"],
        evidence=night.evidence(worst) if worst["evidence"] else Evidence(()),
    )


def _sum(rows: list[Row], column: str) -> int | None:
    known = [row[column] for row in rows if row[column] is not None]
    return sum(known) if known else None
