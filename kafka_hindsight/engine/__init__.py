"""What spreads work: over the bytes of files, and over the files of tables. One process does, and so does Spark."""
