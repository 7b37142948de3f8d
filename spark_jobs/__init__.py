"""All of our PySpark: the workers of steps, and the jobs of a rebuild. spark-submit starts spark_run.py."""
