"""Scenarios of a controlled shutdown's effect on partitions. Only the one whose sentence says so is declared."""

from __future__ import annotations

from lab.drill.steps import CreateTopic, DrillStep, Scenario, Wait
from lab.drill.steps_on_brokers import (
    DeclareMaintenance,
    Detected,
    EndMaintenance,
    InSync,
    Rolled,
    StartAll,
    StartBroker,
    StopAll,
    StopBroker,
)

_TOPICS: tuple[DrillStep, ...] = (
    CreateTopic(
        topic="strict",
        placed=(("x", "y", "z"), ("y", "z", "x"), ("z", "x", "y")),
        configs={"min.insync.replicas": "2"},
    ),
    CreateTopic(topic="single", placed=(("x",), ("y",), ("z",))),
    Wait(seconds=6),
)
"""One whose writes with acks=all are refused while two brokers are away, and one without a second replica."""


def _restart(broker: str, seconds: float) -> tuple[DrillStep, ...]:
    return (StopBroker(broker=broker), Wait(seconds=seconds), StartBroker(broker=broker), InSync())


STOP_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "stopped",
        "A broker that is sent SIGTERM hands over its leaders; a partition without another replica waits for it.",
        (*_TOPICS, *_restart("x", 15)),
        on_brokers=True,
    ),
    Scenario(
        "all_stopped",
        "Brokers that are all sent SIGTERM at once leave no partition with a leader, however orderly each one stops.",
        (*_TOPICS, StopAll(), Wait(seconds=15), StartAll(), InSync()),
        on_brokers=True,
    ),
    Scenario(
        "drained",
        "A drain rolls the brokers one after the other: what has a second replica is served all the time.",
        (*_TOPICS, *_restart("x", 2), *_restart("y", 2), *_restart("z", 2), Rolled()),
        on_brokers=True,
    ),
    Scenario(
        "maintenance",
        "An operator declares a maintenance window: a stop in it is intended, and costs what any other stop costs.",
        (
            *_TOPICS,
            DeclareMaintenance(reason="a disk of one broker is replaced"),
            *_restart("x", 10),
            Wait(seconds=3),
            EndMaintenance(),
        ),
        on_brokers=True,
    ),
    Scenario(
        "stopped_for_good",
        "A broker that stops in order and never comes back leaves what only it holds without a leader, to the end.",
        (*_TOPICS, StopBroker(broker="x"), Detected(broker="x"), Wait(seconds=15)),
        on_brokers=True,
        is_for_good=True,
    ),
)

ALL_STOPPED_FOR_GOOD = Scenario(
    "all_stopped_for_good",
    "Brokers that are all sent SIGTERM and never come back: nothing is served, and the night does not end well.",
    (*_TOPICS, StopAll(), Wait(seconds=20)),
    on_brokers=True,
    is_for_good=True,
)
"""Played where it is asked for by name: afterwards no broker answers an audit."""
