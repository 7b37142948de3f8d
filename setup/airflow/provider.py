"""The metadata that Airflow reads of a provider."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """The metadata of the package, as Airflow's schema of providers has it."""
    return {
        "package-name": "kafka-hindsight-airflow",
        "name": "Kafka Hindsight",
        "description": "What happened to consumer groups and leaders of Kafka last night, why, and what it cost.",
        "connection-types": [
            {
                "connection-type": "hindsight",
                "hook-class-name": "kafka_hindsight_airflow.hooks.HindsightHook",
                "hook-name": "Kafka Hindsight",
                "ui-field-behaviour": {
                    "hidden-fields": ["login", "port"],
                    "relabeling": {"host": "Lake", "schema": "Cluster", "password": "URL of the receiver of alerts"},
                    "placeholders": {
                        "host": "s3a://lakes/kafka",
                        "schema": "the id that logs or readings name",
                        "password": "an Apprise URL, such as pagerduty://...",
                        "extra": '{"logs": "/var/log/kafka", "client_logs": "/var/log/apps"}',
                    },
                },
            }
        ],
    }
