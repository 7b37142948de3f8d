"""Rules about brokers and partitions: leaders, replicas, records at risk."""

from spark_jobs.knowledge.model import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        rule_id="leader_imbalance",
        severity="warning",
        subject_kind="broker",
        says="{subject} led too few of the partitions that it is preferred for: {told}",
        advice="Run a preferred leader election (kafka-leader-election.sh --election-type preferred), or see why"
        " auto.leader.rebalance.enable has not; KRaft controllers ignore the percentage and move every leader.",
        source="leader.imbalance.per.broker.percentage, default 10, strictly above; KafkaController.scala",
        thresholds={"ratio": 0.10},
    ),
    Rule(
        rule_id="records_truncated",
        severity="critical",
        subject_kind="partition",
        says="{subject} {lost} when broker {broker} cut its log: {cut}",
        advice="See the truncation's explanation for what is known of the leader it followed; compare what consumers"
        " and other systems hold with the topic.",
        source="A follower that cuts below what is committed follows a leader that lost it (KIP-101, KIP-279)",
    ),
    Rule(
        rule_id="under_replicated",
        severity="warning",
        subject_kind="partition",
        says="{count} partitions had fewer in-sync replicas than replicas at the last reading{told}",
        advice="Bring the broker that is missing from their ISR back: see gold.out_of_sync_periods and the outages.",
        source="UnderReplicatedPartitions, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="under_min_isr",
        severity="critical",
        subject_kind="partition",
        says="{count} partitions had fewer in-sync replicas than min.insync.replicas: acks=all could not write",
        advice="Bring the missing replicas back first; lowering min.insync.replicas gives up durability.",
        source="UnderMinIsrPartitionCount, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="offline_partitions",
        severity="critical",
        subject_kind="partition",
        says="{subject} had no leader from {since} on{until}",
        advice="Bring a replica of its last ISR back. An unclean election brings it back sooner and loses records.",
        source="OfflinePartitionsCount, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="unclean_election",
        severity="critical",
        subject_kind="partition",
        says="{subject} elected a leader from outside its ISR: {lost}",
        advice="Compare what consumers and other systems hold with the topic, and set"
        " unclean.leader.election.enable=false where records must not be lost.",
        source="UncleanLeaderElectionsPerSec, normal 0 (Kafka operations guide)",
    ),
)
