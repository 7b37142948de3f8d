"""The one operator: runs a step of the pipeline with spark-submit and turns its exit code into Airflow's terms."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import Any

from airflow.exceptions import AirflowException, AirflowFailException, AirflowNotFoundException
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk import Asset, BaseOperator, Connection, Param

from spark_jobs import launch
from spark_jobs.config import INPUTS, LOOK_AHEAD_HOURS
from spark_jobs.exits import BAD_INPUT, NEVER_RETRIED, REFUSED
from spark_jobs.steps import Step

_MEANING = {
    BAD_INPUT: "The input or the settings cannot be used; a retry would find the same.",
    REFUSED: "The publication was refused: gold stays as it was; a retry would be refused too.",
}


class SparkStepHook(SparkSubmitHook):
    """spark-submit on the connection's master; on local Spark where there is no such connection."""

    @classmethod
    def get_connection(cls, conn_id: str) -> Any:
        """The connection of that name, else local Spark (the provider would fall back to YARN)."""
        try:
            return super().get_connection(conn_id)
        except AirflowNotFoundException:
            return Connection(conn_id=conn_id, conn_type="spark", host=launch.DEFAULT_MASTER)

    @property
    def exit_code(self) -> int | None:
        """What spark-submit ended with, which the provider tells in no other way than prose."""
        return self._submit_sp.returncode if self._submit_sp else None


class SparkStepOperator(BaseOperator):
    """Runs one step. Exit codes 2 and 42 fail the task for good; any other failure may be retried."""

    def __init__(self, *, step: Step, **kwargs: Any) -> None:
        super().__init__(
            task_id=step.name, doc_md=step.sentence, outlets=[Asset(name=t) for t in step.writes], **kwargs
        )
        self.step = step
        self.hook: SparkStepHook | None = None

    def execute(self, context: Any) -> None:
        """Submits the step and waits for it."""
        self.hook = SparkStepHook(
            conf=launch.configuration(),
            conn_id="spark_default",
            name=f"hindsight-{self.step.name}",
            application_args=[self.step.name, "--settings", json.dumps(settings_of(context))],
            env_vars=launch.environment(),
            spark_binary=str(launch.spark_submit()),
        )
        try:
            self.hook.submit(str(launch.RUN))
        except AirflowException as failure:
            code = self.hook.exit_code
            if code in NEVER_RETRIED:
                raise AirflowFailException(
                    f"{self.step.name} ended with exit code {code}. {_MEANING[code]}"
                ) from failure
            raise

    def on_kill(self) -> None:
        """Ends spark-submit with the task."""
        if self.hook:
            self.hook.on_kill()


def settings_of(context: Any) -> dict[str, Any]:
    """The settings of a run, as `spark_jobs.config.Settings.of` reads them.

    The window: params `from` and `to`; else, with `whole_input`, everything; else the data interval moved back
    by the look-ahead, so that what began before midnight has had time to end.
    """
    params, run = dict(context["params"]), context["dag_run"]
    given = {i.field: value for i in INPUTS if (value := params.get(param_name(i.field))) not in (None, "")}
    if not params.get("whole_input") and not {"window_from", "window_to"} & given.keys():
        back = timedelta(hours=int(given.get("look_ahead_hours", LOOK_AHEAD_HOURS)))
        given["window_from"] = (context["data_interval_start"] - back).isoformat()
        given["window_to"] = (context["data_interval_end"] - back).isoformat()
    return {
        "lake": str(launch.HOME / "lake"),
        "read_to_end": bool(params.get("read_to_end")),
        **given,
        "run_id": (run.conf or {}).get("run_id") or launch.safe_run_id(run.run_id),
        "run_at": run.start_date.isoformat(),
    }


def params() -> dict[str, Param]:
    """The inputs of a run as params. A schedule's own values come from the scheduler's environment: HINDSIGHT_LOGS."""
    return {
        param_name(i.field): Param(
            os.environ.get(f"HINDSIGHT_{i.variable}") or None, type=["null", "string"], description=i.meaning
        )
        for i in INPUTS
    }


def patient() -> dict[str, Any]:
    """How often the tasks of a schedule are tried again, and when."""
    return {
        "retries": int(os.environ.get("HINDSIGHT_RETRIES", "2")),
        "retry_delay": timedelta(minutes=5),
        "retry_exponential_backoff": True,
    }


def param_name(field: str) -> str:
    """A setting's name among the DAG's params."""
    return field.removeprefix("window_")
