"""Start processes of ours: their environment, Java, jars and Airflow. No pyspark."""
