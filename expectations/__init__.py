"""Expectations of our tables before they are published: derived from the catalog, plus the few laws across tables.

Expectations judge our data; findings judge the cluster.
"""
