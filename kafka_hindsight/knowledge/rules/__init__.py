"""The rules of findings, with thresholds and sources. Findings judge the cluster, never the data."""

from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.rules import brokers, data_coverage, durability, groups

RULES: tuple[Rule, ...] = (*groups.RULES, *brokers.RULES, *durability.RULES, *data_coverage.RULES)

RULE_BY_ID: dict[str, Rule] = {rule.rule_id: rule for rule in RULES}

STANDING_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_standing)
"""The rules about settings: the report shows them after what happened."""

INCIDENT_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_incident)
"""The rules whose findings are incidents too: alerts read the incident, so that it is reported once."""

ONGOING_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_ongoing)
"""The rules whose findings are not over when the logs end: the window asks to act, whenever they began."""

UNSEEN, UNREAD = data_coverage.UNSEEN, data_coverage.UNREAD
"""The missing input that each rule about our own data names, in a few words; and those rules that count lines."""
