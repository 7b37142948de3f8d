"""Which alerts go to which receivers, each once: rows in, messages out."""
