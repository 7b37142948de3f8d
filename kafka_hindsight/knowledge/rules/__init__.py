"""The rules of findings, with thresholds and sources. Findings judge the cluster, never the data."""

from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.rules import (
    access_rules,
    balance_rules,
    broker_rules,
    coverage_rules,
    durability_rules,
    group_rules,
    producer_rules,
)

RULES: tuple[Rule, ...] = (
    *(*group_rules.RULES, *balance_rules.RULES, *access_rules.RULES, *broker_rules.RULES),
    *(*durability_rules.RULES, *producer_rules.RULES, *coverage_rules.RULES),
)

RULE_BY_ID: dict[str, Rule] = {rule.rule_id: rule for rule in RULES}

STANDING_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_standing)
"""The rules about settings: the report shows them after what happened."""

ONGOING_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_ongoing)
"""The rules about what began before the window and goes on: the window asks to act. No alert reads their findings: the
incident of the window in which it began is one until it is over."""

WENT_ON = {rule.rule_id: rule.went_on for rule in RULES if rule.went_on}
"""The rules about what began before the window, each with the kind of event that went on in it. No alert reads their
findings either."""

UNSEEN, UNREAD = coverage_rules.UNSEEN, coverage_rules.UNREAD
"""The missing input that each rule about our own data names, in a few words; and those rules that count lines."""
