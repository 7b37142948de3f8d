"""Known lines of loggers that matter which carry nothing we use."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Noise

NOISE: tuple[Noise, ...] = ()
