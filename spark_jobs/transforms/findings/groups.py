"""What a person should know of consumer groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from spark_jobs.knowledge.rules import RULE_BY_ID
from spark_jobs.transforms.findings.facts import Facts, Row, finding_of
from spark_jobs.transforms.groups.faults import Fault, find_faults, named
from spark_jobs.transforms.groups.rates import advice_on, busiest_hours, causes_of, rate_rule
from spark_jobs.transforms.rebalances.wording import took

FOLD_FROM = 4
"""From as many groups with the same fault in their settings on, one finding stands for all of them."""


def _rates(facts: Facts) -> list[dict[str, Any]]:
    found = []
    for group_id, rows in busiest_hours(facts.rebalances, facts.incidents).items():
        finding = finding_of(
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


def faults_of(facts: Facts) -> list[Fault]:
    frequent = {g: len(rows) for g, rows in busiest_hours(facts.rebalances, facts.incidents).items()}
    return find_faults(facts.settings, facts.rebalances, frequent)


def folded_faults(facts: Facts) -> list[dict[str, Any]]:
    """The faults in how groups are set up: many groups with the same fault are one finding."""
    by_rule: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults_of(facts):
        by_rule[fault.rule_id].append(fault)
    found = []
    for faults in by_rule.values():
        shares = [faults] if len(faults) >= FOLD_FROM else [[fault] for fault in faults]
        found += [of_faults(facts, share) for share in shares]
    return found


def of_faults(facts: Facts, faults: Sequence[Fault]) -> dict[str, Any]:
    return finding_of(
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
                finding_of(facts, "member_silent", r["group_id"], began, began, r["evidence"], length=took(silent_ms))
            )
    return found


def _lag(facts: Facts) -> list[dict[str, Any]]:
    by_group: dict[str, list[Row]] = defaultdict(list)
    for v in facts.lag_verdicts:
        if v["status"] in ("warn", "stall", "stop") and (v["lag_last"] or 0) > (v["lag_first"] or 0):
            by_group[v["group_id"]].append(v)
    return [
        finding_of(
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


RULES = (_rates, _silences, _lag)
