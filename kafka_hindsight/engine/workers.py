"""The workers of a step: whoever reads its files and judges its rows."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from kafka_hindsight.engine.judgement_run import Runner
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.lake.store import Store


class Workers(Protocol):
    """The workers that do the heavy work of steps: this process, or those of a Spark application."""

    @property
    def application(self) -> str | None:
        """Spark's id of the application; None if there is none, or its Java process has ended."""

    def at_work(self, run_id: str) -> AbstractContextManager[None]:
        """Have the workers ready, and report their progress, while a block runs."""

    def engine(self) -> Engine:
        """The engine that spreads work over files."""

    def runner(self, store: Store) -> AbstractContextManager[Runner]:
        """A runner of judgements over a lake."""
