"""What a person types: the verbs of `hindsight`, and what makes the generated pages."""
