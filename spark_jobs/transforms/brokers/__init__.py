"""When brokers and controllers came and went, what that did, and how they were set up."""
