"""The operator that runs a step with spark-submit, and the tasks and params that DAGs have around it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from airflow.exceptions import AirflowException, AirflowNotFoundException
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk import Connection, Param, task
from hindsight_airflow import AirflowFailException
from hindsight_child import child, last_line
from hindsight_container import container_operator
from hindsight_step import JUDGED, WINDOW, StepTask, settings_of

from kafka_hindsight.lake import landing
from kafka_hindsight.settings.models import KEEP, MEANINGS, MOST_HOURS, Settings, param_name, variable
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.start import launch
from kafka_hindsight.start.first_use import prepare_spark

_WINDOWS = "SELECT DISTINCT cluster, window_from, window_to FROM {} ORDER BY window_from, window_to, cluster"
PUBLISHED = _WINDOWS.format("quality.publications")
LATE = _WINDOWS.format("quality.late_windows WHERE run_id = '{}'")

_DESCRIPTIONS = {
    "window_from": "first instant of the window; goes with To",
    "window_to": "instant at which the window ends; without From and To: the night that the data interval names",
}
_SECTION = "Input and lake"
_HOURS = ("look_ahead_hours", "look_back_hours")


class SparkStepHook(SparkSubmitHook):
    """spark-submit on the connection's master; on local Spark where there is no such connection."""

    @classmethod
    def get_connection(cls, conn_id: str) -> Any:
        """The connection of that name, else local Spark (the provider would fall back to YARN)."""
        try:
            return super().get_connection(conn_id)
        except AirflowNotFoundException:
            return Connection(conn_id=conn_id, conn_type="spark", host=launch.DEFAULT_MASTER)


class SparkStepOperator(StepTask):
    """An operator that runs one step with spark-submit."""

    hook: SparkStepHook | None = None

    def execute(self, context: Any) -> None:
        """Submit the step and wait for it."""
        launch.keep_private()
        self.step_settings = settings = settings_of(context, self.window)
        try:
            prepare_spark()
        except BadInput as problem:
            raise AirflowFailException(str(problem)) from None
        is_large = launch.is_large(settings.get("logs"), settings.get("client_logs"))
        self.hook = SparkStepHook(
            properties_file=str(launch.properties_file(launch.configuration(is_large))),
            conn_id="spark_default",
            name="hindsight",
            application_args=[str(launch.RUN), self.step.name, "--settings", json.dumps(settings)],
            spark_binary=str(launch.spark_submit()),
        )
        with self.ending():
            self.hook.submit(launch.LOAD_DEFAULTS, env={**launch.without_airflows(), **launch.environment()})

    def on_kill(self) -> None:
        """End spark-submit with the task."""
        if self.hook:
            self.hook.on_kill()


def step_operator() -> type[Any]:
    """The operator of a step: spark-submit, or the container that HINDSIGHT_CONTAINER describes."""
    return container_operator() or SparkStepOperator


@task
def published_windows(**context: Any) -> list[dict[str, str]]:
    """The windows of the cluster that were published and lie between the params `from` and `to`, oldest first."""
    settings = Settings.of(settings_of(context))
    if not settings.window_from or not settings.window_to:
        raise AirflowFailException("FROM and TO are not given. Needed: the part of the past to judge again.")
    windows = [
        window
        for window in _windows(PUBLISHED, settings.lake)
        if settings.cluster in (None, window["cluster"])
        and settings.window_from <= datetime.fromisoformat(window["from"])
        and datetime.fromisoformat(window["to"]) <= settings.window_to
    ]
    if not windows:
        raise AirflowFailException("Found no published window between FROM and TO. Choose other instants.")
    return windows


@task
def late_windows(**context: Any) -> list[dict[str, str]]:
    """The earlier windows for which this run read late records, oldest first; mostly none."""
    settings = Settings.of(settings_of(context))
    return _windows(LATE.format(settings.run_id), settings.lake)


@task
def other_clusters(step: str, **context: Any) -> list[dict[str, Any]]:
    """The runs for the other clusters that have logs of this run's window in the same folder; mostly none.

    A run that names its cluster audits that one alone. `hindsight audit` names its run, and audits the others itself.
    """
    settings, conf = Settings.of(settings_of(context)), context["dag_run"].conf or {}
    if settings.cluster or "run_id" in conf:
        return []
    ends = {param_name(end): at.isoformat() for end in WINDOW if (at := getattr(settings, end))}
    run_params = {**context["params"], **ends}
    result = json.loads(landing.read_text(f"{settings.lake}/runs/{settings.run_id}/{step}.json"))
    return [
        {"conf": {**run_params, "cluster": name}, "trigger_run_id": launch.safe_run_id(f"of-{name}-{settings.run_id}")}
        for name in result["other_clusters"]
    ]


def _windows(query: str, lake: str) -> list[dict[str, str]]:
    """The windows that a query of the lake returns, as params of a run."""
    process = child("sql", query, "--format", "json", "--lake", lake)
    output, _ = process.communicate()
    if process.returncode != DONE:
        raise AirflowException(f"The windows cannot be read from the lake: {last_line(output)}")
    return [{"cluster": r["cluster"], "from": r["window_from"], "to": r["window_to"]} for r in json.loads(output)]


def params(inputs: Mapping[str, Any], *fields: str) -> dict[str, Param]:
    """The form of a DAG run: params for this run first, then the inputs in a folded section.

    Args:
        inputs: The cluster's own values of the inputs, which become defaults.
        fields: The params that stand first: of JUDGED, or `keep`. A run without them lacks these params.
    """
    others = [field for field in MEANINGS if field not in (*JUDGED, KEEP)]
    return {
        **{param_name(f): _param(f, inputs.get(f)) for f in fields},
        **{param_name(f): _param(f, inputs.get(f), section=_SECTION) for f in others},
    }


def _param(field: str, default: Any, **schema: Any) -> Param:
    if field in _HOURS:
        schema |= {"type": ["null", "integer"], "minimum": 0, "maximum": MOST_HOURS}
    elif field in WINDOW:
        schema |= {"type": ["null", "string"], "format": "date-time"}
    else:
        schema |= {"type": ["null", "string"]}
    title = variable(field).replace("_", " ").capitalize()
    value = int(default) if field in _HOURS and str(default).isdecimal() else default
    return Param(value, title=title, description=_DESCRIPTIONS.get(field, MEANINGS[field]), **schema)


def retry_arguments() -> dict[str, Any]:
    """The arguments of retries for the tasks of a schedule: how often and when."""
    text = os.environ.get("HINDSIGHT_RETRIES") or "2"
    if not text.isdecimal():
        raise BadInput(f"HINDSIGHT_RETRIES is {text!r}. Needed: how often a step is tried again, such as 2. Mend it.")
    return {"retries": int(text), "retry_delay": timedelta(minutes=5), "retry_exponential_backoff": True}
