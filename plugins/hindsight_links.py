"""Links of a task: to the report of its night, its validation, and to Spark's own page of its application."""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import Any

from airflow.configuration import conf
from airflow.sdk import BaseOperatorLink

from kafka_hindsight.catalog.steps import INGEST, RECLASSIFY, STEPS
from kafka_hindsight.lake import landing
from kafka_hindsight.settings.alerts import alert_settings
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.page_names import NEWEST, VALIDATION_PAGE, page_address, page_name

SPARK_UI = "HINDSIGHT_SPARK_UI"
"""The address of an application's page with {application}, such as that of a history server."""


class ReportLink(BaseOperatorLink):
    """The report of the night that the task works on: where alerts link to, else the page inside this Airflow."""

    name = "Report"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address; Airflow asks for it when the task has ended."""
        return self._address(operator, _page(operator))

    def _address(self, operator: Any, page: str) -> str:
        inside = f"{conf.get('api', 'base_url', fallback='').rstrip('/')}/hindsight/{{cluster}}/{{page}}"
        template = alert_settings().link or inside
        return page_address(template, operator.cluster.name or "night", page)


class ValidationLink(ReportLink):
    """The page of the checks before the newest publication."""

    name = "Validation"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address."""
        return self._address(operator, VALIDATION_PAGE)


class SparkLink(BaseOperatorLink):
    """The page of the application that ran the step, where HINDSIGHT_SPARK_UI names one."""

    name = "Spark"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address; empty where no page is named, and where no application took the step."""
        template, application = os.environ.get(SPARK_UI, ""), getattr(operator, "application", None)
        return template.replace("{application}", application) if application else ""


def _page(operator: Any) -> str:
    """The page of the operator's night; the cluster's newest one where its step has no night, or none is known.

    Where a run does not name its cluster or window, the result of its step ingest in the lake does.
    """
    if not isinstance(operator.settings, dict) or operator.step not in (*STEPS, RECLASSIFY):
        return NEWEST
    try:
        settings = Settings.of(operator.settings)
        if settings.cluster and settings.window_from and settings.window_to:
            return page_name(settings.cluster, settings.window_from, settings.window_to)
        result = json.loads(landing.read_text(f"{settings.lake}/runs/{settings.run_id}/{INGEST.name}.json"))
    except (OSError, BadInput):
        return NEWEST
    return page_name(result["cluster"], *(datetime.fromisoformat(result[end]) for end in ("window_from", "window_to")))
