"""Frames in, frames out: what Spark prepares for readers and for judgements."""
