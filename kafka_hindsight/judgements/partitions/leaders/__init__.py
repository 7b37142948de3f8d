"""Who led a partition, why that changed, and how evenly leaders are spread."""
