"""Findings: the rules applied to one window, each with the source of its threshold."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.judgements.findings import brokers, data_coverage, durability, groups
from kafka_hindsight.judgements.findings.facts import Facts as Facts
from kafka_hindsight.knowledge.rules import STANDING_RULES

_ROOMS = (groups, brokers, durability, data_coverage)


def judge_findings(facts: Facts) -> list[Finding]:
    """Every finding of the window, by severity; findings about events before those about settings; then by start."""
    return sorted([*_apply_rules(facts), *groups.folded_faults(facts)], key=_rank)


def judge_each(facts: Facts) -> list[Finding]:
    """Every finding, with one for each group instead of one for many: a back-test counts them."""
    return sorted([*_apply_rules(facts), *(groups.of_faults(facts, [f]) for f in groups.faults_of(facts))], key=_rank)


def _apply_rules(facts: Facts) -> Iterable[Finding]:
    return (finding for room in _ROOMS for rule in room.RULES for finding in rule(facts))


def _rank(finding: Finding) -> tuple[int, bool, datetime, str, str]:
    severity = list(FindingSeverity).index(finding.severity)
    return severity, finding.rule_id in STANDING_RULES, finding.first_at, finding.rule_id, finding.subject
