"""Kafka's own records, which are binary: those of groups and of the metadata log, decoded, and the log replayed."""
