"""When a finding is raised, with thresholds and sources. Findings judge the cluster, never the data."""

from collections.abc import Mapping

from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.rules import brokers, data_coverage, durability, groups

RULES: tuple[Rule, ...] = (*groups.RULES, *brokers.RULES, *durability.RULES, *data_coverage.RULES)

RULE_BY_ID: dict[str, Rule] = {rule.rule_id: rule for rule in RULES}

STANDING_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_standing)
"""The rules about settings: the report shows them after what happened."""

HARM_OF_RULE: Mapping[str, Harm] = {
    "records_truncated": Harm.RECORDS_LOST,
    "unclean_election": Harm.RECORDS_LOST,
    "offline_partitions": Harm.PARTITIONS_OFFLINE,
    "under_min_isr": Harm.WRITES_REFUSED,
    "broker_gone": Harm.BROKER_LOST,
    "broker_lost": Harm.BROKER_LOST,
    "broker_slow": Harm.DATA_AT_RISK,
    "isr_flapping": Harm.DATA_AT_RISK,
    "restart_too_early": Harm.DATA_AT_RISK,
    "under_replicated": Harm.DATA_AT_RISK,
    "member_silent": Harm.CONSUMERS_STOPPED,
    "rebalances_excessive": Harm.CONSUMERS_STOPPED,
    "rebalances_frequent": Harm.CONSUMERS_STOPPED,
    "lag_growing": Harm.LAG_GREW,
}
"""The harm that a finding of a rule is about; every other rule is about settings and placement."""

INCIDENT_RULES = frozenset({"offline_partitions", "unclean_election", "broker_lost", "broker_gone"})
"""The rules about what is an incident of its own: alerts read it there, once."""

ONGOING_RULES = frozenset({"broker_gone"})
"""The rules about what is not over when the logs end: the window asks its reader to act, whenever it began."""

UNSEEN, UNREAD = data_coverage.UNSEEN, data_coverage.UNREAD
"""What the rules about our own input say was not seen, in a few words; and those of them that count lines."""
