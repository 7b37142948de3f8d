"""The one operator: runs a step of the pipeline with spark-submit and turns its exit code into Airflow's terms."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from airflow.exceptions import AirflowException, AirflowFailException, AirflowNotFoundException
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk import BaseOperator, Connection, Param, task
from hindsight_child import child, last_words
from hindsight_container import contained
from hindsight_lineage import lineage
from hindsight_links import ReportLink, SparkLink
from hindsight_step import JUDGED, WINDOW, failed, of_step, settings_of

from kafka_hindsight.catalog.steps import RECLASSIFY, Step
from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.settings.models import KEEP, MEANINGS, MOST_HOURS, PLACES, Settings, param_name, variable
from kafka_hindsight.shared.exits import APPLICATION, DONE, BadInput
from kafka_hindsight.start import launch
from kafka_hindsight.start.first_use import prepare_spark

_LAST_LINES = 200
_WINDOWS = "SELECT DISTINCT cluster, window_from, window_to FROM {} ORDER BY window_from, window_to, cluster"
PUBLISHED = _WINDOWS.format("quality.publications")
LATE = _WINDOWS.format("quality.late_windows WHERE run_id = '{}'")

_TITLES = {
    "window_from": "From",
    "window_to": "To",
    "logs_tz": "Zone of LOGS",
    "client_tz": "Zone of CLIENT_LOGS",
    "pattern": "Layout of LOGS",
    "client_pattern": "Layout of CLIENT_LOGS",
}
_ON_THE_FORM = {
    "window_from": "first instant of the window; goes with To",
    "window_to": "instant at which the window ends; without From and To: the night that the data interval names",
}
_FOLDED = "Input and lake"
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.said: deque[str] = deque(maxlen=_LAST_LINES)
        self.application: str | None = None

    def _process_spark_submit_log(self, itr: Iterator[str]) -> None:
        super()._process_spark_submit_log(self._heard(itr))

    def _heard(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines of spark-submit on their way into the task's log; the last ones are kept."""
        for line in lines:
            self.said.append(line.strip())
            if found := APPLICATION.match(line.strip()):
                self.application = found[1]
            yield line

    def _get_spark_binary_path(self) -> list[str]:
        """The program that hands a step to the Spark of its run, with the spark-submit that starts it."""
        return [sys.executable, str(launch.SUBMIT), *super()._get_spark_binary_path()]

    def _build_spark_common_args(self) -> list[str]:
        """The arguments of spark-submit; with a file of properties it would not read its own defaults."""
        return [*super()._build_spark_common_args(), "--load-spark-defaults"]

    @property
    def exit_code(self) -> int | None:
        """What spark-submit ended with, which the provider reports in prose alone."""
        return self._submit_sp.returncode if self._submit_sp else None


class SparkStepOperator(BaseOperator):
    """Runs one step. Exit codes 2 and 42 fail the task for good; any other failure may be retried."""

    operator_extra_links = (ReportLink(), SparkLink())

    def __init__(self, *, step: Step, cluster: Cluster, window: dict[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(**{**of_step(step, cluster), **kwargs})
        self.step = step
        self.cluster = cluster
        self.window = window
        self.given: dict[str, Any] = {}
        self.hook: SparkStepHook | None = None
        self.application: str | None = None

    def execute(self, context: Any) -> None:
        """Submits the step and waits for it."""
        launch.keep_private()
        self.given = given = settings_of(context, self.window)
        places = [given.get(name) for name in PLACES]
        try:
            prepare_spark(*places)
        except BadInput as problem:
            raise AirflowFailException(str(problem)) from None
        is_large = launch.is_large(given.get("logs"), given.get("client_logs"))
        self.hook = SparkStepHook(
            properties_file=str(launch.properties_file(launch.configuration(is_large, places))),
            conn_id="spark_default",
            name="hindsight",
            application_args=[self.step.name, "--settings", json.dumps(given)],
            env_vars=launch.environment(),
            spark_binary=str(launch.spark_submit()),
        )
        try:
            self.hook.submit(str(launch.RUN))
        except AirflowException as failure:
            if not self.hook.exit_code:
                raise
            raise failed(self.step.name, self.hook.exit_code, [*self.hook.said]) from failure
        finally:
            self.application = self.hook.application

    def get_openlineage_facets_on_start(self) -> Any:
        """The tables that it reads and writes, for OpenLineage's provider."""
        return lineage(self.step, self.cluster)

    def on_kill(self) -> None:
        """Ends spark-submit with the task."""
        if self.hook:
            self.hook.on_kill()


def step_operator() -> type[Any]:
    """What runs a step: spark-submit, or the container that HINDSIGHT_CONTAINER describes."""
    return contained() or SparkStepOperator


def judged_anew(windows: Any, cluster: Cluster, **given: Any) -> Any:
    """The step reclassify, once for each window that a task before it gives; one after another.

    Takes: the cluster; what its tasks are given besides.
    """
    return (
        step_operator()
        .partial(
            step=RECLASSIFY,
            cluster=cluster,
            max_active_tis_per_dagrun=1,
            map_index_template="{{ task.window['from'] }}",
            **{**of_step(RECLASSIFY, cluster), **given},
        )
        .expand(window=windows)
    )


@task
def published_windows(**context: Any) -> list[dict[str, str]]:
    """The windows of the cluster that were published and lie between the params `from` and `to`, oldest first."""
    settings = Settings.of(settings_of(context))
    if not settings.window_from or not settings.window_to:
        raise AirflowFailException("FROM and TO are not given. Needed: the part of the past to judge again.")
    lie_within = [
        window
        for window in _windows(PUBLISHED, settings.lake)
        if settings.cluster in (None, window["cluster"])
        and settings.window_from <= datetime.fromisoformat(window["from"])
        and datetime.fromisoformat(window["to"]) <= settings.window_to
    ]
    if not lie_within:
        raise AirflowFailException(
            "Found no published window between FROM and TO. Needed: one or more. Choose other instants."
        )
    return lie_within


@task
def late_windows(**context: Any) -> list[dict[str, str]]:
    """The earlier windows for which this run found records that came late, oldest first; mostly none."""
    settings = Settings.of(settings_of(context))
    return _windows(LATE.format(settings.run_id), settings.lake)


def _windows(query: str, lake: str) -> list[dict[str, str]]:
    """Windows that the lake names, as params of a run."""
    process = child("sql", query, "--format", "json", "--lake", lake)
    said, _ = process.communicate()
    if process.returncode != DONE:
        raise AirflowException(f"The lake does not tell its windows: {last_words(said)}")
    return [{"cluster": r["cluster"], "from": r["window_from"], "to": r["window_to"]} for r in json.loads(said)]


def params(inputs: Mapping[str, Any], *asked: str) -> dict[str, Param]:
    """A form: what a run is asked comes first; inputs, with what a cluster says of them, are folded away below it.

    Takes: `asked`, of JUDGED or `keep`; no other run has them
    """
    folded = [field for field in MEANINGS if field not in (*JUDGED, KEEP)]
    return {
        **{param_name(f): _param(f, inputs.get(f)) for f in asked},
        **{param_name(f): _param(f, inputs.get(f), section=_FOLDED) for f in folded},
    }


def _param(field: str, default: Any, **schema: Any) -> Param:
    if field in _HOURS:
        schema |= {"type": ["null", "integer"], "minimum": 0, "maximum": MOST_HOURS}
    elif field in WINDOW:
        schema |= {"type": ["null", "string"], "format": "date-time"}
    else:
        schema |= {"type": ["null", "string"]}
    title = _TITLES.get(field, variable(field).replace("_", " ").capitalize())
    value = int(default) if field in _HOURS and str(default).isdecimal() else default
    return Param(value, title=title, description=_ON_THE_FORM.get(field, MEANINGS[field]), **schema)


def patient() -> dict[str, Any]:
    """How often the tasks of a schedule are tried again, and when."""
    return {
        "retries": _retries(os.environ.get("HINDSIGHT_RETRIES") or "2"),
        "retry_delay": timedelta(minutes=5),
        "retry_exponential_backoff": True,
    }


def _retries(text: str) -> int:
    if not text.isdecimal():
        raise BadInput(f"HINDSIGHT_RETRIES is {text!r}. Needed: how often a step is tried again, such as 2. Mend it.")
    return int(text)
