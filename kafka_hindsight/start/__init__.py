"""How a process of ours is started: where things lie, Spark's environment, Java, jars, Airflow. No pyspark."""
