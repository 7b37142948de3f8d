"""Waiting for a lake that another run holds."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared import progress


class LakeBusy(RuntimeError):
    """Another run works on this lake. It ends by itself, so a retry may succeed."""


class Waiting:
    """A wait for a lake that another run holds, as long as patience lasts."""

    def __init__(self, lake: str, patience: timedelta) -> None:
        self.lake = lake
        self.patience = patience
        self.began = time.monotonic()
        self.is_reported = False

    def go_on(self, holder: Any) -> None:
        """Report the holder once. Raises: LakeBusy if patience is at its end."""
        sentence = _who_holds(holder, self.lake)
        if time.monotonic() - self.began >= self.patience.total_seconds():
            raise LakeBusy(f"{sentence} One run at a time: wait until it ends, or give another LAKE.")
        if not self.is_reported:
            progress.say(f"{sentence} Waiting until it ends")
            self.is_reported = True


def _who_holds(holder: Any, lake: str) -> str:
    try:
        who = f"run {holder['run_id']} (process {holder['pid']} on {holder['host']}, since {holder['since']})"
    except (KeyError, TypeError):
        who = "another run"
    return f"The lake {masked(lake)} is in use by {who}."
