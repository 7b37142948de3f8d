"""Leaders that are not the preferred replica: how that ends, and what to do."""

from kafka_hindsight.catalog.codes import ImbalanceEnd

IMBALANCE_ADVICE: dict[ImbalanceEnd | None, str] = {
    None: "Run a preferred leader election (kafka-leader-election.sh --election-type preferred"
    " --all-topic-partitions), and find out why auto.leader.rebalance.enable did not cause one: a ZooKeeper controller"
    " acts only above leader.imbalance.per.broker.percentage; a KRaft controller ignores the percentage and moves"
    " every leader at most leader.imbalance.check.interval.seconds later, once its first replica is in sync.",
    ImbalanceEnd.AUTOMATIC_ELECTION: "Kafka's own task ended it. leader.imbalance.check.interval.seconds (300 s) bounds"
    " how long it lasts; a KRaft controller ignores the percentage and moves every leader.",
    ImbalanceEnd.REQUESTED_ELECTION: "An operator requested the election. With auto.leader.rebalance.enable Kafka does"
    " it by itself within leader.imbalance.check.interval.seconds (300 s).",
    ImbalanceEnd.PREFERRED_ELECTION: "An election ended it; the logs do not show what requested it. With"
    " auto.leader.rebalance.enable Kafka does it by itself within leader.imbalance.check.interval.seconds (300 s).",
    ImbalanceEnd.FAILOVER: "Another change of leader ended it, not an election: look for the outage of the broker"
    " that led the partitions, and run a preferred leader election after a broker is back.",
}
"""By what ended it. Source: KafkaController.checkAndTriggerAutoLeaderRebalance;
ReplicationControlManager.maybeBalancePartitionLeaders, which ignores the percentage (apache/kafka#11893)."""
