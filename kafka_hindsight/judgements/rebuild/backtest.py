"""How often each rule fires in a window, and how often in restarts: what the history of a lake adds up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from kafka_hindsight.catalog.codes import IncidentKind
from kafka_hindsight.catalog.rows import Finding, RuleFiring
from kafka_hindsight.judgements.findings import Facts, judge_each
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.shared.absences import is_orderly
from kafka_hindsight.shared.durations import OUTAGE_SHADOW
from kafka_hindsight.shared.windows import Window


def back_test(facts: Facts, window: Window) -> list[RuleFiring]:
    """Rows of quality.rule_firings: every rule that is applied, whether it fired or not.

    Keeps: what fired is what the findings say, each group by itself, and what they leave out as rolling restarts.
    """
    found = judge_each(facts)
    known = {(f.rule_id, f.subject) for f in found}
    suppressed = [f for f in judge_each(replace(facts, incidents=())) if (f.rule_id, f.subject) not in known]
    return [_row(facts, window, rule.rule_id, found, suppressed) for rule in RULES]


def _row(
    facts: Facts, window: Window, rule_id: str, found: Iterable[Finding], suppressed: Iterable[Finding]
) -> RuleFiring:
    shown, left_out = ([f for f in some if f.rule_id == rule_id] for some in (found, suppressed))
    fired = [*shown, *left_out]
    return RuleFiring(
        cluster=facts.cluster,
        rule_id=rule_id,
        window_from=window.start,
        window_to=window.end,
        fired=len(fired),
        fired_in_restarts=sum(is_in_restart(f, facts) for f in shown) + len(left_out),
        suppressed=len(left_out),
        first_at=min((f.first_at for f in fired), default=None),
        last_at=max((f.last_at for f in fired), default=None),
    )


def is_in_restart(finding: Finding, facts: Facts) -> bool:
    """Whether all that a finding is about lies within one restart that affected its subject."""
    return any(start <= finding.first_at and finding.last_at <= end for start, end in _restarts(finding, facts))


def _restarts(finding: Finding, facts: Facts) -> Iterator[tuple[datetime, datetime]]:
    """From when to when members, or brokers in order, were restarted: what affected a group, a broker, a partition."""
    orderly = {o.outage_id: o for o in facts.outages if is_orderly(o)}
    kind, subject = finding.subject_kind, finding.subject
    for incident in facts.incidents:
        is_restart = incident.kind == IncidentKind.ROLLING_RESTART or incident.first_outage_id in orderly
        if is_restart and kind == "group" and subject in incident.group_ids:
            yield incident.started_at, incident.ended_at or finding.last_at
    for outage in orderly.values():
        if kind == "partition" or (kind, subject) == ("broker", str(outage.broker)):
            yield outage.down_at, (outage.up_at or finding.last_at) + OUTAGE_SHADOW
