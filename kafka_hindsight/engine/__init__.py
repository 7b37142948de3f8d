"""How judgements are run: over tables in one process. Spark runs the same functions in its workers."""
