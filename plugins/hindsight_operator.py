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
from airflow.sdk import Asset, BaseOperator, Connection, Param, task
from hindsight_child import child, last_words

from spark_jobs.alerts.settings import owners_of
from spark_jobs.catalog.steps import RECLASSIFY, Step
from spark_jobs.commands.first_use import prepare_spark
from spark_jobs.shared import launch
from spark_jobs.shared.clusters import file_path
from spark_jobs.shared.config import INPUTS, KEEP, LOOK_AHEAD_HOURS, MOST_HOURS, PLACES, Input, Settings
from spark_jobs.shared.exits import BAD_INPUT, DONE, NEVER_RETRIED, REFUSED, BadInput, parse_exit_summary

_MEANING = {
    BAD_INPUT: "A retry would find the same.",
    REFUSED: "The publication was refused: gold stays as it was; a retry would be refused too.",
}
_LAST_LINES = 200
_MOST_TOLD = 1000
"""Characters of a step's own sentences in the failure of its task, and so in an alert; the log has all of them."""

_OTHERS = "The lines above say why; another try leaves the same tables as an undisturbed one."


POOL = os.environ.get("HINDSIGHT_POOL") or "default_pool"
"""Where steps stand in line. A pool that is named must exist, or nothing is ever scheduled: so none is by default."""

_WINDOWS = "SELECT DISTINCT cluster, window_from, window_to FROM {} ORDER BY window_from, window_to, cluster"
PUBLISHED = _WINDOWS.format("quality.publications")
LATE = _WINDOWS.format("quality.late_windows WHERE run_id = '{}'")

WINDOW = ("window_from", "window_to")
"""What a run of one window, or of the past, is asked."""

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


class Refused(AirflowFailException):
    """The publication was refused: the lake holds why."""


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

    def _process_spark_submit_log(self, itr: Iterator[str]) -> None:
        super()._process_spark_submit_log(self._heard(itr))

    def _heard(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines of spark-submit on their way into the task's log; the last ones are kept."""
        for line in lines:
            self.said.append(line.strip())
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

    def __init__(self, *, step: Step, window: dict[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(**{**of_step(step), **kwargs})
        self.step = step
        self.window = window
        self.hook: SparkStepHook | None = None

    def execute(self, context: Any) -> None:
        """Submits the step and waits for it."""
        launch.keep_private()
        given = settings_of(context, self.window)
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
            code = self.hook.exit_code
            if not code:
                raise
            kind = Refused if code == REFUSED else AirflowFailException if code in NEVER_RETRIED else AirflowException
            told = " ".join(parse_exit_summary(self.step.name, code, [*self.hook.said]))[:_MOST_TOLD]
            why = f"{told} {_MEANING.get(code, _OTHERS)}".strip()
            raise kind(f"{self.step.name} {_ended(code)}. {why}") from failure

    def on_kill(self) -> None:
        """Ends spark-submit with the task."""
        if self.hook:
            self.hook.on_kill()


def _ended(code: int) -> str:
    """In words what the provider says with its whole command line, which would go out with an alert."""
    return f"ended with exit code {code}" if code > 0 else f"was killed by signal {-code}"


def of_step(step: Step) -> dict[str, Any]:
    """What Airflow knows of a task that runs the step: its name, its assets, and its place in the queue.

    Edge case: by Airflow's own rule of weights all runs of a backfill ingest before one rebuilds, and each then finds
    rows of another in staging. Where steps stand in line, a run that has begun goes first.
    """
    return {
        "task_id": step.name,
        "doc_md": step.sentence,
        "inlets": [_asset(t) for t in step.reads],
        "outlets": [_asset(t) for t in step.writes],
        "pool": POOL,
        "weight_rule": "upstream",
    }


def _asset(table: str) -> Asset:
    return Asset(name=table, group=table.partition(".")[0])


def settings_of(context: Any, window: dict[str, str] | None = None) -> dict[str, Any]:
    """The settings of a run, as `spark_jobs.shared.config.Settings.of` reads them.

    The window: the one given, of a run that takes many; else params `from` and `to`; else, with `whole_input`,
    everything; else the data interval moved back by the look-ahead, so that what began before midnight has had time
    to end.
    """
    params, run = {**context["params"], **(window or {})}, context["dag_run"]
    given = {i.field: value for i in (*INPUTS, KEEP) if (value := params.get(param_name(i.field))) not in (None, "")}
    interval = context.get("data_interval_start"), context.get("data_interval_end")
    if not params.get("whole_input") and not {"window_from", "window_to"} & given.keys() and all(interval):
        back = timedelta(hours=int(given.get("look_ahead_hours", LOOK_AHEAD_HOURS)))
        given["window_from"], given["window_to"] = ((at - back).isoformat() for at in interval)
    name = (run.conf or {}).get("run_id") or launch.safe_run_id(run.run_id)
    return {
        "lake": str(launch.LAKE),
        "read_to_end": bool(params.get("read_to_end")),
        **given,
        "run_id": launch.safe_run_id(f"{name}-{window['from']}") if window else name,
        "run_at": run.start_date.isoformat(),
        "owners": owners_of(file_path()),
    }


def judged_anew(windows: Any) -> Any:
    """The step reclassify, once for each window that a task before it gives; one after another."""
    return SparkStepOperator.partial(
        step=RECLASSIFY,
        max_active_tis_per_dagrun=1,
        map_index_template="{{ task.window['from'] }}",
        **of_step(RECLASSIFY),
    ).expand(window=windows)


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


def params(inputs: Mapping[str, str], *asked: str) -> dict[str, Param]:
    """A form: what a run is asked comes first; inputs, with what a cluster says of them, are folded away below it.

    Takes: `asked`, fields of the window, or `keep`; no other run has them
    """
    known = {i.field: i for i in (*INPUTS, KEEP)}
    folded = [field for field in known if field not in (*WINDOW, KEEP.field)]
    return {
        **{param_name(f): _param(known[f], inputs.get(f)) for f in asked},
        **{param_name(f): _param(known[f], inputs.get(f), section=_FOLDED) for f in folded},
    }


def _param(i: Input, default: str | None, **schema: Any) -> Param:
    if i.field in _HOURS:
        schema |= {"type": ["null", "integer"], "minimum": 0, "maximum": MOST_HOURS}
    elif i.field in WINDOW:
        schema |= {"type": ["null", "string"], "format": "date-time"}
    else:
        schema |= {"type": ["null", "string"]}
    title = _TITLES.get(i.field, i.variable.replace("_", " ").capitalize())
    value = int(default) if default and default.isdigit() and i.field in _HOURS else default
    return Param(value, title=title, description=_ON_THE_FORM.get(i.field, i.meaning), **schema)


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


def param_name(field: str) -> str:
    """A setting's name among the DAG's params."""
    return field.removeprefix("window_")
