"""Who is told what, when, and once: rows in, messages out. Standard library only."""
