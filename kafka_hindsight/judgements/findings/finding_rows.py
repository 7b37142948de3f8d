"""The rows of gold.findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.knowledge.model import Rule


def finding_of(
    cluster: str,
    rule: Rule,
    subjects: str | Sequence[str],
    instants: Iterable[datetime],
    evidence: Iterable[rows.Quote],
    **words: object,
) -> rows.Finding:
    """A row of gold.findings, from the first to the last instant. `words` fill the braces of the rule's `says`."""
    ordered = sorted(instants)
    names = [subjects] if isinstance(subjects, str) else subjects
    subject = f"{names[0]} and {len(names) - 1} more" if names[1:] else names[0]
    others = subject.removeprefix(names[0])
    name = subject if rule.subject_kind == "broker" else f"'{names[0]}'{others}"
    message = rule.says.format(subject=f"{rule.subject_kind} {name}", **words)
    return rows.Finding(
        cluster=cluster,
        finding_id=row_id("finding", cluster, rule.rule_id, subject, ordered[0]),
        rule_id=rule.rule_id,
        severity=FindingSeverity(rule.severity),
        subject_kind=rule.subject_kind,
        subject=subject,
        first_at=ordered[0],
        last_at=ordered[-1],
        message=message[0].upper() + message[1:],
        advice=rule.advice,
        source=rule.source,
        evidence=evidence_of(*([quotation] for quotation in evidence)),
    )
