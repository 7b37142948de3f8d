"""Partitions: their incarnations and leaderships; in leaders/ their leaders, in replicas/ their followers."""
