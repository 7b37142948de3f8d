"""What spark-submit starts: steps whose work is done by Spark's workers."""
