"""How a process of ours is started: its environment, Java, jars, Airflow, a run's application. No pyspark."""
