"""Start processes of ours: their environment, Java and Airflow. No pyspark."""
