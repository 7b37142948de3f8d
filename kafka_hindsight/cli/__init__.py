"""The command line: the verbs of `hindsight`."""
