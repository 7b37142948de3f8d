"""Kafka itself: the only package that imports confluent_kafka."""
