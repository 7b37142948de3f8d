"""All of our PySpark: the workers of steps, and the jobs of a rebuild. spark-submit starts run.py."""
