"""The tables that a step reads and writes, as datasets of OpenLineage, for Airflow's provider of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.steps import Step


def lineage(step: Step, lake: str) -> Any:
    """The tables of a step as datasets, with their columns. Only OpenLineage's provider asks for it.

    Source: OpenLineage's naming of datasets: the store is the namespace, the path is the name.
    """
    from airflow.providers.common.compat.openlineage.facet import (
        Dataset,
        SchemaDatasetFacet,
        SchemaDatasetFacetFields,
    )
    from airflow.providers.openlineage.extractors import OperatorLineage

    place = urlsplit(lake)
    namespace = f"{place.scheme.replace('s3a', 's3')}://{place.netloc}" if place.scheme else "file"
    path = place.path.strip("/") if place.scheme else place.path.rstrip("/")

    def of(name: str) -> Any:
        """A table as a dataset. A staged table has the columns of the gold table."""
        columns = BY_NAME[name.replace("staging.", "gold.")].columns
        fields = [SchemaDatasetFacetFields(name=c.name, type=c.type, description=c.meaning) for c in columns]
        facets = {"schema": SchemaDatasetFacet(fields=fields)}
        return Dataset(namespace=namespace, name=f"{path}/{name.replace('.', '/')}", facets=facets)

    return OperatorLineage(inputs=[of(t) for t in step.reads], outputs=[of(t) for t in step.writes])
