"""The operators: one step with spark-submit, one reading of a cluster."""

from hindsight_operator import SparkStepOperator
from hindsight_snapshot import SnapshotOperator

__all__ = ["SnapshotOperator", "SparkStepOperator"]
