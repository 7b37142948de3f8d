"""Tables of the lake, written and read by Spark."""
