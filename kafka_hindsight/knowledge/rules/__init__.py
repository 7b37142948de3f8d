"""When a finding is raised, with thresholds and sources. Findings judge the cluster, never the data."""

from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.rules import brokers, data_coverage, durability, groups

RULES: tuple[Rule, ...] = (*groups.RULES, *brokers.RULES, *durability.RULES, *data_coverage.RULES)

RULE_BY_ID: dict[str, Rule] = {rule.rule_id: rule for rule in RULES}

STANDING_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_standing)
"""The rules about settings: the report shows them after what happened."""

INCIDENT_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_incident)
"""The rules about what is an incident of its own: alerts read it there, once."""

ONGOING_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_ongoing)
"""The rules about what is not over when the logs end: the window asks its reader to act, whenever it began."""

UNSEEN, UNREAD = data_coverage.UNSEEN, data_coverage.UNREAD
"""What the rules about our own input say was not seen, in a few words; and those of them that count lines."""
