"""How often each rule fires in a window, and how often in planned work: what the history of a lake adds up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from spark_jobs.catalog.rows import BrokerOutage, Finding, Incident, RuleFiring
from spark_jobs.knowledge.rules import RULES
from spark_jobs.transforms.findings import Facts, judge_each
from spark_jobs.transforms.groups.outage_attribution import OUTAGE_SHADOW
from spark_jobs.transforms.windows import Window


def back_test(facts: Facts, window: Window) -> list[RuleFiring]:
    """Rows of quality.rule_firings: every rule that is applied, whether it fired or not.

    Keeps: what fired is what the findings report, each group by itself, and what they leave out as planned work.
    """
    reported = list(map(Finding.of, judge_each(facts)))
    known = {(f.rule_id, f.subject) for f in reported}
    unplanned = [replace(Incident.of(i), planned=False) for i in facts.incidents]
    with_planned = map(Finding.of, judge_each(replace(facts, incidents=unplanned)))
    suppressed = [f for f in with_planned if (f.rule_id, f.subject) not in known]
    return [_row(facts, window, rule.rule_id, reported, suppressed) for rule in RULES]


def _row(
    facts: Facts, window: Window, rule_id: str, reported: Sequence[Finding], suppressed: Sequence[Finding]
) -> RuleFiring:
    left_out = [f for f in suppressed if f.rule_id == rule_id]
    shown = [f for f in reported if f.rule_id == rule_id]
    fired = [*shown, *left_out]
    return RuleFiring(
        cluster=facts.cluster,
        rule_id=rule_id,
        window_from=window.start,
        window_to=window.end,
        fired=len(fired),
        fired_in_planned=len(left_out) + sum(is_planned(f, facts) for f in shown),
        suppressed=len(left_out),
        first_at=min((f.first_at for f in fired), default=None),
        last_at=max((f.last_at for f in fired), default=None),
    )


def is_planned(finding: Finding, facts: Facts) -> bool:
    """Whether all that a finding is about lies within one piece of planned work that touched its subject."""
    return any(start <= finding.first_at and finding.last_at <= end for start, end in _planned(finding, facts))


def _planned(finding: Finding, facts: Facts) -> Iterator[tuple[datetime, datetime]]:
    """From when to when planned work touched the subject: a group its incidents, a broker or partition an outage."""
    kind, subject = finding.subject_kind, finding.subject
    for incident in map(Incident.of, facts.incidents):
        if incident.planned and kind == "group" and subject in incident.group_ids:
            yield incident.started_at, incident.ended_at or finding.last_at
    for outage in map(BrokerOutage.of, facts.outages):
        if outage.planned and (kind == "partition" or (kind, subject) == ("broker", str(outage.broker))):
            yield outage.down_at, (outage.up_at or finding.last_at) + OUTAGE_SHADOW
