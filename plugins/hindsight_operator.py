"""The operator that runs a step on the worker or with spark-submit, and the tasks and params of DAGs around it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.configuration import conf as airflow_settings
from airflow.exceptions import AirflowException
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk import Connection, Param, task
from hindsight_airflow import AirflowFailException, AirflowSkipException
from hindsight_child import child, end, last_line
from hindsight_container import container_operator
from hindsight_hook import HindsightHook, connection_or_none
from hindsight_step import CONNECTION, JUDGED, WINDOW, StepTask, settings_of
from hindsight_trigger import SUCCEEDED, YarnTrigger

from kafka_hindsight.catalog.steps import Step
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.results import forget_result
from kafka_hindsight.settings.clusters import TIME_OF_DAY, Cluster
from kafka_hindsight.settings.models import KEEP, MEANINGS, MOST_HOURS, Settings, param_name, variable
from kafka_hindsight.shared import parent
from kafka_hindsight.shared.exits import DONE, NEVER_RETRIED, BadInput
from kafka_hindsight.start import launch
from kafka_hindsight.start.first_use import prepare_spark
from kafka_hindsight.start.temporary_folders import temporary_folder

_WINDOWS = "SELECT DISTINCT cluster, window_from, window_to FROM {} ORDER BY window_from, window_to, cluster"
PUBLISHED = _WINDOWS.format("quality.publications")
LATE = _WINDOWS.format("quality.late_windows WHERE run_id = '{}'")

_DESCRIPTIONS = {
    "window_from": "first instant of the window; goes with To",
    "window_to": "instant at which the window ends; without From and To: the night that the data interval names",
}
_SECTION = "Input and lake"
_HOURS = ("look_ahead_hours", "look_back_hours")


class StepOperator(StepTask):
    """An operator that runs one step: a heavy one by spark-submit where `spark_default` is a connection.

    Others run on the worker, where the driver of a heavy one runs too. Where a cluster starts drivers, all steps are
    submitted: the worker may not reach the lake. Where YARN does, the wait may be the triggerer's.
    """

    spark_conn_id = "spark_default"
    hook: SparkSubmitHook | None = None
    process: subprocess.Popen[str] | None = None

    def execute(self, context: Any) -> None:
        """Run the step and wait for it."""
        launch.keep_private()
        forget_result(*self.place)
        with self.ending():
            master = connection_or_none(self.spark_conn_id) if self.settings.get("engine") != "local" else None
            if master and (self.step.is_spread or _starts_drivers(master)):
                self._submit(_waits_in_triggerer(master))
            else:
                if note := _note_on_master(self.step, self.settings.get("engine"), master):
                    self.log.info(note)
                self._run()

    def conclude(self, context: Any, event: Mapping[str, str]) -> None:
        """Go on when the triggerer has seen the end of the application."""
        with self.ending():
            if event["state"] != SUCCEEDED:
                raise AirflowException(f"{event['application']}: {event['state']}. {event['problem']}".strip())

    def _submit(self, waits_in_triggerer: bool) -> None:
        """Run the step on the connection's master, and wait for its end here or in the triggerer.

        Raises:
            TaskDeferred: The triggerer waits.
        """
        try:
            prepare_spark()
        except BadInput as problem:
            raise AirflowFailException(str(problem)) from None
        is_large = launch.is_large(self.settings.get("logs"), self.settings.get("client_logs"))
        with temporary_folder() as name:
            folder = Path(name)
            self.hook = SparkSubmitHook(
                properties_file=str(launch.properties_file(launch.configuration(is_large), folder)),
                conn_id=self.spark_conn_id,
                name="hindsight",
                application_args=[str(launch.RUN), *self.command[2:]],
                spark_binary=str(launch.spark_submit()),
                **({"yarn_track_via_rm_api": True} if waits_in_triggerer else {}),
            )
            variables = {**launch.without_airflows(), **launch.spark_variables(), **launch.java_variables(folder)}
            self.hook.submit(launch.LOAD_DEFAULTS, env={**variables, **parent.as_parent()})
        if waits_in_triggerer:
            trigger = YarnTrigger(self.spark_conn_id, str(self.hook._yarn_application_id))
            self.defer(trigger=trigger, method_name=self.conclude.__name__, timeout=self.execution_timeout)

    def _run(self) -> None:
        """Run the step in a process beside this one, which uses Spark where its input is large."""
        with child(*self.command[1:]) as self.process:
            for line in self.process.stdout or ():
                self.log.info("%s", line.rstrip())
        if (code := self.process.returncode) != DONE:
            raise (AirflowSkipException if code in NEVER_RETRIED else AirflowException)(f"exit code {code}")

    def on_kill(self) -> None:
        """End with the task what it has started."""
        if self.hook:
            self.hook.on_kill()
        if self.process:
            end(self.process)


def _starts_drivers(master: Connection) -> bool:
    """Whether the cluster of a connection starts the driver of an application, and not the worker of Airflow."""
    modes = (master.extra_dejson.get("deploy-mode"), launch.configuration().get("spark.submit.deployMode"))
    return "cluster" in modes


def _waits_in_triggerer(master: Connection) -> bool:
    """Whether the triggerer waits for the application: where Airflow defers by default, and YARN can be asked.

    An application whose driver runs on the worker holds it until its end.
    """
    extra = master.extra_dejson
    can_be_asked = extra.get("deploy-mode") == "cluster" and extra.get("yarn_resourcemanager_webapp_address")
    defers = airflow_settings.getboolean("operators", "default_deferrable", fallback=False)
    return bool(defers and can_be_asked and "yarn" in (master.host or ""))


def _note_on_master(step: Step, engine: str | None, master: Connection | None) -> str:
    """A line for the log of a heavy step that has no cluster; empty where one is named or none is wanted."""
    if not step.is_spread or engine == "local" or master or launch.names_master():
        return ""
    return (
        f"No Spark master is named, so {step.name} runs on this worker alone. To run it on a cluster, add the"
        f" connection {StepOperator.spark_conn_id}, or name spark.master in HINDSIGHT_SPARK_CONF."
    )


def step_operator() -> type[Any]:
    """The operator of a step: on the worker or by spark-submit, or in the container of HINDSIGHT_CONTAINER."""
    return container_operator() or StepOperator


@task.short_circuit
def is_unpublished(**context: Any) -> bool:
    """Whether the night of this run was not published yet. If it was, all that follows is skipped."""
    settings = Settings.of(settings_of(context))
    return not any(
        settings.cluster in (None, window["cluster"]) and datetime.fromisoformat(window["to"]) == settings.window_to
        for window in _windows(PUBLISHED, settings.lake)
    )


@task.short_circuit
def is_recorded(**context: Any) -> bool:
    """Whether the night of a scheduled run may have a record. A night before the first one is skipped.

    It waits for no pool. A run that a person triggered is never skipped: its step says what it lacks.
    """
    settings = settings_of(context)
    if context["dag_run"].run_type == "manual" or "window_to" not in settings:
        return True
    process = child(json.dumps(settings), module="is_recorded")
    output, _ = process.communicate()
    return process.returncode != DONE or last_line(output) != "true"


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

    A run that names its cluster audits that one alone. `make audit` names its run, and audits the others itself.
    """
    settings, conf = Settings.of(settings_of(context)), context["dag_run"].conf or {}
    if settings.cluster or "run_id" in conf:
        return []
    result = json.loads(landing.read_text(f"{settings.lake}/runs/{settings.run_id}/{step}.json"))
    ends = {param_name(end): result.get(end, at.isoformat()) for end in WINDOW if (at := getattr(settings, end))}
    run_params = {**context["params"], **ends}
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


def params(cluster: Cluster, *fields: str) -> dict[str, Param]:
    """The form of a DAG run: params for this run first, then the inputs in a folded section.

    Args:
        cluster: The cluster. Its own values of the inputs become defaults; without a name it has a connection.
        fields: The params that stand first: of JUDGED, or `keep`. A run without them lacks these params.
    """
    others = [field for field in MEANINGS if field not in (*JUDGED, KEEP)]
    about = "Airflow connection of type hindsight, for what this form leaves empty"
    connection = Param(HindsightHook.default_conn_name, about, title="Connection", type=["null", "string"])
    return {
        **{param_name(f): _param(f, cluster.inputs.get(f)) for f in fields},
        **({} if cluster.name else {CONNECTION: connection}),
        **{param_name(f): _param(f, cluster.inputs.get(f), section=_SECTION) for f in others},
    }


def night_params(cluster: Cluster) -> dict[str, Param]:
    """The form of the nightly audit: that of a run that judges, and how its night is chosen and read."""
    zone = {"title": "Time zone", "type": "string", "section": _SECTION}
    starts = {"title": "Night starts", "type": "string", "pattern": TIME_OF_DAY, "section": _SECTION}
    whole, last = "everything in the input, whatever the interval", "last records of files that still grow, as they are"
    return {
        **params(cluster, *JUDGED),
        "whole_input": Param(False, whole, title="Whole input", type="boolean"),
        "read_to_end": Param(False, last, title="Read to the end", type="boolean"),
        "timezone": Param(cluster.timezone, "zone in which nights begin, where From and To are empty", **zone),
        "night_starts": Param(cluster.night_starts, "when a night begins on the clock of that zone", **starts),
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


def retries() -> dict[str, Any]:
    """How often and when a task is tried again: twice, or as HINDSIGHT_RETRIES says."""
    text = os.environ.get("HINDSIGHT_RETRIES") or "2"
    if not text.isdecimal():
        raise BadInput(f"HINDSIGHT_RETRIES is {text!r}. Needed: how often a step is tried again, such as 2. Mend it.")
    return {"retries": int(text), "retry_delay": timedelta(minutes=5), "retry_exponential_backoff": True}
