"""VERBS: rows in, rows out. No reading, no writing, no clock, no Spark."""
