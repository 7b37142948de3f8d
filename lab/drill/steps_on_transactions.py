"""The steps of a scenario with transactional producers: nothing but data, as in lab.drill.steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.drill.steps import DrillStep


@dataclass(frozen=True, kw_only=True)
class OnProducer(DrillStep):
    """Done to a transactional producer, by its role."""

    producer: str


@dataclass(frozen=True, kw_only=True)
class StartProducer(OnProducer):
    """It starts with the scenario's transactional id: one that has it already is fenced."""

    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Begin(OnProducer):
    """It begins a transaction and writes so many records. `refused`: it is not let."""

    topic: str
    count: int = 5
    refused: bool = False


@dataclass(frozen=True, kw_only=True)
class Commit(OnProducer):
    """It commits its transaction. `refused`: the transaction has been aborted, or it has been fenced."""

    refused: bool = False


@dataclass(frozen=True, kw_only=True)
class PauseProducer(OnProducer):
    """Its process is stopped (SIGSTOP): its transaction hangs."""


@dataclass(frozen=True, kw_only=True)
class ResumeProducer(OnProducer):
    """Its process goes on (SIGCONT)."""
