"""The report: rows in, blocks out, then HTML and terminal. No Spark."""
