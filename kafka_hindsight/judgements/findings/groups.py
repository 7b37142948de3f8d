"""What a person should know of consumer groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kafka_hindsight.catalog.codes import LagStatus
from kafka_hindsight.catalog.rows import Finding, LagVerdict
from kafka_hindsight.judgements.findings.facts import Facts, finding_of
from kafka_hindsight.judgements.groups.faults import Fault, find_faults, named
from kafka_hindsight.judgements.groups.rates import advice_on, busiest_hours, causes_of, rate_rule
from kafka_hindsight.knowledge.rules import RULE_BY_ID
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import duration

FOLD_FROM = 4
"""From as many groups with the same fault in their settings on, one finding stands for all of them."""

_BEHIND = (LagStatus.WARN, LagStatus.STALL, LagStatus.STOP)


def _rates(facts: Facts) -> Iterator[Finding]:
    for group_id, rows in busiest_hours(facts.rebalances, facts.incidents).items():
        finding = finding_of(
            facts,
            str(rate_rule(rows)),
            group_id,
            rows[0].started_at,
            rows[-1].started_at,
            [q for r in rows for q in r.evidence[:1]],
            count=len(rows),
        )
        yield replace(finding, message=f"{finding.message}: {causes_of(rows)}", advice=advice_on(rows, finding.advice))


def faults_of(facts: Facts) -> list[Fault]:
    """The faults in the settings of each group."""
    frequent = {g: len(rows) for g, rows in busiest_hours(facts.rebalances, facts.incidents).items()}
    return find_faults(facts.settings, facts.rebalances, frequent)


def folded_faults(facts: Facts) -> Iterator[Finding]:
    """The faults in the settings of groups: many groups with the same fault are one finding."""
    for faults in grouped(faults_of(facts), lambda f: f.rule_id).values():
        shares = [faults] if len(faults) >= FOLD_FROM else [[fault] for fault in faults]
        yield from (of_faults(facts, share) for share in shares)


def of_faults(facts: Facts, faults: Sequence[Fault]) -> Finding:
    """One finding for groups with the same fault, the worst first."""
    return finding_of(
        facts,
        faults[0].rule_id,
        faults[0].group_id,
        min(f.first_at for f in faults),
        max(f.last_at for f in faults),
        [q for f in faults for q in f.evidence],
        more=len(faults) - 1,
        details=named(faults),
    )


def _silences(facts: Facts) -> Iterator[Finding]:
    """Members that were silent for more than 30 s and came back: session timeout plus the time until then."""
    limit = RULE_BY_ID["member_silent"].thresholds["ms"]
    for r in facts.rebalances:
        if r.silent_ms is not None and r.silent_ms > limit:
            at, length = r.started_at, duration(r.silent_ms)
            yield finding_of(facts, "member_silent", r.group_id, at, at, r.evidence, length=length)


def _lag(facts: Facts) -> Iterator[Finding]:
    growing = (v for v in facts.lag_verdicts if v.status in _BEHIND and _lag_first(v) < _lag_last(v))
    for group_id, rows in sorted(grouped(growing, lambda v: v.group_id).items()):
        yield finding_of(
            facts,
            "lag_growing",
            group_id,
            min(v.window_from for v in rows),
            max(v.window_to for v in rows),
            [q for v in rows for q in v.evidence],
            first=sum(map(_lag_first, rows)),
            last=sum(map(_lag_last, rows)),
        )


def _lag_first(verdict: LagVerdict) -> int:
    return verdict.lag_first or 0


def _lag_last(verdict: LagVerdict) -> int:
    return verdict.lag_last or 0


RULES = (_rates, _silences, _lag)
