"""Names of Airflow that its minor versions have in different places, or not at all."""

from __future__ import annotations

try:
    from airflow.sdk import BaseHook
except ImportError:  # before 3.1
    from airflow.hooks.base import BaseHook

try:
    from airflow.sdk import CronDataIntervalTimetable
except ImportError:  # before 3.2
    from airflow.timetables.interval import CronDataIntervalTimetable

try:
    from airflow.sdk import DeadlineAlert, DeadlineReference, SyncCallback
except ImportError:  # before 3.2, whose scheduler is the first to call plain functions
    DeadlineAlert = DeadlineReference = SyncCallback = None

try:
    from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
except ImportError:  # where airflow.exceptions still has them, without a warning
    from airflow.exceptions import AirflowFailException, AirflowSkipException

__all__ = [
    "AirflowFailException",
    "AirflowSkipException",
    "BaseHook",
    "CronDataIntervalTimetable",
    "DeadlineAlert",
    "DeadlineReference",
    "SyncCallback",
]
