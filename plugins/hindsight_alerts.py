"""Alerts from Airflow: those of the lake after each night, and those that only Airflow can raise."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from airflow.configuration import conf
from airflow.exceptions import AirflowException
from airflow.executors.executor_loader import ExecutorLoader
from airflow.sdk import BaseNotifier
from hindsight_airflow import DeadlineAlert, DeadlineReference, SyncCallback
from hindsight_child import child, last_line
from hindsight_hook import HindsightHook, connection_or_none
from hindsight_step import Refused, settings_of

from kafka_hindsight.settings.alerts import DEFAULT, Receiver, alert_settings
from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.shared.exits import DONE, BadInput

log = logging.getLogger(__name__)


class Look(BaseNotifier):
    """The notifier of a task that succeeded: it sends the alerts that are due in the lake."""

    def notify(self, context: Any) -> None:
        """Send the alerts. The task stays successful: an alert that cannot be sent is logged, and waits in the lake."""
        try:
            settings = settings_of(context)
        except AirflowException as failure:  # of a conf or connection that cannot be used: the task failed by it too
            log.error("%s", failure)
            settings = {}
        try:
            send_alerts(settings.get("lake") or str(LAKE), self.event(context, settings))
        except AirflowException as failure:
            log.error("%s", failure)

    def event(self, context: Any, settings: Mapping[str, Any]) -> dict[str, str] | None:
        """The alert that Airflow adds to those of the lake; None without one. `settings` are those of the step."""
        return None


class Failure(Look):
    """The notifier of a task that failed for good. The lake itself reports a refused publication, with its reason."""

    def event(self, context: Any, settings: Mapping[str, Any]) -> dict[str, str] | None:
        """The alert about the night that did not finish."""
        failure, run, task = context.get("exception"), context["dag_run"], context["task_instance"]
        if isinstance(failure, Refused):
            return None
        why = (str(failure).strip() or type(failure).__name__).splitlines()[0] if failure else "it was killed"
        # Where the conf cannot be used, the task knows its cluster, but for one that a connection describes.
        own: Cluster | None = getattr(context.get("task"), "cluster", None)
        cluster = settings.get("cluster") or (own and own.name) or task.dag_id
        night = str(settings.get("window_from") or "").replace("T", " ")[:16]
        work = f"{cluster} was not audited" + (f" for the night from {night} UTC" if night else "")
        return event(
            "night_failed",
            cluster,
            f"{task.dag_id}.{task.task_id} of {run.run_id}",
            f"{work}: {why}",
            run.data_interval_start,
            run.data_interval_end,
            getattr(task, "log_url", ""),
        )


def deadline_missed(*, cluster: str | None, lake: str | None, context: dict[str, Any]) -> None:
    """Report a night that was not done in time. Airflow calls it, once for each run.

    Without a cluster's name the connection describes it. Airflow (3.3.2) lets this read connections of variables alone.

    The runs of a backfill are queued together: the last of many can be late without harm.
    """
    run, until = context["dag_run"], datetime.fromisoformat(str(context["deadline"]["deadline_time"])).astimezone(UTC)
    ends = (run["data_interval_start"], run["data_interval_end"])
    start, end = (datetime.fromisoformat(at) if at else None for at in ends)
    inputs = {} if cluster else HindsightHook().get_conn()
    base = conf.get("api", "base_url", fallback="").rstrip("/")
    send_alerts(
        lake or inputs.get("lake"),
        event(
            "deadline_missed",
            cluster or inputs.get("cluster", ""),
            f"{run['dag_id']} of {run['dag_run_id']}",
            f"{run['dag_id']} is not done, and should have been by {until:%Y-%m-%d %H:%M} UTC",
            start,
            end,
            f"{base}/dags/{run['dag_id']}/runs/{quote(run['dag_run_id'])}" if base else "",
        ),
    )


def deadline(cluster: Cluster) -> dict[str, DeadlineAlert]:
    """The argument of a DAG: HINDSIGHT_DEADLINE_HOURS after a run was queued, 4 by default; none for 0 hours.

    Airflow has deadlines since 3.2. `airflow dags test` (3.3.2) fails at the end of a run that has one, so `make audit`
    sets none.
    """
    hours = _hours(os.environ.get("HINDSIGHT_DEADLINE_HOURS") or "4")
    if not hours or DeadlineAlert is None or not _runs_callbacks():
        return {}
    callback = SyncCallback(deadline_missed, {"cluster": cluster.name, "lake": cluster.inputs.get("lake")})
    return {"deadline": DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, timedelta(hours=hours), callback)}


def _runs_callbacks() -> bool:
    """Whether Airflow's executor runs the callback of a missed deadline.

    Where it does not, like the Kubernetes executor, a missed deadline would end the scheduler (3.3.2).
    Source: apache/airflow#62887.
    """
    executor, _ = ExecutorLoader.import_default_executor_cls()
    return bool(executor.supports_callbacks)


def _hours(text: str) -> float:
    if not re.fullmatch(r"\d{1,5}(\.\d+)?", text):
        raise BadInput(
            f"HINDSIGHT_DEADLINE_HOURS is {text!r}. Needed: hours, such as 4 or 0.5, or 0 for no deadline. Mend it."
        )
    return float(text)


def event(rule: str, cluster: str, subject: str, reason: str, start: Any, end: Any, link: str = "") -> dict[str, str]:
    """An event as `hindsight alert` reads it. A run without a data interval has the present time as its window."""
    now = datetime.now(UTC)
    return {
        "rule": rule,
        "severity": "critical",
        "cluster": cluster,
        "subject": subject,
        "reason": reason,
        "at": now.isoformat(),
        "from": (start or now).isoformat(),
        "to": (end or now).isoformat(),
        "link": link,
    }


def send_alerts(lake: str | None, event: dict[str, str] | None = None) -> None:
    """Send the alerts of a lake, that of the connection if it is None, and an event of Airflow's own.

    The event reaches the lake's ledger even where connections or settings cannot be read. Airflow (3.3.2) refuses
    connections to the callback of a deadline: the next task that sends alerts sends that event too
    (apache/airflow#66141).

    Raises:
        AirflowException: `hindsight alert` failed.
    """
    try:
        receivers = alert_settings().receivers
        urls = urls_of(receivers)
    except Exception as refusal:  # a backend of secrets fails in ways of its own
        if event is None:
            raise
        log.warning("The connections of the receivers cannot be read. The next run sends the alert: %s", refusal)
        urls = {}
    else:
        if not urls and not any(os.environ.get(r.variable) for r in receivers):
            log.info("No receiver has a URL: %s", ", ".join(f"{r.connection} or {r.variable}" for r in receivers))
            return
    lake = lake or HindsightHook().get_conn().get("lake", str(LAKE))
    process = child("alert", "--stdin", "--lake", lake)
    output, _ = process.communicate(json.dumps({"urls": urls, "event": event}) + "\n")
    log.info("%s", output)
    if process.returncode != DONE:
        raise AirflowException(f"`hindsight alert` ended with exit code {process.returncode}: {last_line(output)}")


def urls_of(receivers: Sequence[Receiver]) -> dict[str, str]:
    """The URL of each receiver whose Airflow connection holds one, as its password.

    That of the cluster holds the one of the receiver `default`.
    """
    urls = {r.name: _password(r.connection) for r in receivers}
    if DEFAULT.name in urls:
        urls[DEFAULT.name] = urls[DEFAULT.name] or _password(HindsightHook.default_conn_name)
    return {name: url for name, url in urls.items() if url}


def _password(connection_id: str) -> str | None:
    connection = connection_or_none(connection_id)
    return connection.password if connection else None
