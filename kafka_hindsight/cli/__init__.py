"""What a person types: the verbs of `hindsight`."""
