"""Maintenance of each lake, every Sunday: one Airflow DAG for each lake."""

from __future__ import annotations

from hindsight_dags import clusters, hindsight_dag, step
from hindsight_operator import params, retry_arguments

from kafka_hindsight.catalog.steps import MAINTAIN
from kafka_hindsight.settings.alerts import owners
from kafka_hindsight.settings.models import KEEP

ABOUT = f"""
{MAINTAIN.sentence}.

`keep` sets the days that are kept, by layer, table or `landing`. All it does not name is kept. One run for each lake.
"""

OWNERS = owners()

for cluster in {c.lake: c for c in reversed(clusters())}.values():
    arguments = {"params": params(cluster.inputs, KEEP), "default_args": retry_arguments()}
    with hindsight_dag("kafka_maintenance", "30 12 * * 0", ABOUT, cluster, OWNERS, **arguments):
        step(MAINTAIN, cluster)
