"""What the step ingest is made of: files become records, and records events. Any engine spreads the work."""
