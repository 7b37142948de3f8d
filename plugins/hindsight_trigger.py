"""The wait for an application of Spark on YARN in the triggerer: no worker is held meanwhile."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from functools import cached_property
from typing import Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

_EVERY = 10.0
"""Seconds between questions, as the hook of Airflow's provider waits."""

_MOST_FAILURES = 10
"""Questions in a row without an answer after which the application counts as lost, as in that hook."""

SUCCEEDED = "SUCCEEDED"
LOST = "LOST"
"""The state of an application about which the resource manager no longer answers."""

_ENDS = (SUCCEEDED, "FAILED", LOST)
"""The last states of an application; but for LOST they are words of the hook."""


class YarnTrigger(BaseTrigger):
    """The trigger of an application's end. The provider's hook asks the resource manager, with its own credentials."""

    def __init__(self, conn_id: str, application: str) -> None:
        super().__init__()
        self.conn_id = conn_id
        self.application = application

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Where the triggerer imports this class, and the arguments."""
        place = "kafka_hindsight_airflow.triggers" if "kafka_hindsight_airflow" in sys.modules else __name__
        return f"{place}.{type(self).__name__}", {"conn_id": self.conn_id, "application": self.application}

    @cached_property
    def hook(self) -> SparkSubmitHook:
        """The hook of the connection, which it reads: not for the triggerer's own thread."""
        return SparkSubmitHook(conn_id=self.conn_id, yarn_track_via_rm_api=True)

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Ask for the state until the application has ended, and give it."""
        failures, state, problem = 0, "", ""
        while state not in _ENDS:
            try:
                state, failures = await sync_to_async(self._state)(), 0
            except RuntimeError as refusal:
                failures, problem = failures + 1, str(refusal)
                self.log.warning("%s", problem)
                state = LOST if failures >= _MOST_FAILURES else ""
            if state not in _ENDS:
                await asyncio.sleep(_EVERY)
        yield TriggerEvent({"state": state, "application": self.application, "problem": problem})

    async def on_kill(self) -> None:
        """End the application with its task, when a user ends or clears that (Airflow 3.3 asks for it)."""
        await sync_to_async(self._kill)()

    def _state(self) -> str:
        return str(self.hook.query_yarn_application_status(self.application))

    def _kill(self) -> None:
        self.hook._kill_yarn_application(self.application)
