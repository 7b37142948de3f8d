"""What a user sets: a run, several clusters, owners, how long what is kept. Standard library only."""
