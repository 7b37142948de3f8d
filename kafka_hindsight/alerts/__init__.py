"""Which alerts go to which receivers, and when, each once: rows in, messages out. Standard library only."""
