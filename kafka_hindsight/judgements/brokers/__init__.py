"""When brokers and controllers came and went, what that did, and their settings."""
