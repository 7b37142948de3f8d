"""The generated pages of docs/ and the generated row classes."""
