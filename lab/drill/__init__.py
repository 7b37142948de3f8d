"""A real cluster put through faults, with the truth written down, and the score of the audit against it."""
