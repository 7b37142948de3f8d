"""The steps of a scenario with producers that write all the time: nothing but data, as in lab.drill.steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.drill.libraries import JAVA
from lab.drill.steps import DrillStep


@dataclass(frozen=True, kw_only=True)
class OnWriter(DrillStep):
    """Done to a producer that writes all the time, by its role."""

    writer: str


@dataclass(frozen=True, kw_only=True)
class StartWriter(OnWriter):
    """It starts, and writes to partition 0 of a topic every 100 ms until it is closed.

    `is_transactional`: it has the scenario's transactional id, and commits a transaction every second: a second one
    fences it. `logs_failures`: Kafka's own callback logs each record that a Java producer gives up.
    """

    topic: str
    library: str = JAVA
    config: Mapping[str, str] = field(default_factory=dict)
    is_transactional: bool = False
    logs_failures: bool = False


@dataclass(frozen=True, kw_only=True)
class CloseWriter(OnWriter):
    """It is closed in order, and says how many records were acknowledged, and how many were not written.

    `kinds`: what the audit should call its failures; without any it should have none of it.
    """

    kinds: tuple[str, ...] = ()
    expect: str | None = "writes_failed"
