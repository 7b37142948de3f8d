"""What consumer groups do, and what it costs them; their rebalances stand in a room of their own."""
