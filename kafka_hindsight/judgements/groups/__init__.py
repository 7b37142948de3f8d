"""The judgements on consumer groups, and what rebalances cost them; rebalances themselves have a room of their own."""
