"""How often each rule fires in a window, and how often in planned work: what the history of a lake adds up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from spark_jobs.knowledge.rules import RULES
from spark_jobs.transforms.findings import Facts, judge_each
from spark_jobs.transforms.groups.outage_attribution import OUTAGE_SHADOW
from spark_jobs.transforms.windows import OutRow, Window

Row = Mapping[str, Any]


def back_test(facts: Facts, window: Window) -> list[OutRow]:
    """Rows of quality.rule_firings: every rule that is applied, whether it fired or not.

    Keeps: what fired is what the findings tell, each group by itself, and what they leave out as planned work.
    """
    told = judge_each(facts)
    known = {(f["rule_id"], f["subject"]) for f in told}
    unplanned = [{**i, "planned": False} for i in facts.incidents]
    suppressed = [
        f for f in judge_each(replace(facts, incidents=unplanned)) if (f["rule_id"], f["subject"]) not in known
    ]
    return [_row(facts, window, rule.rule_id, told, suppressed) for rule in RULES]


def _row(facts: Facts, window: Window, rule_id: str, told: Iterable[Row], suppressed: Iterable[Row]) -> OutRow:
    left_out = [f for f in suppressed if f["rule_id"] == rule_id]
    fired = [f for f in told if f["rule_id"] == rule_id] + left_out
    return {
        "cluster": facts.cluster,
        "rule_id": rule_id,
        "window_from": window.start,
        "window_to": window.end,
        "fired": len(fired),
        "fired_in_planned": sum(f in left_out or is_planned(f, facts) for f in fired),
        "suppressed": len(left_out),
        "first_at": min((f["first_at"] for f in fired), default=None),
        "last_at": max((f["last_at"] for f in fired), default=None),
    }


def is_planned(finding: Row, facts: Facts) -> bool:
    """Whether all that a finding is about lies within one piece of planned work that touched its subject."""
    return any(start <= finding["first_at"] and finding["last_at"] <= end for start, end in _planned(finding, facts))


def _planned(finding: Row, facts: Facts) -> Iterator[tuple[datetime, datetime]]:
    """From when to when planned work touched the subject: a group its incidents, brokers and partitions an absence."""
    kind, subject = finding["subject_kind"], finding["subject"]
    for incident in facts.incidents:
        if incident["planned"] and kind == "group" and subject in incident["group_ids"]:
            yield incident["started_at"], incident["ended_at"] or finding["last_at"]
    for outage in facts.outages:
        if outage["planned"] and (kind == "partition" or (kind, subject) == ("broker", str(outage["broker"]))):
            yield outage["down_at"], (outage["up_at"] or finding["last_at"]) + OUTAGE_SHADOW
