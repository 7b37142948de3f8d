"""The operators: one step, one reading of a cluster."""

from hindsight_operator import StepOperator
from hindsight_snapshot import SnapshotOperator

__all__ = ["SnapshotOperator", "StepOperator"]
