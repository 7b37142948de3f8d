"""The vocabularies whose codes have words: each code once, with all that page, sentences and advice say of it."""
