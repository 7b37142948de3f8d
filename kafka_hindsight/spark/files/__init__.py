"""Files of logs, listed, surveyed and read by Spark's workers."""
