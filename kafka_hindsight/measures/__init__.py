"""Lengths and sums of rows of gold, in the same numbers and words in judgements, pages, alerts and SQL."""
