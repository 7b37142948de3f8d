"""Findings about groups that share their partitions out badly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.rows import Finding, GroupImbalance
from kafka_hindsight.judgements.findings.finding_rows import finding_of
from kafka_hindsight.judgements.findings.group_findings import FOLD_FROM
from kafka_hindsight.judgements.reasoning.evidence import by_weight
from kafka_hindsight.knowledge.rules import balance_rules as declared
from kafka_hindsight.shared.grouping import grouped

_FEW = 3


def _imbalances(cluster: str, group_imbalances: Sequence[GroupImbalance]) -> Iterator[Finding]:
    """One finding for each group and rule; many groups under one rule are one finding. The longest time comes first."""
    rules = {rule.rule_id: rule for rule in declared.RULES}
    for rule_id, rows in sorted(grouped(group_imbalances, lambda r: r.rule_id).items()):
        by_group = grouped(sorted(rows, key=lambda r: (r.started_at - r.ended_at, r.group_id)), lambda r: r.group_id)
        groups = list(by_group)
        for share in [groups] if len(groups) >= FOLD_FROM else [[group] for group in groups]:
            of_share = [row for group in share for row in by_group[group]]
            worst = [by_group[group][0] for group in share[:_FEW]]
            details = worst[0].details if not share[1:] else "; ".join(f"'{r.group_id}' {r.details}" for r in worst)
            instants = [at for row in of_share for at in (row.started_at, row.ended_at)]
            yield finding_of(cluster, rules[rule_id], share, instants, by_weight(of_share), details=details)


RULES = (_imbalances,)
"""The rows that a rule reads: the parameters of its function name rows by their class, and which of them."""
