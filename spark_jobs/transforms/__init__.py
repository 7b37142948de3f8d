"""VERBS: rows or frames in, rows or frames out. No reading, no writing, no clock."""
