"""Settings: a run, several clusters, alerts, owners, retention; and the folders of the product."""
