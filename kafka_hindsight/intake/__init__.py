"""The parts of the step ingest: files become records, and records events. Any engine spreads the work."""
