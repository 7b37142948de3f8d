"""The rules applied: what a person should know, with the threshold's source."""

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
    """Every finding of the window, worst first.

    Order: severity; what happened before what is set; then start, rule and subject.
    """
    return sorted([*_found(facts), *groups.folded_faults(facts)], key=_rank)


def judge_each(facts: Facts) -> list[Finding]:
    """The findings with one for each group: what a back-test counts."""
    return sorted([*_found(facts), *(groups.of_faults(facts, [f]) for f in groups.faults_of(facts))], key=_rank)


def _found(facts: Facts) -> Iterable[Finding]:
    return (finding for room in _ROOMS for rule in room.RULES for finding in rule(facts))


def _rank(finding: Finding) -> tuple[int, bool, datetime, str, str]:
    severity = list(FindingSeverity).index(finding.severity)
    return severity, finding.rule_id in STANDING_RULES, finding.first_at, finding.rule_id, finding.subject
