"""All DAGs of the clusters that hindsight.toml names, or of the one that variables describe."""

from kafka_hindsight_airflow.dags import hindsight_dags

hindsight_dags()
