"""The rules applied: what a person should know, with the threshold's source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from spark_jobs.knowledge.rules import RULE_BY_ID, STANDING_RULES
from spark_jobs.transforms.evidence import evidence_of, quote_snapshot, row_id
from spark_jobs.transforms.faults import Fault, find_faults, named
from spark_jobs.transforms.rates import advice_on, busiest_hours, causes_of, rate_rule
from spark_jobs.transforms.rebalances.wording import took

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Facts:
    """What the rules look at, all of one cluster and one window: rows of the tables of these names.

    `troubled_partitions` are rows of bronze.partition_snapshots at the last reading with fewer in-sync replicas than
    replicas; `min_isr` the configured min.insync.replicas of a topic, where a snapshot tells; `unanswered` rows of
    bronze.group_snapshots with an error; `partial` rows of bronze.snapshot_readings that lack a part.
    """

    cluster: str
    rebalances: Sequence[Row] = ()
    incidents: Sequence[Row] = ()
    failovers: Sequence[Row] = ()
    imbalance: Sequence[Row] = ()
    lag_verdicts: Sequence[Row] = ()
    gaps: Sequence[Row] = ()
    coverage: Sequence[Row] = ()
    unanswered: Sequence[Row] = ()
    partial: Sequence[Row] = ()
    settings: Sequence[Row] = ()
    outages: Sequence[Row] = ()
    troubled_partitions: Sequence[Row] = ()
    min_isr: Mapping[str, int] = field(default_factory=dict)


FOLD_FROM = 4
"""From as many groups with the same fault in their settings on, one finding stands for all of them."""


def judge_findings(facts: Facts) -> list[dict[str, Any]]:
    """Every finding of the window, worst first.

    Order: severity; what happened before what is set up so; then start, rule and subject.
    """
    return _worst_first([*(f for rule in _RULES for f in rule(facts)), *_folded(facts)])


def judge_each(facts: Facts) -> list[dict[str, Any]]:
    """The findings with each group told by itself: what a back-test counts."""
    return _worst_first(
        [*(f for rule in _RULES for f in rule(facts)), *(_of_faults(facts, [fault]) for fault in _faults(facts))]
    )


def _worst_first(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    rank = {"critical": 0, "warning": 1, "info": 2}
    return sorted(
        found,
        key=lambda f: (
            rank[f["severity"]],
            f["rule_id"] in STANDING_RULES,
            f["first_at"],
            f["rule_id"],
            f["subject"],
        ),
    )


def _finding(
    facts: Facts,
    rule_id: str,
    subject: str,
    first_at: datetime,
    last_at: datetime,
    evidence: Iterable[dict[str, Any]],
    more: int = 0,
    **words: object,
) -> dict[str, Any]:
    """A row of gold.findings. `more`: how many others the subject stands for."""
    rule = RULE_BY_ID[rule_id]
    others = f" and {more} more" if more else ""
    message = rule.says.format(subject=f"{rule.subject_kind} '{subject}'{others}", **words)
    subject += others
    return {
        "cluster": facts.cluster,
        "finding_id": row_id("finding", facts.cluster, rule_id, subject, first_at),
        "rule_id": rule_id,
        "severity": rule.severity,
        "subject_kind": rule.subject_kind,
        "subject": subject,
        "first_at": first_at,
        "last_at": last_at,
        "message": message[0].upper() + message[1:],
        "advice": rule.advice,
        "source": rule.source,
        "evidence": evidence_of(evidence),
    }


def _rates(facts: Facts) -> list[dict[str, Any]]:
    found = []
    for group_id, rows in busiest_hours(facts.rebalances, facts.incidents).items():
        finding = _finding(
            facts,
            str(rate_rule(rows)),
            group_id,
            rows[0]["started_at"],
            rows[-1]["started_at"],
            [e for r in rows for e in r["evidence"][:1]],
            count=len(rows),
        )
        says, advice = f"{finding['message']}: {causes_of(rows)}", advice_on(rows, str(finding["advice"]))
        found.append({**finding, "message": says, "advice": advice})
    return found


def _faults(facts: Facts) -> list[Fault]:
    frequent = {g: len(rows) for g, rows in busiest_hours(facts.rebalances, facts.incidents).items()}
    return find_faults(facts.settings, facts.rebalances, frequent)


def _folded(facts: Facts) -> list[dict[str, Any]]:
    """The faults in how groups are set up: many groups with the same fault are one finding."""
    by_rule: dict[str, list[Fault]] = defaultdict(list)
    for fault in _faults(facts):
        by_rule[fault.rule_id].append(fault)
    found = []
    for faults in by_rule.values():
        shares = [faults] if len(faults) >= FOLD_FROM else [[fault] for fault in faults]
        found += [_of_faults(facts, share) for share in shares]
    return found


def _of_faults(facts: Facts, faults: Sequence[Fault]) -> dict[str, Any]:
    return _finding(
        facts,
        faults[0].rule_id,
        faults[0].group_id,
        min(f.first_at for f in faults),
        max(f.last_at for f in faults),
        [e for f in faults for e in f.evidence],
        more=len(faults) - 1,
        told=named(faults),
    )


def _silences(facts: Facts) -> list[dict[str, Any]]:
    """Members that were silent for more than 30 s and heard again: session timeout plus the time until then."""
    limit = RULE_BY_ID["member_silent"].thresholds["ms"]
    found = []
    for r in facts.rebalances:
        silent_ms = r.get("silent_ms")
        if silent_ms is not None and silent_ms > limit:
            began = r["started_at"]
            found.append(
                _finding(facts, "member_silent", r["group_id"], began, began, r["evidence"], length=took(silent_ms))
            )
    return found


def _lag(facts: Facts) -> list[dict[str, Any]]:
    by_group: dict[str, list[Row]] = defaultdict(list)
    for v in facts.lag_verdicts:
        if v["status"] in ("warn", "stall", "stop") and (v["lag_last"] or 0) > (v["lag_first"] or 0):
            by_group[v["group_id"]].append(v)
    return [
        _finding(
            facts,
            "lag_growing",
            group_id,
            min(v["window_from"] for v in rows),
            max(v["window_to"] for v in rows),
            [e for v in rows for e in v["evidence"]],
            first=sum(v["lag_first"] or 0 for v in rows),
            last=sum(v["lag_last"] or 0 for v in rows),
        )
        for group_id, rows in sorted(by_group.items())
    ]


def _imbalance(facts: Facts) -> list[dict[str, Any]]:
    by_broker: dict[int, list[Row]] = defaultdict(list)
    for row in facts.imbalance:
        if row["over_threshold"]:
            by_broker[row["broker"]].append(row)
    found = []
    for broker, rows in sorted(by_broker.items()):
        worst = max(rows, key=lambda r: (r["ratio"], -r["snapshot_at"].timestamp()))
        found.append(
            _finding(
                facts,
                "leader_imbalance",
                str(broker),
                min(r["snapshot_at"] for r in rows),
                max(r["snapshot_at"] for r in rows),
                worst["evidence"],
                elsewhere=worst["led_elsewhere"],
                preferred=worst["preferred_partitions"],
                ratio=f"{worst['ratio']:.0%}",
            )
        )
    return found


def _replication(facts: Facts) -> list[dict[str, Any]]:
    thin = [p for p in facts.troubled_partitions if len(p["isr"] or ()) < len(p["replicas"] or ())]
    short = [p for p in thin if p["topic"] in facts.min_isr and len(p["isr"] or ()) < facts.min_isr[p["topic"]]]
    found = []
    for rule_id, rows in (("under_replicated", thin), ("under_min_isr", short)):
        if rows:
            at = max(p["snapshot_at"] for p in rows)
            says = [
                quote_snapshot(
                    p["snapshot_id"],
                    p["snapshot_at"],
                    f"{p['topic']}-{p['partition']}: isr {p['isr']}, replicas {p['replicas']}",
                )
                for p in sorted(rows, key=lambda p: (p["topic"], p["partition"]))[:5]
            ]
            subject = rows[0]["topic"] if len({p["topic"] for p in rows}) == 1 else f"{len(rows)} partitions"
            found.append(_finding(facts, rule_id, subject, at, at, says, count=len(rows)))
    return found


def _leaderless(facts: Facts) -> list[dict[str, Any]]:
    """One finding for each outage, or topic, that left partitions without a leader, however many of them."""
    by_origin: dict[str, list[Row]] = defaultdict(list)
    for f in facts.failovers:
        if f["kind"] == "offline":
            by_origin[f["outage_id"] or f["topic"]].append(f)
    restored = {(f["topic"], f["partition"], f["epoch_from"]): f["happened_at"] for f in facts.failovers}
    found = []
    for _, rows in sorted(by_origin.items()):
        first = min(r["happened_at"] for r in rows)
        ends = [restored.get((r["topic"], r["partition"], r["epoch_to"])) for r in rows]
        until = "" if None in ends else f" to {max(e for e in ends if e):%H:%M:%S}"
        names = sorted(f"{r['topic']}-{r['partition']}" for r in rows)
        found.append(
            _finding(
                facts,
                "offline_partitions",
                names[0],
                first,
                max([first, *(e for e in ends if e)]),
                [e for r in rows for e in r["evidence"]],
                more=len(names) - 1,
                since=f"{first:%H:%M:%S}",
                until=until,
            )
        )
    return found


def _unclean(facts: Facts) -> list[dict[str, Any]]:
    found = []
    for f in facts.failovers:
        if f["kind"] == "unclean_election":
            low, high = f["records_lost_low"], f["records_lost_high"]
            lost = "how many records were lost cannot be told"
            if low == high == 0:
                lost = "no record was lost"
            elif low is not None and high is not None:
                lost = f"{low} records were lost" if low == high else f"between {low} and {high} records were lost"
            elif low is not None:
                lost = f"at least {low} records were lost"
            name = f"{f['topic']}-{f['partition']}"
            found.append(
                _finding(facts, "unclean_election", name, f["happened_at"], f["happened_at"], f["evidence"], lost=lost)
            )
    return found


def _gaps(facts: Facts) -> list[dict[str, Any]]:
    return [
        _finding(
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
        _finding(
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
        _finding(
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
                    _finding(facts, rule_id, c["source"], first, c["last_at"] or first, [proof], count=c[column])
                )
    return found


_RULES: tuple[Callable[[Facts], list[dict[str, Any]]], ...] = (
    _rates,
    _silences,
    _lag,
    _imbalance,
    _replication,
    _leaderless,
    _unclean,
    _gaps,
    _unanswered,
    _partial,
    _unread,
)
