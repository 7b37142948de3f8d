"""The settings of brokers and topics that decide what the loss of a broker costs."""

from __future__ import annotations

BROKER_SETTINGS = (
    "auto.create.topics.enable",
    "auto.leader.rebalance.enable",
    "broker.rack",
    "default.replication.factor",
    "group.consumer.heartbeat.interval.ms",
    "group.consumer.max.heartbeat.interval.ms",
    "group.consumer.max.session.timeout.ms",
    "group.consumer.min.heartbeat.interval.ms",
    "group.consumer.min.session.timeout.ms",
    "group.consumer.session.timeout.ms",
    "group.max.session.timeout.ms",
    "group.min.session.timeout.ms",
    "leader.imbalance.check.interval.seconds",
    "leader.imbalance.per.broker.percentage",
    "min.insync.replicas",
    "offsets.topic.replication.factor",
    "process.roles",
    "replica.lag.time.max.ms",
    "transaction.state.log.min.isr",
    "transaction.state.log.replication.factor",
    "unclean.leader.election.enable",
)
"""In the order in which a broker logs them."""

MIN_ISR = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"

AUTO_REBALANCE = "auto.leader.rebalance.enable"
IMBALANCE_INTERVAL = "leader.imbalance.check.interval.seconds"

TOPIC_SETTINGS = (MIN_ISR, UNCLEAN)
"""Settings that a topic may override; else the broker's setting of the same name applies."""

OF_CONTROLLERS = (UNCLEAN, AUTO_REBALANCE, IMBALANCE_INTERVAL)
"""Settings that the controllers decide under KRaft."""
