"""Functions that all rooms use: exit codes, windows, lengths of time, words."""
