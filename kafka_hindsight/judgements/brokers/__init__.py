"""Brokers and controllers: how they came and went, what that did, and their settings."""
