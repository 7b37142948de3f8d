"""Which replicas were in sync, what was at risk, and what was lost."""
