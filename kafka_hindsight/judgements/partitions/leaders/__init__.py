"""Leaders of partitions: which broker led, why that changed, and how evenly leaders are spread."""
