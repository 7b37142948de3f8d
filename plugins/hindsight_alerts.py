"""Alerts from Airflow: a look at the lake after each night, and what the lake cannot know."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.exceptions import AirflowException, AirflowNotFoundException
from airflow.executors.executor_loader import ExecutorLoader
from airflow.sdk import BaseNotifier, Connection
from hindsight_airflow import DeadlineAlert, DeadlineReference, SyncCallback
from hindsight_child import child, last_line
from hindsight_step import Refused

from kafka_hindsight.settings.alerts import Receiver, alert_settings
from kafka_hindsight.shared.exits import DONE, BadInput

log = logging.getLogger(__name__)


class Look(BaseNotifier):
    """After a task that succeeded: sends the alerts that the lake gives rise to."""

    def __init__(self, *, lake: str, cluster: str) -> None:
        super().__init__()
        self.lake = lake
        self.cluster = cluster

    def notify(self, context: Any) -> None:
        """Looks. A task that ended well stays so: what could not be sent is logged, and kept for the next look."""
        try:
            send_alerts(self.lake, self.event(context))
        except AirflowException as failure:
            log.error("%s", failure)

    def event(self, context: Any) -> dict[str, str] | None:
        """What is added to what the lake holds."""
        return None


class Failure(Look):
    """After a task that failed for good. A refused publication is reported from the lake, which knows why."""

    def event(self, context: Any) -> dict[str, str] | None:
        """The night that did not finish."""
        failure, run, task = context.get("exception"), context["dag_run"], context["task_instance"]
        if isinstance(failure, Refused):
            return None
        why = (str(failure).strip() or type(failure).__name__).splitlines()[0] if failure else "it was killed"
        return event(
            "night_failed",
            self.cluster,
            f"{task.dag_id}.{task.task_id} of {run.run_id}",
            f"The step {task.task_id} of {task.dag_id} failed and is not tried again: {why}",
            run.data_interval_start,
            run.data_interval_end,
        )


def deadline_missed(*, cluster: str, lake: str, context: dict[str, Any]) -> None:
    """Reports a night that was not done in time. Airflow calls it, once for each run.

    Edge case: runs of a backfill are queued together, so that the last of many is late; their nights are history.
    """
    run, until = context["dag_run"], datetime.fromisoformat(str(context["deadline"]["deadline_time"])).astimezone(UTC)
    ends = (run["data_interval_start"], run["data_interval_end"])
    start, end = (datetime.fromisoformat(at) if at else None for at in ends)
    send_alerts(
        lake,
        event(
            "deadline_missed",
            cluster,
            f"{run['dag_id']} of {run['dag_run_id']}",
            f"{run['dag_id']} is not done, and should have been by {until:%Y-%m-%d %H:%M} UTC",
            start,
            end,
        ),
    )


def deadline_alert(cluster: str, lake: str) -> DeadlineAlert | None:
    """A run that is not done HINDSIGHT_DEADLINE_HOURS after it was queued is reported; 4 by default, none where 0.

    Edge case: `airflow dags test` (3.3.2) fails at the end of a run that has a deadline, so `make audit` sets none.
        Before 3.2 a night has none.
    """
    hours = _hours(os.environ.get("HINDSIGHT_DEADLINE_HOURS") or "4")
    if not hours or DeadlineAlert is None or not _runs_callbacks():
        return None
    return DeadlineAlert(
        reference=DeadlineReference.DAGRUN_QUEUED_AT,
        interval=timedelta(hours=hours),
        callback=SyncCallback(deadline_missed, {"cluster": cluster, "lake": lake}),
    )


def _runs_callbacks() -> bool:
    """Whether Airflow's executor runs what a missed deadline calls.

    Edge case: where one does not, as that of Kubernetes, a missed deadline would end the scheduler (3.3.2).
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


def event(rule: str, cluster: str, subject: str, reason: str, start: Any, end: Any) -> dict[str, str]:
    """What `hindsight alert` takes as an event; a run without an interval is of now."""
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
    }


def send_alerts(lake: str, event: dict[str, str] | None = None) -> None:
    """Looks at a lake, and sends its alerts. Raises: AirflowException where the look itself failed.

    Keeps: an event reaches the ledger whatever is wrong with connections and settings.
    Edge case: Airflow (3.3.2) refuses connections to the callback of a deadline. The lake keeps the event then, and the
        next task that looks sends it (apache/airflow#66141).
    """
    try:
        receivers = alert_settings().receivers
        urls = urls_of(receivers)
    except Exception as refusal:  # a backend of secrets fails in ways of its own
        if event is None:
            raise
        log.warning("The next look sends it to the receivers of connections: %s", refusal)
        urls = {}
    else:
        if not urls and not any(os.environ.get(r.variable) for r in receivers):
            log.info("No receiver has a URL: %s", ", ".join(f"{r.connection} or {r.variable}" for r in receivers))
            return
    process = child("alert", "--stdin", "--lake", lake)
    output, _ = process.communicate(json.dumps({"urls": urls, "event": event}) + "\n")
    log.info("%s", output)
    if process.returncode != DONE:
        raise AirflowException(f"The look at the lake ended with {process.returncode}: {last_line(output)}")


def urls_of(receivers: Sequence[Receiver]) -> dict[str, str]:
    """The URLs that Airflow's connections hold, by receiver: Apprise's, as the connection's password."""
    return {r.name: url for r in receivers if (url := _password(r.connection))}


def _password(connection_id: str) -> str | None:
    try:
        password: str | None = Connection.get(connection_id).password
        return password
    except AirflowNotFoundException:
        return None
