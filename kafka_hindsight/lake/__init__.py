"""EDGES: the only places that touch the world: session, store, files, locks, Kafka, clock."""
