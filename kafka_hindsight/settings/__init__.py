"""What a user sets: a run, several clusters, owners, retention; and where our things lie."""
