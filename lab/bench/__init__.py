"""Speed, growth and memory, beside what a user would pick instead; the figures are kept, with date and commit."""
