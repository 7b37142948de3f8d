"""The DAG factory, for DAG files."""

from hindsight_dags import hindsight_dags

__all__ = ["hindsight_dags"]
