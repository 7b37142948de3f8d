"""When a finding is raised, with thresholds and sources. Findings judge the cluster, never the data."""

from spark_jobs.knowledge.model import Rule
from spark_jobs.knowledge.rules import brokers, data_coverage, durability, groups, replicas

RULES: tuple[Rule, ...] = (*groups.RULES, *brokers.RULES, *replicas.RULES, *durability.RULES, *data_coverage.RULES)

RULE_BY_ID: dict[str, Rule] = {rule.rule_id: rule for rule in RULES}

STANDING_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_standing)
"""The rules about settings: the report shows them after what happened."""

INCIDENT_RULES = frozenset({"offline_partitions", "unclean_election", "broker_lost", "broker_gone"})
"""The rules about what is an incident of its own: alerts read it there, once."""

URGENT_RULES = frozenset({"under_min_isr", "records_truncated"})
"""The rules whose findings cannot wait until a reader takes up the digest."""

UNSEEN, UNREAD = data_coverage.UNSEEN, data_coverage.UNREAD
"""What the rules about our own input say was not seen, in a few words; and those of them that count lines."""
