"""What comes in: bytes become lines, lines records, records events, each accounted for. No Spark."""
