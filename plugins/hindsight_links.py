"""Links from a task to what it left: the report of its night, and Spark's own page of its application."""

from __future__ import annotations

import os
from typing import Any

from airflow.configuration import conf
from airflow.sdk import BaseOperatorLink

from spark_jobs.alerts.settings import settings_of
from spark_jobs.report.places import NEWEST, page_address
from spark_jobs.shared.clusters import file_path, read_file

SPARK_UI = "HINDSIGHT_SPARK_UI"
"""The address of an application's page with {application}, such as that of a history server."""


class ReportLink(BaseOperatorLink):
    """The newest report of the task's cluster: where alerts link to, else the page inside this Airflow."""

    name = "Report"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address; Airflow asks for it when the task has ended."""
        inside = f"{conf.get('api', 'base_url', fallback='').rstrip('/')}/hindsight/{{cluster}}/{{page}}"
        template = settings_of(read_file(file_path())).link or inside
        return page_address(template, operator.cluster.name or "night", NEWEST)


class SparkLink(BaseOperatorLink):
    """The page of the application that ran the step, where HINDSIGHT_SPARK_UI names one."""

    name = "Spark"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address; empty where no page is named, and where no application took the step."""
        template, application = os.environ.get(SPARK_UI, ""), getattr(operator, "application", None)
        return template.replace("{application}", application) if application else ""
