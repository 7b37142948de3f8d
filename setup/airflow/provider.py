"""The metadata that Airflow reads of a provider."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """The metadata of the package, as Airflow's schema of providers has it."""
    return {
        "package-name": "kafka-hindsight-airflow",
        "name": "Kafka Hindsight",
        "description": "What happened to consumer groups and leaders of Kafka last night, why, and what it cost.",
    }
