"""Copies of logs and readings, with pseudonyms in place of names."""
