"""What all rooms use: exit codes, windows, lengths of time, words. Standard library only."""
