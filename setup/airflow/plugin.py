"""The page that shows the report inside Airflow."""

from hindsight_report import HindsightReport

__all__ = ["HindsightReport"]
