"""Findings: the rules applied to one window, each with the source of its threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.judgements.findings import (
    access_findings,
    balance_findings,
    broker_findings,
    coverage_findings,
    durability_findings,
    group_findings,
    producer_findings,
)

RULES: tuple[Callable[..., Iterator[Finding]], ...] = (
    *group_findings.RULES,
    *balance_findings.RULES,
    *access_findings.RULES,
    *broker_findings.RULES,
    *durability_findings.RULES,
    *producer_findings.RULES,
    *coverage_findings.RULES,
)
"""The functions of all rules. The parameters of each are what it reads: see rule_inputs.py."""
