"""Findings: the rules applied to one window, each with the source of its threshold."""

from __future__ import annotations

from datetime import datetime

from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.judgements.findings import (
    access_findings,
    broker_findings,
    coverage_findings,
    durability_findings,
    group_findings,
)
from kafka_hindsight.judgements.findings.finding_facts import Facts as Facts
from kafka_hindsight.knowledge.rules import STANDING_RULES

_ROOMS = (group_findings, access_findings, broker_findings, durability_findings, coverage_findings)


def judge_findings(facts: Facts) -> list[Finding]:
    """Every finding of the window, by severity; findings about events before those about settings; then by start."""
    return sorted((finding for room in _ROOMS for rule in room.RULES for finding in rule(facts)), key=_rank)


def _rank(finding: Finding) -> tuple[int, bool, datetime, str, str]:
    severity = list(FindingSeverity).index(finding.severity)
    return severity, finding.rule_id in STANDING_RULES, finding.first_at, finding.rule_id, finding.subject
