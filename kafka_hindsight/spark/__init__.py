"""The engine: Spark over the lake and over logs. Nothing outside of here and of spark_jobs/ imports pyspark."""
