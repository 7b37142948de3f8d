"""Kafka Hindsight: the history of a Kafka cluster's rebalances and failovers, with their causes."""

__version__ = "0.2.0"
