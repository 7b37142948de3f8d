"""Partitions: their incarnations and leaderships; in leaders/ who led them, in replicas/ who followed."""
