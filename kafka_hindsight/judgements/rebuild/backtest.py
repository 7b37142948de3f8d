"""How often each rule fires in a window, and how often in planned work: what the history of a lake adds up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from kafka_hindsight.catalog.rows import Finding, RuleFiring
from kafka_hindsight.judgements.findings import Facts, judge_each
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.shared.durations import OUTAGE_SHADOW
from kafka_hindsight.shared.windows import Window


def back_test(facts: Facts, window: Window) -> list[RuleFiring]:
    """Rows of quality.rule_firings: every rule that is applied, whether it fired or not.

    Keeps: what fired is what the findings say, each group by itself, and what they leave out as planned work.
    """
    found = judge_each(facts)
    known = {(f.rule_id, f.subject) for f in found}
    unplanned = replace(facts, incidents=[replace(i, planned=False) for i in facts.incidents])
    suppressed = [f for f in judge_each(unplanned) if (f.rule_id, f.subject) not in known]
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
        fired_in_planned=sum(is_planned(f, facts) for f in shown) + len(left_out),
        suppressed=len(left_out),
        first_at=min((f.first_at for f in fired), default=None),
        last_at=max((f.last_at for f in fired), default=None),
    )


def is_planned(finding: Finding, facts: Facts) -> bool:
    """Whether all that a finding is about lies within one piece of planned work that affected its subject."""
    return any(start <= finding.first_at and finding.last_at <= end for start, end in _planned(finding, facts))


def _planned(finding: Finding, facts: Facts) -> Iterator[tuple[datetime, datetime]]:
    """From when to when planned work affected the subject: a group's incidents, a broker's or partition's outages."""
    kind, subject = finding.subject_kind, finding.subject
    for incident in facts.incidents:
        if incident.planned and kind == "group" and subject in incident.group_ids:
            yield incident.started_at, incident.ended_at or finding.last_at
    for outage in facts.outages:
        if outage.planned and (kind == "partition" or (kind, subject) == ("broker", str(outage.broker))):
            yield outage.down_at, (outage.up_at or finding.last_at) + OUTAGE_SHADOW
