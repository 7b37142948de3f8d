"""The plugins: the page that shows the report inside Airflow, and the names of an audit's runs."""

from hindsight_report import HindsightReport
from hindsight_runs import HindsightRuns

__all__ = ["HindsightReport", "HindsightRuns"]
