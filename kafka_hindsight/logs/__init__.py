"""The reading of logs: bytes become lines, lines records, records events; each is accounted for. No Spark."""
