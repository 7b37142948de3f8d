"""Logs outside of files: what is new there lands in the lake first, and is read from there as any folder is."""
