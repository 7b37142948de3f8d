"""Rules about brokers and partitions: leaders, replicas, records at risk."""

from kafka_hindsight.knowledge.model import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        rule_id="leader_imbalance",
        severity="warning",
        subject_kind="broker",
        says="{subject} led too few partitions: {details}",
        advice="Run a preferred leader election (kafka-leader-election.sh --election-type preferred), or find out why"
        " auto.leader.rebalance.enable did not cause one. KRaft controllers ignore the percentage and move every"
        " leader.",
        source="leader.imbalance.per.broker.percentage, default 10, strictly above; KafkaController.scala",
        thresholds={"ratio": 0.10},
    ),
    Rule(
        rule_id="records_truncated",
        severity="critical",
        subject_kind="partition",
        says="{subject} {lost} when broker {broker} truncated its log: {cut}",
        advice="See the explanation of the truncation for the leader that the broker followed. Compare the topic with"
        " what consumers and other systems hold.",
        source="A follower that cuts below what is committed follows a leader that lost it (KIP-101, KIP-279)",
    ),
    Rule(
        rule_id="under_replicated",
        severity="warning",
        subject_kind="partition",
        says="{count} partitions had fewer in-sync replicas than replicas at the last reading{details}",
        advice="Bring back the broker that is missing from their ISR: see gold.out_of_sync_periods and the outages.",
        source="UnderReplicatedPartitions, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="under_min_isr",
        severity="critical",
        subject_kind="partition",
        says="{count} partitions had fewer in-sync replicas than min.insync.replicas: writes with acks=all failed",
        advice="Bring the missing replicas back first. A lower min.insync.replicas gives up durability.",
        source="UnderMinIsrPartitionCount, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="offline_partitions",
        severity="critical",
        subject_kind="partition",
        says="{subject} {was} offline from {since} {until}",
        advice="Bring a replica of its last ISR back. An unclean election brings it back sooner and loses records.",
        source="OfflinePartitionsCount, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="broker_gone",
        severity="critical",
        subject_kind="broker",
        says="{subject} {fate}",
        advice="Start the broker, or bring back its connection to the controllers. Stop no other broker until it is"
        " back in every ISR.",
        source="Orion alerts after 5 minutes, Cruise Control after 15; here the records end before it was back",
    ),
    Rule(
        rule_id="broker_lost",
        severity="warning",
        subject_kind="broker",
        says="{subject} {fate}",
        advice="Find out why: the end of its log, its exit code, kills for memory, pauses, its network and its host."
        " See the incident for what followed.",
        source="Our choice: each absence that did not begin with a shutdown in order",
    ),
    Rule(
        rule_id="unclean_election",
        severity="critical",
        subject_kind="partition",
        says="{subject} elected a leader from outside its ISR: {lost}",
        advice="Compare the topic with what consumers and other systems hold. Set unclean.leader.election.enable=false"
        " if records must not be lost.",
        source="UncleanLeaderElectionsPerSec, normal 0 (Kafka operations guide)",
    ),
)
