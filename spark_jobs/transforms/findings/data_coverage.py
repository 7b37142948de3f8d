"""What a person should know of what could not be seen."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from spark_jobs.transforms.evidence import quote_snapshot, row_id
from spark_jobs.transforms.findings.facts import Facts, Row, finding_of


def _gaps(facts: Facts) -> list[dict[str, Any]]:
    return [
        finding_of(
            facts,
            "generations_missing",
            g["group_id"],
            g["seen_at"],
            g["seen_at"],
            g["evidence"],
            after=g["after_generation"],
            next=g["next_generation"],
        )
        for g in facts.gaps
        if g["explained_by"] is None
    ]


def _unanswered(facts: Facts) -> list[dict[str, Any]]:
    """One finding for all groups: who did not answer is told by the readings."""
    rows = sorted(facts.unanswered, key=lambda r: (r["snapshot_at"], r["group_id"]))
    if not rows:
        return []
    groups = sorted({r["group_id"] for r in rows})
    return [
        finding_of(
            facts,
            "group_unanswered",
            groups[0],
            rows[0]["snapshot_at"],
            rows[-1]["snapshot_at"],
            [quote_snapshot(r["snapshot_id"], r["snapshot_at"], f"group {r['group_id']}: {r['error']}") for r in rows],
            more=len(groups) - 1,
            count=len(rows),
        )
    ]


def _partial(facts: Facts) -> list[dict[str, Any]]:
    """One finding for each part, however many readings lack it; a reading that failed lacks everything, once."""
    by_part: dict[str, list[tuple[Row, str]]] = defaultdict(list)
    for r in sorted(facts.partial, key=lambda r: (r["snapshot_at"], r["snapshot_id"])):
        if r["error"]:
            by_part["everything"].append((r, r["error"]))
            continue
        reasons: dict[str, list[str]] = defaultdict(list)
        for told in r["reasons"] or ():
            reasons[told["part"]].append(told["reason"])
        for part in r["missing"]:
            by_part[part].append((r, "; ".join(reasons[part]) or "it says no reason"))
    return [
        finding_of(
            facts,
            "reading_partial",
            part,
            rows[0][0]["snapshot_at"],
            rows[-1][0]["snapshot_at"],
            [quote_snapshot(r["snapshot_id"], r["snapshot_at"], f"{part}: {reason}") for r, reason in rows],
            part=part,
            count=len(rows),
            reason=rows[0][1],
        )
        for part, rows in sorted(by_part.items())
    ]


def _unread(facts: Facts) -> list[dict[str, Any]]:
    found = []
    for rule_id, column in (("lines_unread", "unparsed"), ("lines_quarantined", "quarantined")):
        for c in facts.coverage:
            if c[column]:
                first = c["first_at"] or c["window_from"]
                says = f"{c['lines_in']} lines, {c[column]} {column}"
                proof = {
                    "line_id": row_id("coverage", c["source"], c["window_from"]),
                    "source": c["source"],
                    "happened_at": first,
                    "text": says,
                }
                found.append(
                    finding_of(facts, rule_id, c["source"], first, c["last_at"] or first, [proof], count=c[column])
                )
    return found


def _leaderships(facts: Facts) -> list[dict[str, Any]]:
    """One finding for all partitions: what took one witness away mostly took many."""
    gaps = sorted(
        (g for g in facts.leadership_gaps if g["explained_by"] is None),
        key=lambda g: (g["seen_at"], g["topic"], g["partition"], g["next_epoch"]),
    )
    if not gaps:
        return []
    partitions = sorted({f"{g['topic']}-{g['partition']}" for g in gaps})
    return [
        finding_of(
            facts,
            "leaderships_unseen",
            partitions[0],
            gaps[0]["seen_at"],
            gaps[-1]["seen_at"],
            [e for g in gaps for e in g["evidence"][-1:]],
            more=len(partitions) - 1,
            breaks=len(gaps),
            returns=sum(g["leader_before"] == g["leader_after"] for g in gaps),
        )
    ]


def _missing_logs(facts: Facts) -> list[dict[str, Any]]:
    found = []
    for row in facts.unheard:
        less = {
            "failovers": [f for f in facts.failovers if row["broker"] in (f["leader_from"], f["leader_to"])],
            "outages": [o for o in facts.outages if o["broker"] == row["broker"]],
            "rebalances": [r for r in facts.rebalances if r["coordinator"] == row["broker"]],
        }
        counts = {name: sum(v["confidence"] != "certain" for v in verdicts) for name, verdicts in less.items()}
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        found.append(
            finding_of(
                facts,
                "broker_log_missing",
                str(row["broker"]),
                row["first_at"],
                row["last_at"],
                row["evidence"],
                less=f": {told} rest on less" if told else "",
            )
        )
    return found


RULES = (_gaps, _leaderships, _missing_logs, _unanswered, _partial, _unread)
