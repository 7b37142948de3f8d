"""What is known of leaders that are not where they are preferred: how that heals, and what to do."""

SPELL_ADVICE = {
    None: "Run a preferred leader election (kafka-leader-election.sh --election-type preferred"
    " --all-topic-partitions), and see why auto.leader.rebalance.enable has not: a ZooKeeper controller acts only above"
    " leader.imbalance.per.broker.percentage; a KRaft controller ignores the percentage and moves every leader at most"
    " leader.imbalance.check.interval.seconds later, once its first replica is in sync.",
    "automatic_election": "Kafka's own task healed it. leader.imbalance.check.interval.seconds (300 s) bounds how long"
    " it lasts; a KRaft controller ignores the percentage and moves every leader.",
    "requested_election": "Somebody asked for the election. With auto.leader.rebalance.enable Kafka does it by itself"
    " within leader.imbalance.check.interval.seconds (300 s).",
    "preferred_election": "An election healed it; whether somebody asked for it no line tells. With"
    " auto.leader.rebalance.enable Kafka does it by itself within leader.imbalance.check.interval.seconds (300 s).",
    "failover": "Another change of leader brought leaders back, not an election: look for the absence of the broker"
    " that led them, and run a preferred leader election after a broker is back.",
}
"""By what healed it. Source: KafkaController.checkAndTriggerAutoLeaderRebalance;
ReplicationControlManager.maybeBalancePartitionLeaders, which ignores the percentage (apache/kafka#11893)."""
