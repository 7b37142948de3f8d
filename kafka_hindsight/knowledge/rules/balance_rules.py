"""Rules about how the members of a group share its partitions out."""

from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.knowledge.model import Rule

IDLE_MEMBERS = Rule(
    rule_id="idle_members",
    severity="info",
    harm=Harm.POSTURE,
    subject_kind="group",
    says="{subject} had more members than partitions: {details}",
    advice="Stop the members that have nothing to do, or add partitions to the topics: in a group a partition has one"
    " consumer at most. Leave members that stand by on purpose: they take over when another one goes.",
    source="Kafka, Consumers: a partition is consumed by exactly one consumer of each group; the limit is our choice:"
    " no rebalance lasts longer than max.poll.interval.ms, by default 5 min",
    thresholds={"minutes": 5},
    is_standing=True,
)

LOPSIDED_ASSIGNMENT = Rule(
    rule_id="lopsided_assignment",
    severity="info",
    harm=Harm.POSTURE,
    subject_kind="group",
    says="{subject} shared its partitions out unevenly: {details}",
    advice="RangeAssignor shares out each topic by itself, so that the first members get the most of many small topics:"
    " use CooperativeStickyAssignor or RoundRobinAssignor, or group.protocol=consumer with the assignor uniform. Where"
    " one partition gets most of the records, look at the keys that producers use.",
    source="RangeAssignor shares out by topic; more than twice a fair share, for longer than max.poll.interval.ms lasts"
    " by default, is our choice",
    thresholds={"minutes": 5, "times a fair share": 2},
    is_standing=True,
)

UNOWNED_PARTITIONS = Rule(
    rule_id="unowned_partitions",
    severity="warning",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="group",
    says="no member of {subject} owned some partitions of a topic that it reads: {details}",
    advice="Restart the group's members, or make them rebalance, so that they see all partitions. Look at"
    " metadata.max.age.ms (how late a member sees new partitions), at an assignor of your own, and under KIP-848 at a"
    " member that does not give partitions back.",
    source="ConsumerConfig metadata.max.age.ms, by default 5 min, and another one for the rebalance",
    thresholds={"minutes": 6},
)

RULES: tuple[Rule, ...] = (IDLE_MEMBERS, LOPSIDED_ASSIGNMENT, UNOWNED_PARTITIONS)
